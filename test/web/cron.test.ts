// @needs chromium
import { describe, expect, it } from "vitest";
import { jobsOf } from "../../src/runtime/jobs.js";
import { schedulerFor } from "../../src/runtime/scheduler.js";
import { until } from "../server/support.js";
import { onTestEnd } from "../support/runtime.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { makeJobs } from "./recorded.js";
import { openDashboard } from "./server.js";

const rows = ".virtual > .lrow";

describe("Cron", { timeout: 120_000 }, () => {
  it("a job is run now, its run is shown, and it is paused, resumed and removed", async () => {
    const made = await openDashboard();
    const { tab, show, runtime, problems } = made;
    await makeJobs(made);
    const { scheduler, stop } = await schedulerFor(runtime);
    scheduler.start();
    onTestEnd(() => stop({ finishMs: 0, abortMs: 1_000 }));
    await show("/cron");
    await until(async () => (await tab.locator(rows).count()) === 3);
    await tab.locator(rows, { hasText: "outdated" }).click();
    const drawer = tab.getByRole("complementary", { name: "Job outdated" });
    await drawer.getByRole("button", { name: "Run now" }).click();
    const runs = drawer.getByRole("region", { name: "Runs" });
    await until(async () => (await runs.textContent())?.includes("all up to date") === true, 30_000);
    await expectGoodLooks(tab);
    await drawer.getByRole("button", { name: "Pause" }).click();
    await until(async () => (await jobsOf(runtime).get("outdated")).state === "paused");
    await drawer.getByRole("button", { name: "Resume" }).click();
    await until(async () => (await jobsOf(runtime).get("outdated")).state !== "paused");
    await drawer.getByRole("button", { name: "Remove" }).click();
    expect((await jobsOf(runtime).list()).length).toBe(3);
    await drawer.getByRole("button", { name: "Really remove" }).click();
    await until(async () => (await tab.locator(rows).count()) === 2);
    expect(problems).toEqual([]);
  });

  it("says what will be here, and shows names that look like markup as texts", async () => {
    const { tab, show, runtime, cwd } = await openDashboard({ path: "/cron" });
    expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
    expect(await tab.locator("main").textContent()).toContain("hermes cron add");
    const name = "<img src=x onerror=window.attacked=1>";
    await jobsOf(runtime).create({ schedule: "every 2h", name, script: `echo '${name}'`, workdir: cwd });
    await show("/cron");
    expect(await tab.locator(rows).textContent()).toContain(name);
    await tab.locator(rows).click();
    await expectUnharmed(tab);
  });
});
