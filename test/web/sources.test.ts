// @needs chromium
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { PAYLOADS } from "../server/xss-payloads.js";
import { protectedServer } from "../sources/mcp/oauth/protected-server.js";
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

it("a login is begun on the page and ends in tools; from another machine its last address is pasted", async () => {
  const home = tempDir();
  const shop = await protectedServer();
  const market = await protectedServer();
  writeFileSync(
    join(home, "config.yaml"),
    stringify({ mcp_servers: { shop: { url: shop.url, auth: "oauth" }, market: { url: market.url } } }),
  );
  const board = await openDashboard({
    runtime: { home, userTools: true, env: { PATH: process.env.PATH, HOME: home } },
  });
  const { tab, show, runtime, problems } = board;
  await runtime.sources.settled();
  await show("/sources");
  const source = tab.getByRole("article", { name: "shop" });
  await source.getByRole("button", { name: "Log in" }).click();
  await source.getByRole("region", { name: "Log in" }).getByRole("button", { name: "Log in" }).click();
  const page = source.getByRole("link", { name: "Open the login page" });
  await page.waitFor();
  expect(await source.textContent()).toContain(new URL(shop.origin).host);
  await expectGoodLooks(tab);
  const [opened] = await Promise.all([tab.waitForEvent("popup"), page.click()]);
  await opened.getByText("Done here").waitFor();
  await source.getByText("ready").waitFor();
  expect(sourceOf(runtime).servers()[0]).toMatchObject({ state: "ready", tools: ["mcp_shop_buy"] });

  const other = tab.getByRole("article", { name: "market" });
  await other.getByRole("button", { name: "Log in" }).click();
  await other.getByRole("region", { name: "Log in" }).getByRole("button", { name: "Log in" }).click();
  const address = await other.getByRole("link", { name: "Open the login page" }).getAttribute("href");
  const answer = await fetch(address ?? "", { redirect: "manual" });
  const back = answer.headers.get("location") ?? "";
  const pasted = other.getByLabel("Address the browser ended at");
  await pasted.fill(back.replace(/state=[^&]+/, "state=other"));
  await other.getByRole("button", { name: "Finish" }).click();
  await other.getByText(/does not belong to this login/).waitFor();
  await pasted.fill(back);
  await other.getByRole("button", { name: "Finish" }).click();
  await other.getByText("ready").waitFor();
  // The first answer was refused, and the browser says so.
  expect(problems.filter((problem) => !problem.includes("400"))).toEqual([]);
}, 120_000);
