// @needs chromium
import { describe, expect, it } from "vitest";
import { until } from "../server/support.js";
import { echo } from "../server/tools.js";
import { PAYLOADS } from "../server/xss-payloads.js";
import { axeProblems, makeCalls, openDashboard, sidewaysScroll } from "./server.js";

const rows = ".virtual > .lrow";

describe("Live", { timeout: 120_000 }, () => {
  it("shows calls the moment they happen, with what became of them", async () => {
    const made = await openDashboard({ path: "/live" });
    const { tab, problems } = made;
    expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
    expect(await tab.locator("main").textContent()).toContain("hermes call system_info");
    await makeCalls(made);
    await until(async () => (await tab.locator(rows).count()) === 12);
    const told = await tab.locator(rows).allTextContents();
    const line = (text: string) => told.find((one) => one.includes(text));
    expect(line("docs/migrate.md")).toMatch(/^error/);
    expect(line("rm -rf /")).toMatch(/^denied/);
    expect(line("169.254.169.254")).toMatch(/^denied/);
    expect(line("src/merge.ts")).toMatch(/^ok/);
    expect(line("sleep20")).toMatch(/^cancelled/);
    expect(problems).toEqual([]);
  });

  it("a call with calls inside unfolds, and the drawer shows all of it", async () => {
    const made = await openDashboard();
    const { tab, show, problems } = made;
    await makeCalls(made);
    await show("/live");
    const outer = tab.locator(rows, { hasText: "execute_code" });
    expect(await outer.getAttribute("aria-expanded")).toBe("false");
    await outer.getByRole("button", { name: "Unfold" }).click();
    await until(async () => (await tab.locator(`${rows}[aria-level="2"]`).count()) === 3);

    await outer.click();
    const drawer = tab.getByRole("complementary", { name: "Call details" });
    await drawer.getByRole("region", { name: "Timeline" }).waitFor();
    for (const part of ["Decision", "Effects", "Arguments", "Result"])
      expect(await drawer.getByRole("region", { name: part }).isVisible(), part).toBe(true);
    expect(await drawer.getByRole("region", { name: "Effects" }).textContent()).toContain("code:execute");
    expect(await drawer.getByRole("region", { name: "Arguments" }).textContent()).toContain("missing.md");
    // A child is picked on the timeline, and the way back is beside it.
    await drawer.getByRole("button", { name: /search_files/ }).click();
    await until(
      async () => (await drawer.getByRole("heading", { level: 2 }).textContent()) === "search_files",
    );
    await until(
      async () => (await drawer.locator(".crumb").textContent())?.includes("execute_code") === true,
    );
    expect(new URL(tab.url()).searchParams.get("call")).toMatch(/^\d+$/);

    await drawer.getByRole("button", { name: "Copy as command" }).click();
    expect(await tab.evaluate("navigator.clipboard.readText()")).toMatch(/ call 'search_files' '/);
    // What the rules say of it, and back.
    await drawer.getByRole("link", { name: "Explain" }).click();
    const explained = tab.getByRole("region", { name: "Result" });
    await until(async () => (await explained.textContent())?.includes("allowed") === true);
    expect(await tab.getByLabel("Arguments").inputValue()).toContain('"merge"');
    await tab.goBack();
    await drawer.waitFor();
    await tab.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  it("a call is run again from its drawer", async () => {
    const { tab, calls, show } = await openDashboard({ tools: [echo], runtime: { builtins: false } });
    await calls({ tool_calls: [{ id: "c", function: { name: "echo", arguments: { text: "hello" } } }] });
    await show("/live");
    await tab.locator(rows).first().click();
    await tab.getByRole("button", { name: "Run again" }).click();
    await tab.getByText("Ran again: ok").waitFor();
    await until(async () => (await tab.locator(rows).count()) === 2);
  });

  it("everything is reached with the keyboard alone", async () => {
    const made = await openDashboard({ path: "/live" });
    const { tab } = made;
    await makeCalls(made);
    await until(async () => (await tab.locator(rows).count()) === 12);
    await tab.keyboard.press("j");
    const drawer = tab.getByRole("complementary", { name: "Call details" });
    const heading = drawer.getByRole("heading", { level: 2 });
    await until(async () => (await heading.textContent()) === "system_info");
    await tab.keyboard.press("j");
    await until(async () => (await heading.textContent()) === "http_request");
    await tab.keyboard.press("k");
    await until(async () => (await heading.textContent()) === "system_info");
    // What there is to copy comes a moment after the name.
    const copy = drawer.getByRole("button", { name: "Copy as command" });
    await until(async () => (await copy.getAttribute("aria-disabled")) === null);
    await tab.keyboard.press("c");
    await drawer.getByRole("button", { name: "Copied" }).waitFor();
    await tab.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    // The list is one stop; arrows move in it.
    await tab.locator(`${rows}[tabindex="0"]`).focus();
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("ArrowDown");
    await until(
      async () => (await tab.evaluate("document.activeElement.getAttribute('aria-rowindex')")) === "4",
    );
    await tab.keyboard.press("Enter");
    await until(async () => (await heading.textContent()) === "sleep");
    await tab.keyboard.press("/");
    await tab.keyboard.type("tool:terminal ");
    await until(async () => (await tab.locator(rows).count()) === 4);
    expect(new URL(tab.url()).searchParams.get("tool")).toBe("terminal");
    await tab.keyboard.press("Control+k");
    await tab.getByRole("dialog").waitFor();
    await tab.keyboard.type("denied");
    await tab.keyboard.press("Enter");
    await until(() => new URL(tab.url()).searchParams.get("status") === "denied");
    await until(async () => (await tab.locator(rows).count()) === 2);
  });

  it("nothing jumps: new calls wait behind a pill while somebody reads further down", async () => {
    const { tab, calls, show } = await openDashboard({ tools: [echo], runtime: { builtins: false } });
    const run = (many: number) =>
      calls({
        tool_calls: Array.from({ length: many }, (_, index) => ({
          id: `c${index}`,
          function: { name: "echo", arguments: { text: `line ${index}` } },
        })),
      });
    for (let turn = 0; turn < 5; turn += 1) await run(20);
    await show("/live");
    await until(async () => (await tab.getByRole("treegrid").getAttribute("aria-rowcount")) === "101");
    await tab.evaluate("document.querySelector('.grid').scrollTo({ top: 1500 }), 0");
    await tab.waitForTimeout(200);
    const inView = () =>
      tab.evaluate(
        `[...document.querySelectorAll("${rows}")].map((row) => row.dataset.key + " " + Math.round(row.getBoundingClientRect().top)).filter((line) => Number(line.split(" ").at(-1)) > 300).slice(0, 10).join()`,
      );
    const before = await inView();
    await run(12);
    const pill = tab.getByRole("button", { name: "12 new" });
    await pill.waitFor();
    expect(await inView()).toBe(before);
    await pill.click();
    await until(async () => (await tab.getByRole("treegrid").getAttribute("aria-rowcount")) === "113");
    expect(await tab.evaluate("document.querySelector('.grid').scrollTop")).toBe(0);
  });

  it("ten thousand calls are a list of a few dozen elements that scrolls to its end", async () => {
    const { tab, runtime, show } = await openDashboard({ tools: [echo], runtime: { builtins: false } });
    const session = await runtime.openSession({});
    for (let index = 0; index < 10_000; index += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, each) =>
          session.call({ name: "echo", arguments: { text: `call ${index + each}` } }),
        ),
      );
    session.close();
    await show("/live");
    const grid = tab.getByRole("treegrid");
    await until(async () => {
      await tab.evaluate("document.querySelector('.grid').scrollTo({ top: 1e9 }), 0");
      return await tab.getByText("These are all calls that are kept.").isVisible();
    }, 60_000);
    expect(await grid.getAttribute("aria-rowcount")).toBe("10001");
    expect(await tab.locator(rows).count()).toBeLessThan(80);
    await tab.keyboard.press("Home");
  });

  it("hostile text stays text in the list and in the drawer", async () => {
    const { tab, calls, show, problems } = await openDashboard({
      tools: [echo],
      runtime: { builtins: false },
      width: 400,
    });
    for (const text of PAYLOADS)
      await calls({
        tool_calls: [{ id: text.slice(0, 60), function: { name: "echo", arguments: { text } } }],
      });
    await show("/live");
    await until(async () => (await tab.locator(rows).count()) > 10);
    for (let step = 0; step < PAYLOADS.length; step += 1) {
      await tab.keyboard.press("j");
      await tab.getByRole("region", { name: "Result" }).waitFor();
    }
    expect(await tab.evaluate("window.attacked")).toBeUndefined();
    expect(await sidewaysScroll(tab)).toBe(0);
    expect(problems).toEqual([]);
  });

  it("is usable for everybody, in both themes and at 400 px, with and without the drawer", async () => {
    const made = await openDashboard();
    const { tab, show } = made;
    await makeCalls(made);
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1280, 1000, 400])
        for (const path of ["/live", "/live?call=9"]) {
          await tab.emulateMedia({ colorScheme });
          await tab.setViewportSize({ width, height: 860 });
          await show(path);
          if (path.includes("call")) await tab.getByRole("region", { name: "Result" }).waitFor();
          expect(await axeProblems(tab), `${path} ${colorScheme} ${width}`).toEqual([]);
          expect(await sidewaysScroll(tab)).toBe(0);
        }
  });
});
