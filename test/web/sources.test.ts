// @needs chromium
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { PAYLOADS } from "../server/xss-payloads.js";
import { caller, scriptable, sourceOf, until } from "../sources/mcp/support.js";
import { tempDir } from "../support/runtime.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { openDashboard } from "./server.js";

const issue = (name: string, description: string, more: Record<string, unknown> = {}) => ({
  name,
  description,
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "integer" },
      do: { type: "string" },
      to: { type: "array" },
      ...more,
    },
    required: ["id"],
  },
});

async function withSources(description: string) {
  const home = tempDir();
  mkdirSync(join(home, "tools"));
  writeFileSync(
    join(home, "tools", "deploy.yaml"),
    "tools: [{ name: where, description: Where we are, type: command, command: [pwd] }]",
  );
  writeFileSync(join(home, "tools", "bad.yaml"), "tools: [{ name: where_else, type: command }]");
  const tools = [issue("close_issue", "Close an issue."), issue("list_issues", "List issues.")];
  const broken = "console.error('WAREHOUSE_URL is not set'); process.exit(1)";
  writeFileSync(
    join(home, "config.yaml"),
    stringify({
      mcp_servers: {
        tracker: scriptable({ tools }),
        warehouse: { command: process.execPath, args: ["-e", broken] },
      },
    }),
  );
  const board = await openDashboard({
    runtime: { home, userTools: true, env: { PATH: process.env.PATH, HOME: home } },
  });
  await board.runtime.sources.settled();
  const call = await caller(board.runtime, { approver: { ask: async () => "once" } });
  const changed = issue("close_issue", description, { context: { type: "string" } });
  await call("mcp_tracker_list_issues", { id: 1, do: "change", to: [changed, tools[1]] });
  await until(sourceOf(board.runtime), "tracker", (status) => status.changed.length > 0);
  return board;
}

it("a definition that changed is shown side by side, and accepted as shown", async () => {
  const { tab, show, runtime, problems } = await withSources("Close an issue and delete its branch.");
  await show("/sources");
  const change = tab.getByRole("region", { name: "Change of close_issue" });
  await change.locator(".ln.del", { hasText: "Close an issue." }).waitFor();
  await change.locator(".ln.add", { hasText: "delete its branch" }).waitFor();
  await change.locator(".ln.add", { hasText: "context: string" }).waitFor();
  await tab.getByText("WAREHOUSE_URL is not set").first().waitFor();
  await tab.getByText("where_else").first().waitFor();
  await expectGoodLooks(tab);
  await change.getByRole("button", { name: "Accept change" }).click();
  await change.waitFor({ state: "detached" });
  expect(sourceOf(runtime).servers()[0]).toMatchObject({ name: "tracker", state: "ready", changed: [] });
  await tab.getByRole("button", { name: "Show details of tracker" }).click();
  expect(new URL(tab.url()).searchParams.get("open")).toBe("mcp:tracker");
  await tab.getByRole("button", { name: "Reconnect" }).last().click();
  await tab.getByRole("link", { name: "mcp_tracker_close_issue" }).click();
  await tab.getByRole("heading", { name: /close_issue/ }).waitFor();
  expect(problems).toEqual([]);
});

it("hostile words of a server stay words", async () => {
  const { tab, show, problems } = await withSources(PAYLOADS.slice(0, 20).join(" "));
  await show("/sources");
  await tab.locator(".ln.add", { hasText: "window.attacked" }).first().waitFor();
  await expectUnharmed(tab);
  expect(problems).toEqual([]);
});

it("without sources the page says how to get one", async () => {
  const { tab, problems } = await openDashboard({ path: "/sources" });
  await tab.getByText("hermes mcp add").waitFor();
  await tab.getByRole("button", { name: "Add source" }).click();
  await tab.getByRole("dialog", { name: "Add a source" }).waitFor();
  await tab.keyboard.press("Escape");
  expect(problems).toEqual([]);
});
