// @needs chromium
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { echo } from "../server/tools.js";
import { openDashboard, sidewaysScroll } from "./server.js";

const PAGES = [
  "Live",
  "Approvals",
  "Chat",
  "Tools",
  "Sources",
  "Processes",
  "Cron",
  "Stats",
  "Sessions",
  "Logs",
  "Permissions",
  "Doctor",
  "Settings",
];

describe("every page", { timeout: 120_000 }, () => {
  it("has one main with its state, one heading with its name, and ways to all others", async () => {
    const { tab, show, problems } = await openDashboard();
    for (const title of PAGES) {
      await show(`/${title.toLowerCase()}`);
      expect(await tab.locator("main").count(), title).toBe(1);
      expect(await tab.locator("main").getAttribute("data-state"), title).toMatch(/^(ready|empty)$/);
      expect(await tab.locator("h1").allTextContents()).toEqual([title]);
      expect(await tab.title()).toBe(`${title} · Hermes Tools`);
      expect(
        await tab.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents(),
      ).toEqual(PAGES);
    }
    expect(problems).toEqual([]);
  });

  it("fits 320 px, and the rail and the tabs lead everywhere", async () => {
    const { tab, show } = await openDashboard({ width: 320, height: 700 });
    for (const title of PAGES) {
      await show(`/${title.toLowerCase()}`);
      expect(await sidewaysScroll(tab), title).toBe(0);
    }
    await tab.getByRole("button", { name: "More" }).click();
    await tab.getByRole("dialog").getByRole("button", { name: "Doctor" }).click();
    await until(() => tab.url().endsWith("/doctor"));
    await tab.setViewportSize({ width: 1000, height: 700 });
    await tab.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Cron" }).click();
    await until(() => tab.url().endsWith("/cron"));
  });

  it("keys, the palette and the theme work and are remembered", async () => {
    const { tab, show } = await openDashboard();
    await tab.keyboard.press("?");
    await tab.getByRole("dialog", { name: "Keys" }).waitFor();
    await tab.keyboard.press("Escape");
    await tab.keyboard.press("Control+k");
    await tab.getByRole("combobox").fill("light and dark");
    await tab.keyboard.press("Enter");
    await until(async () => (await tab.locator("html").getAttribute("data-theme")) === "dark");
    await show("/live");
    expect(await tab.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  it("tabs share one event stream, and another takes over when its tab is closed", async () => {
    const { tab, openTab, calls } = await openDashboard({ tools: [echo], runtime: { builtins: false } });
    let opened = 0;
    tab.context().on("request", (request) => {
      if (request.url().includes("/v1/events")) opened += 1;
    });
    const second = await openTab("/live");
    const say = (text: string) =>
      calls({ tool_calls: [{ id: text, function: { name: "echo", arguments: { text } } }] });
    await say("one");
    await second.getByText("one", { exact: true }).first().waitFor();
    expect(opened).toBe(0);
    await tab.close();
    await until(async () => {
      await say("two");
      return (await second.getByText("two", { exact: true }).count()) > 0;
    });
    expect(opened).toBe(1);
  });

  it("a lost server leaves the data, says how old it is, and is found again", async () => {
    const { tab, calls, show } = await openDashboard({ tools: [echo], runtime: { builtins: false } });
    await calls({ tool_calls: [{ id: "c", function: { name: "echo", arguments: { text: "still here" } } }] });
    await show("/live");
    await tab.getByText("still here").first().waitFor();
    await tab.context().setOffline(true);
    await tab.evaluate(`new BroadcastChannel("hermes-events").postMessage({ kind: "retry" })`);
    await tab.getByText("Reconnecting.").waitFor();
    expect(await tab.getByText("still here").first().isVisible()).toBe(true);
    await tab.context().setOffline(false);
    await tab.getByRole("button", { name: "Try now" }).click();
    await tab.getByText("Reconnecting.").waitFor({ state: "detached" });
  });

  it("is small: what a page needs first is at most 250 kB on the wire", async () => {
    const { tab } = await openDashboard({ path: "/live" });
    const sizes = (await tab.evaluate(
      `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/")).map(({ encodedBodySize }) => encodedBodySize)`,
    )) as number[];
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
  });
});
