// @needs chromium
import { describe, expect, it } from "vitest";
import { hermes } from "../cli/hermes.js";
import { until } from "../server/support.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { openDashboard } from "./server.js";

describe("Settings", { timeout: 120_000 }, () => {
  it("a setting is found, changed, and is what `hermes config get` says", async () => {
    const { tab, runtime, problems } = await openDashboard({ path: "/settings" });
    await expectGoodLooks(tab);
    await tab.keyboard.press("/");
    await tab.keyboard.type("max_workers");
    const row = tab.getByRole("form", { name: "tools.max_workers" });
    await row.waitFor();
    expect(await row.textContent()).toContain("default");
    await row.getByRole("spinbutton").fill("5");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText("Saved and in force.").waitFor();
    expect(runtime.config.values.tools.max_workers).toBe(5);
    await until(async () => (await row.locator(".origin").textContent())?.includes("config.yaml") === true);
    const { home } = runtime.config.paths;
    const { stdout } = await hermes(["config", "get", "tools.max_workers"], { home });
    expect(stdout).toContain("5");
    expect(problems).toEqual([]);
  });

  it("what is wrong is said beside the field, and nothing is written before Save", async () => {
    const { tab, runtime } = await openDashboard({ path: "/settings?q=max_workers" });
    const row = tab.getByRole("form", { name: "tools.max_workers" });
    const before = runtime.config.values.tools.max_workers;
    await row.getByRole("spinbutton").fill("-3");
    expect(runtime.config.values.tools.max_workers).toBe(before);
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByRole("alert").waitFor();
    expect(runtime.config.values.tools.max_workers).toBe(before);
    await row.getByRole("button", { name: "Discard" }).click();
    expect(await row.getByRole("spinbutton").inputValue()).toBe(String(before));
  });

  it("secrets stay on the server, and values that look like markup stay texts", async () => {
    const secret = "token-that-nobody-may-see-1234567890";
    const { tab, show } = await openDashboard({
      runtime: {
        flags: {
          "approvals.reviewer.api_key": secret,
          "tools.disabled": "<img src=x onerror=window.attacked=1>",
        },
      },
    });
    await show("/settings?own=1");
    const row = tab.getByRole("form", { name: "approvals.reviewer.api_key" });
    expect(await row.locator("input").getAttribute("placeholder")).toContain("set");
    expect(await tab.content()).not.toContain(secret);
    await expectUnharmed(tab);
  });
});
