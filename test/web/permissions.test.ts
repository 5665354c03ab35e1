// @needs chromium
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { makeCalls, openDashboard } from "./server.js";

describe("Permissions", { timeout: 120_000 }, () => {
  it("lists the profiles, and which one is in force", async () => {
    const { tab, problems } = await openDashboard({ path: "/permissions" });
    const profiles = tab.getByRole("navigation", { name: "Profiles" });
    expect(await profiles.locator("[aria-current]").textContent()).toContain("in force");
    // Keys are listened to a moment after the page stands.
    await until(async () => {
      await tab.keyboard.press("j");
      return new URL(tab.url()).searchParams.has("profile");
    });
    await profiles.getByRole("button", { name: /full_developer/ }).click();
    await tab.getByRole("heading", { level: 2, name: "full_developer" }).waitFor();
    await expectGoodLooks(tab);
    expect(problems).toEqual([]);
  });

  it("explains a call: what would become of it, by which rule", async () => {
    const { tab } = await openDashboard({ path: "/permissions?tab=explain" });
    await tab.getByLabel("Arguments").fill("{ no json");
    expect(await tab.locator("form").textContent()).toContain("This is no JSON");
    await tab
      .getByLabel("Arguments")
      .fill('{"command":"echo \\"<img src=x onerror=window.attacked=1>\\" && git push --force"}');
    await tab.keyboard.press("Control+Enter");
    const result = tab.getByRole("region", { name: "Result" });
    await until(async () => (await result.textContent())?.includes("git.push") === true);
    expect(await result.textContent()).toMatch(/asked/);
    expect(new URL(tab.url()).searchParams.get("args")).toContain("git push");
    await expectUnharmed(tab);
    await expectGoodLooks(tab);
  });

  it("lists what was approved for good, from whom, and takes it back", async () => {
    const made = await openDashboard({ path: "/permissions?tab=grants" });
    const { tab, show, runtime, problems } = made;
    expect(await tab.getByRole("region", { name: "Grants" }).textContent()).toContain("Nothing is approved");
    const session = await runtime.openSession({ approver: { ask: async () => "always" } });
    await session.call({ name: "terminal", arguments: { command: "mkdir -p build && rm -rf build" } });
    session.close();
    const { config } = runtime.config.paths;
    expect(readFileSync(config, "utf8")).toContain("rm -rf build");
    await show("/permissions?tab=grants");
    const grants = tab.getByRole("region", { name: "Grants" });
    expect(await grants.locator("li").textContent()).toMatch(
      /rm -rf build.*not used yet.*always \(library\)/s,
    );
    await expectGoodLooks(tab);
    await grants.getByRole("button", { name: /^Take back/ }).click();
    await grants.getByText(/gone from/).waitFor();
    expect(readFileSync(config, "utf8")).not.toContain("rm -rf build");
    expect(await grants.locator("li").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a profile is simulated over the calls that were made", async () => {
    const made = await openDashboard();
    const { tab, show } = made;
    await makeCalls(made);
    await show("/permissions?tab=simulate&profile=readonly_research");
    const page = tab.getByRole("region", { name: "Simulation" });
    const denied = page.getByRole("region", { name: "Would have been denied" });
    await denied.waitFor();
    expect(await denied.textContent()).toContain("write_file");
    await expectGoodLooks(tab);
    await page.getByLabel("Profile").selectOption("default");
    await until(async () => (await page.textContent())?.includes("would have ended as they did") === true);
    expect(await denied.count()).toBe(0);
  });

  it("a profile of what was used is proposed, and written once it is accepted", async () => {
    const made = await openDashboard();
    const { tab, show, runtime } = made;
    await makeCalls(made);
    await show("/permissions?tab=propose");
    await tab.getByLabel("Name").fill("just_enough");
    await tab.getByRole("button", { name: "Propose" }).click();
    const proposal = tab.getByRole("region", { name: "Proposal" });
    await until(async () => (await proposal.textContent())?.includes("file:read") === true);
    const file = runtime.config.paths.permissions;
    await proposal.getByRole("button", { name: "Accept" }).click();
    await proposal.getByText(/Written to/).waitFor();
    expect(readFileSync(file, "utf8")).toContain("just_enough");
    await show("/permissions?profile=just_enough");
    await tab.getByRole("heading", { level: 2, name: "just_enough" }).waitFor();
  });
});
