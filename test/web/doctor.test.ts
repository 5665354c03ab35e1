// @needs chromium
import { chmodSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { expectGoodLooks } from "./looks.js";
import { openDashboard } from "./server.js";

describe("Doctor", { timeout: 120_000 }, () => {
  it("a home that others can read is found and mended by the button", async () => {
    const { tab, show, runtime, problems } = await openDashboard();
    const { home } = runtime.config.paths;
    chmodSync(home, 0o755);
    await show("/doctor");
    const finding = tab.locator(".findings li", { hasText: "home " }).first();
    await finding.getByRole("button").first().click();
    await until(() => (statSync(home).mode & 0o077) === 0);
    await until(async () => (await finding.textContent())?.startsWith("ok") === true);
    await expectGoodLooks(tab);
    expect(problems).toEqual([]);
  });

  it("findings are filtered by how grave they are, and commands can be copied", async () => {
    const { tab } = await openDashboard({ path: "/doctor" });
    await tab.getByRole("button", { name: /^Notes/ }).click();
    expect(new URL(tab.url()).searchParams.get("level")).toBe("note");
    await tab.getByRole("button", { name: "Copy command" }).first().click();
    expect(await tab.evaluate("navigator.clipboard.readText()")).toMatch(/^hermes /);
  });
});
