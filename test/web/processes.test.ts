// @needs chromium
import { expect, it } from "vitest";
import { PAYLOADS } from "../server/xss-payloads.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { type Dashboard, openDashboard } from "./server.js";

async function start(board: Dashboard, command: string): Promise<string> {
  const answer = await board.ask("/v1/tools/terminal/run", {
    method: "POST",
    body: JSON.stringify({ arguments: { command, background: true } }),
  });
  const { result } = (await answer.json()) as { result: { structured?: { session_id?: string } } };
  return result.structured?.session_id ?? "";
}

it("a process shows what it prints, takes a line, and is killed", async () => {
  const board = await openDashboard({ path: "/processes" });
  const { tab, runtime, problems } = board;
  await tab.getByText("Nothing runs in the background").waitFor();
  const id = await start(board, "printf '\\033[32mready\\033[0m\\n'; cat");
  await tab.getByRole("link", { name: /running/ }).click();
  expect(new URL(tab.url()).searchParams.get("id")).toBe(id);
  const output = tab.locator(".xterm-rows");
  await output.getByText("ready").waitFor();
  const pages = tab.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: /Processes\s*1 in the background/ }).waitFor();
  await tab.getByLabel("Write to the process").fill("hello there");
  await tab.getByRole("button", { name: "Write" }).click();
  await output.getByText("hello there").waitFor();
  await expectGoodLooks(tab);
  await tab.getByRole("button", { name: "Kill" }).click();
  await tab.getByRole("link", { name: /killed/ }).waitFor();
  await expect.poll(() => runtime.processes.find(id)?.info.status).toBe("exited");
  expect(await tab.getByRole("button", { name: "Kill" }).count()).toBe(0);
  await pages.getByRole("link", { name: "Processes", exact: true }).waitFor();
  expect(problems).toEqual([]);
});

it("hostile output and commands stay words", async () => {
  const board = await openDashboard();
  const attack = PAYLOADS.slice(0, 12).join(" ");
  await start(board, `cat <<'END'\n${attack}\nEND`);
  await board.show("/processes");
  await board.tab.locator(".xterm-rows").getByText("window.attacked").first().waitFor();
  await expectUnharmed(board.tab);
  expect(board.problems).toEqual([]);
});
