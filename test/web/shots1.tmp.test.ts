// @needs chromium
import { mkdirSync } from "node:fs";
import { it } from "vitest";
import type { Page } from "playwright-core";
import { axeProblems, makeCalls, openDashboard, sidewaysScroll } from "./server.js";

mkdirSync("/tmp/shots1", { recursive: true });
export async function shoot(tab: Page, name: string) {
  for (const theme of ["light", "dark"] as const)
    for (const width of [1280, 400]) {
      await tab.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await tab.setViewportSize({ width, height: 860 });
      await tab.waitForTimeout(150);
      await tab.screenshot({ path: `/tmp/shots1/${name}-${theme}-${width}.png` });
      if (theme === "light" || width === 1280) for (const one of await axeProblems(tab)) console.log(name, theme, width, one);
      const wide = await sidewaysScroll(tab);
      if (wide > 0) console.log(name, width, "sideways", wide);
    }
  await tab.setViewportSize({ width: 1280, height: 860 });
  await tab.emulateMedia({ colorScheme: "light" });
}

it("tools", { timeout: 120_000 }, async () => {
  const board = await openDashboard();
  await makeCalls(board);
  const { tab, show } = board;
  await show("/tools");
  await shoot(tab, "tools");
  await show("/tools/http_request");
  await tab.waitForTimeout(500);
  await shoot(tab, "tools-http");
  await show("/tools/terminal");
  await tab.getByLabel("command", { exact: true }).fill("ls -la; echo done");
  await tab.waitForTimeout(700);
  await tab.getByRole("button", { name: "Run" }).click();
  await tab.getByRole("region", { name: "Result" }).getByText("done").first().waitFor({ timeout: 8000 }).catch((e) => console.log(String(e)));
  await shoot(tab, "tools-terminal");
  await show("/tools/directory_list");
  await tab.getByLabel("path", { exact: true }).fill(".");
  await tab.waitForTimeout(500);
  await tab.getByRole("button", { name: "Run" }).click();
  await tab.waitForTimeout(1500);
  await shoot(tab, "tools-dir");
  await show("/tools/web_search");
  await tab.waitForTimeout(500);
  await shoot(tab, "tools-setup");
  await show("/tools/read_file?tab=schema");
  await tab.waitForTimeout(300);
  await shoot(tab, "tools-schema");
  console.log(board.problems);
});
