// @needs chromium
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hermes, outcomeOf, start, tempFolder, until } from "./hermes.js";

let browser: Browser;
beforeAll(async () => {
  const { chromium } = await import("playwright-core");
  browser = await chromium.launch({
    executablePath: process.env.HERMES_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
}, 60_000);
afterAll(() => browser?.close());

const RISKY = { name: "terminal", arguments: JSON.stringify({ command: "rm -rf precious" }) };

/** A server of its own home, as a person starts it. */
async function serving(env: Readonly<Record<string, string>> = {}) {
  const home = tempFolder();
  const child = start(["serve", "--port", "0"], { home, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
  await until(() => said.includes("Ctrl-C"), "the server is up");
  const [, page = ""] = /Open\s+(\S+)/.exec(said) ?? [];
  const { origin, searchParams } = new URL(page);
  const call = async (): Promise<string> => {
    const answer = await fetch(new URL("/v1/tool_calls", origin), {
      method: "POST",
      headers: { authorization: `Bearer ${searchParams.get("token")}` },
      body: JSON.stringify({ tool_calls: [{ id: "a", type: "function", function: RISKY }] }),
    });
    return answer.text();
  };
  const health = async () => (await fetch(new URL("/healthz", origin))).text();
  const open = async (): Promise<Page> => {
    const tab = await browser.newPage();
    await tab.goto(page);
    await tab.goto(new URL("/approvals", origin).href);
    await tab.locator('main:not([data-state="loading"])').waitFor();
    await until(async () => /"page_open":true/.test(await health()), "the server sees the page");
    return tab;
  };
  return { home, call, open, said: () => said };
}

/** An answer counts once the question could be seen, so that nobody hits a button that has just appeared. */
async function press(tab: Page, name: RegExp): Promise<void> {
  const button = tab.getByRole("button", { name });
  await button.waitFor();
  await tab.waitForTimeout(1_500);
  await button.click();
}

const DENIED = /nobody can be asked/;

it("a question waits while the page is open, also one of another process, and only then", async () => {
  const { home, call, open } = await serving({ HERMES_APPROVALS_TIMEOUT: "20" });
  expect(await call()).toMatch(DENIED);
  const tab = await open();
  const overHttp = call();
  await press(tab, /^Once/);
  expect(await overHttp).toContain('"status":"success"');
  const other = start(["call", RISKY.name, RISKY.arguments], { home });
  other.stdin?.end();
  const ended = outcomeOf(other);
  await press(tab, /^Deny/);
  expect(await ended).toMatchObject({ code: 5, stderr: expect.stringContaining("the person denied it") });
  await tab.close();
  // A question that was asked while the server still saw the page waits its whole time.
  await until(async () => DENIED.test(await call()), "the page is gone, and so is who could be asked", {
    seconds: 100,
  });
}, 180_000);

it("what loosens waits for Take up on the page; what is stricter, and what a person sets, counts at once", async () => {
  const { home, call, open } = await serving();
  const tab = await open();
  writeFileSync(join(home, "config.yaml"), "approvals:\n  mode: off\n  unattended_mode: deny\n");
  await tab.getByText("config.yaml").waitFor();
  expect(await call()).toMatch(DENIED);
  await tab.getByRole("button", { name: "Take up" }).click();
  await tab.getByRole("button", { name: "Take up" }).waitFor({ state: "detached" });
  await until(async () => !DENIED.test(await call()), "the settings are in force");
  expect((await hermes(["config", "set", "approvals.mode", "manual"], { home })).code).toBe(0);
  await until(async () => DENIED.test(await call()), "the stricter mode is in force");
  expect((await hermes(["config", "set", "approvals.mode", "off"], { home })).code).toBe(0);
  await until(async () => !DENIED.test(await call()), "a person's own command is in force");
}, 60_000);

it("a new tool waits for Take up too", async () => {
  const { home, open, said } = await serving();
  const tab = await open();
  mkdirSync(join(home, "tools"), { recursive: true });
  writeFileSync(
    join(home, "tools", "greet.ts"),
    'import { defineTool } from "hermes-tools";\nexport default defineTool({ name: "greet", description: "Greets.", ' +
      'parameters: { type: "object", properties: {} }, effects: () => [], handler: () => "hello" });\n',
  );
  await tab.getByRole("button", { name: "Take up" }).click();
  await tab.getByRole("button", { name: "Take up" }).waitFor({ state: "detached" });
  await until(() => said().includes("greet.ts: 1 added"), "the tool is taken up");
}, 60_000);
