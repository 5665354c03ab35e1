// @needs chromium
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { PAYLOADS } from "../server/xss-payloads.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { openDashboard } from "./server.js";

const rows = ".virtual > .lrow";

describe("Logs", { timeout: 120_000 }, () => {
  it("lines come in as they are logged, by level and words, and wait while paused", async () => {
    const { tab, runtime, problems } = await openDashboard({ path: "/logs" });
    const { log } = runtime;
    log.info("the first of them");
    log.warn("something to look at");
    log.error("it broke");
    await until(async () => (await tab.locator(rows).count()) >= 3);
    expect(await tab.locator(rows).first().textContent()).toContain("it broke");
    await tab.getByRole("button", { name: /^Errors/ }).click();
    expect(await tab.locator(rows).count()).toBe(1);
    await tab.getByRole("button", { name: /^All/ }).click();
    await tab.getByLabel("Filter lines").fill("look at");
    await until(async () => (await tab.locator(rows).count()) === 1);
    await tab.getByLabel("Filter lines").fill("");
    await tab.getByRole("button", { name: "Pause" }).click();
    const before = await tab.locator(rows).count();
    log.info("while nobody looks");
    const pill = tab.getByRole("button", { name: "1 new" });
    await pill.waitFor();
    expect(await tab.locator(rows).count()).toBe(before);
    await pill.click();
    await until(
      async () => (await tab.locator(rows).first().textContent())?.includes("nobody looks") === true,
    );
    await tab.locator(rows).first().click();
    await tab.getByRole("complementary", { name: "Log line" }).waitFor();
    await expectGoodLooks(tab);
    expect(problems).toEqual([]);
  });

  it("lines that look like markup stay texts", async () => {
    const { tab, runtime, show } = await openDashboard();
    for (const payload of PAYLOADS) runtime.log.warn(payload);
    await show("/logs");
    await tab.locator(rows).first().click();
    await expectUnharmed(tab);
  });
});
