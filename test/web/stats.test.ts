// @needs chromium
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { recordDay } from "./recorded.js";
import { openDashboard } from "./server.js";

describe("Stats", { timeout: 120_000 }, () => {
  it("says what will be here before the first call", async () => {
    const { tab } = await openDashboard({ path: "/stats" });
    expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
    expect(await tab.locator("main").textContent()).toContain("hermes call system_info");
  });

  it("shows figures, charts and tools of the day, and the same in words", async () => {
    const made = await openDashboard();
    const { tab, show, problems } = made;
    await recordDay(made, 600);
    await show("/stats");
    expect(await tab.locator(".figures").textContent()).toContain("600");
    expect(await tab.locator("canvas").count()).toBe(2);
    const table = tab.getByRole("group", { name: "Tools, table" });
    const tools = await table.locator("tbody tr").allTextContents();
    expect(tools[0]).toMatch(/^read_file/);
    expect(await table.locator(".spark").count()).toBe(tools.length);
    expect(await tab.getByRole("region", { name: "Why calls fail" }).textContent()).toContain("timeout");
    expect(await tab.getByRole("region", { name: "Why calls fail" }).textContent()).not.toContain("denied");
    await expectGoodLooks(tab);
    await tab.getByLabel("Charts as").selectOption("table");
    const told = tab.getByRole("group", { name: "Calls and times, table" });
    const ok = await told.locator("tbody tr td:nth-child(2)").allTextContents();
    const sum = ok.reduce((all, text) => all + (Number(text) || 0), 0);
    expect(sum).toBeGreaterThan(500);
    expect(new URL(tab.url()).searchParams.get("view")).toBe("table");
    expect(problems).toEqual([]);
  });

  it("groups and the time are in the address; dragging over a chart sets the time", async () => {
    const made = await openDashboard();
    const { tab, show } = made;
    await recordDay(made, 300);
    await show("/stats?by=model&range=7d");
    const models = await tab
      .getByRole("group", { name: "Models, table" })
      .locator("tbody tr")
      .allTextContents();
    expect(models.length).toBe(3);
    expect(await tab.getByRole("button", { name: "7 d" }).getAttribute("aria-pressed")).toBe("true");
    const chart = tab.getByRole("img", { name: /^Calls over time/ });
    const week = await chart.getAttribute("aria-label");
    await tab.getByRole("button", { name: "24 h" }).click();
    // The week stays until the day has been counted, and the chart is made anew then.
    await until(async () => (await chart.getAttribute("aria-label")) !== week);
    const box = await chart.locator(".u-over").boundingBox();
    if (box === null) throw new Error("no chart");
    await tab.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 4 });
    await tab.mouse.up();
    await until(() => new URL(tab.url()).searchParams.has("from"));
    const { from, until: end } = Object.fromEntries(new URL(tab.url()).searchParams);
    expect((Number(end) - Number(from)) / 3_600_000).toBeGreaterThan(8);
    expect((Number(end) - Number(from)) / 3_600_000).toBeLessThan(11.5);
    await tab.keyboard.press("Escape");
    await until(() => !new URL(tab.url()).searchParams.has("from"));
  });

  it("a row of the table narrows the whole page to its calls, and back", async () => {
    const made = await openDashboard();
    const { tab, show } = made;
    await recordDay(made, 300);
    await show("/stats?by=model");
    const all = await tab.locator(".figures").textContent();
    const models = tab.getByRole("group", { name: "Models, table" });
    const row = models.locator("tbody tr", { has: tab.locator(".only-this") }).first();
    const calls = await row.locator("td.num").first().textContent();
    await row.hover();
    await row.locator(".only-this").click();
    const tools = tab.getByRole("group", { name: "Tools, table" });
    await until(async () => (await tab.locator(".figures .fig").first().textContent()) === calls);
    expect(new URL(tab.url()).searchParams.get("model")).not.toBeNull();
    const sum = (await tools.locator("tbody tr td.num:nth-child(3)").allTextContents()).reduce(
      (all, text) => all + Number(text),
      0,
    );
    expect(String(sum)).toBe(calls);
    await expectGoodLooks(tab);
    await tab.getByRole("button", { name: /^Remove filter model/ }).click();
    await until(async () => (await tab.locator(".figures").textContent()) === all);
    await tab.getByLabel("Only this toolset").selectOption("web");
    await until(async () => (await tools.locator("tbody tr").count()) === 1);
    expect(await tools.locator("tbody tr").textContent()).toMatch(/^web_extract/);
  });

  it("counts a call that happens meanwhile, whatever its name is", async () => {
    const made = await openDashboard();
    const { tab, show, runtime } = made;
    await recordDay(made, 50);
    await show("/stats");
    const session = await runtime.openSession({});
    await session.call({ name: '<img src=x onerror="window.attacked=1">', arguments: {} });
    await session.call({ name: "system_info", arguments: {} });
    session.close();
    const table = tab.getByRole("group", { name: "Tools, table" });
    await until(async () => (await table.textContent())?.includes("system_info") === true, 15_000);
    await expectUnharmed(tab);
  });
});
