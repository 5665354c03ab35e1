// @needs chromium
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askPerson, openHouse } from "./house.js";
import { sidewaysScroll } from "./server.js";

const FOLDER = join(import.meta.dirname, "../../docs/pictures");
/** What the README and docs/dashboard.md show. */
const KEPT = [
  "live-light-1280",
  "live-light-400",
  "approvals-light-1280",
  "chat-light-1280",
  "tool-light-1280",
  "stats-light-1280",
  "stats-dark-1280",
  "session-dark-1280",
];
const LARGEST = 150_000;
const SIZES = [
  { width: 1280, height: 800 },
  { width: 400, height: 800 },
];

describe("Every page with data in it", { timeout: 180_000 }, () => {
  it("stands in both themes and both widths without a complaint (UPDATE_DOCS=1 takes the pictures of the docs)", async () => {
    const house = await openHouse();
    const { tab, show, problems, conversation } = house;
    const seen = new Set<string>();
    const look = async (name: string) => {
      expect(await tab.locator("main").getAttribute("data-state"), name).toBe("ready");
      for (const { width, height } of SIZES) {
        await tab.setViewportSize({ width, height });
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          const picture = `${name}-${colorScheme}-${width}`;
          expect(await sidewaysScroll(tab), picture).toBe(0);
          await keep(picture, () => tab.screenshot());
          seen.add(picture);
        }
      }
      await tab.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await tab.setViewportSize({ width: 1280, height: 800 });
      expect(problems, name).toEqual([]);
    };

    await show("/chat");
    await tab
      .getByRole("textbox", { name: "Message" })
      .fill("Merging settings got slow. Find out why, fix it, and clean up.");
    await tab.getByRole("button", { name: "Send" }).click();
    await tab.getByRole("log").getByRole("button", { name: "Once" }).waitFor();
    await look("chat");
    await askPerson(house);

    await show("/live");
    await tab.locator(".virtual > .lrow", { hasText: "read_file" }).first().waitFor();
    await look("live-list");
    await tab.locator(".virtual > .lrow", { hasText: "execute_code" }).first().click();
    await tab.getByRole("complementary", { name: "Call details" }).getByText("Timeline").waitFor();
    await look("live");

    await show("/approvals");
    await tab.locator("article.ask").first().waitFor();
    await look("approvals");
    await show("/tools");
    await look("tools");
    await show("/tools/search_files");
    await tab.getByLabel("pattern", { exact: true }).fill("merge");
    await tab.getByText("Would be allowed").waitFor();
    await tab.getByRole("button", { name: "Run", exact: true }).click();
    await tab.getByRole("region", { name: "Result" }).getByText("merge.ts").first().waitFor();
    await look("tool");
    await show("/tools/execute_code?tab=score");
    await tab.getByRole("region", { name: "By model" }).waitFor();
    await look("tool-scorecard");
    await show("/processes");
    await tab.locator(".xterm-rows").first().waitFor();
    await look("processes");
    await show("/cron");
    await tab.locator(".virtual > .lrow", { hasText: "outdated" }).click();
    await tab.getByRole("region", { name: "Runs" }).getByText("up to date").first().waitFor();
    await look("cron");
    await show("/stats");
    await tab.locator("canvas").nth(1).waitFor();
    await look("stats");
    await show(`/sessions/${conversation}?tab=changes`);
    await tab.getByRole("region", { name: /CHANGELOG/ }).waitFor();
    await look("session");
    for (const page of ["sources", "sessions", "logs", "permissions", "doctor", "settings"]) {
      await show(`/${page}`);
      await look(page);
    }
    await show("/stats?toolset=file");
    await tab.locator("canvas").nth(1).waitFor();
    await look("stats-only");
    for (const tab of ["grants", "explain&tool=terminal", "simulate&profile=readonly_research", "propose"]) {
      await show(`/permissions?tab=${tab}`);
      await house.tab.waitForTimeout(300);
      await look(`permissions-${tab.split("&")[0]}`);
    }
    expect(KEPT.filter((name) => !seen.has(name))).toEqual([]);
  });

  it.each(KEPT)("the picture %s of the docs is there and small", (name) => {
    const file = join(FOLDER, `${name}.png`);
    expect(existsSync(file), "UPDATE_DOCS=1 makes it").toBe(true);
    expect(statSync(file).size).toBeLessThan(LARGEST);
  });
});

/** `HERMES_PICTURES=FOLDER` keeps all of them, to be looked at. */
async function keep(name: string, take: () => Promise<Buffer>): Promise<void> {
  const all = process.env.HERMES_PICTURES;
  const forDocs = process.env.UPDATE_DOCS === "1" && KEPT.includes(name);
  if (all === undefined && !forDocs) return;
  const { default: sharp } = await import("sharp");
  // Few colours are enough for letters and lines, and weigh a third.
  const picture = await sharp(await take())
    .png({ palette: true, effort: 10 })
    .toBuffer();
  for (const folder of [...(all === undefined ? [] : [all]), ...(forDocs ? [FOLDER] : [])]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), picture);
  }
}
