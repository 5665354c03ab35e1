// @needs chromium
import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import { PAYLOADS } from "../server/xss-payloads.js";
import { onTestEnd } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { openDashboard } from "./server.js";

async function chatWith(steps: readonly Step[]) {
  const title: Step = { when: { tools: false }, repeat: "always", text: "Merge got slow" };
  const model = await startScriptedModel({ steps: [title, ...steps] });
  onTestEnd(() => model.close());
  return openDashboard({
    path: "/chat",
    runtime: {
      env: {
        PATH: process.env.PATH,
        HERMES_MODEL_PROVIDER: "compatible",
        HERMES_MODEL: "scripted",
        HERMES_MODEL_BASE_URL: model.url,
        HERMES_MODEL_API_KEY: "key",
      },
    },
  });
}

it("a conversation streams, shows its calls, asks inside, and is there after a reload", async () => {
  const { tab, cwd, problems } = await chatWith([
    {
      text: "Let me **write** it.",
      calls: [{ id: "w1", name: "write_file", arguments: { path: "note.txt", content: "hello" } }],
      usage: { input: 4_100, output: 210 },
    },
    {
      text: "Now I clean up.",
      calls: [{ id: "t1", name: "terminal", arguments: { command: "rm -rf build" } }],
    },
    { text: "## Done\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe note is written." },
  ]);
  mkdirSync(`${cwd}/build`);
  await tab.getByRole("textbox", { name: "Message" }).fill("Write the note and clean up.");
  await tab.getByRole("button", { name: "Send" }).click();
  const log = tab.getByRole("log");
  await log.getByText("Write the note and clean up.").waitFor();
  await log.getByRole("button", { name: /write_file note\.txt.*ok/ }).waitFor();
  await log.getByRole("button", { name: "Once" }).waitFor();
  await tab.waitForTimeout(600);
  await expectGoodLooks(tab);
  await log.getByRole("button", { name: "Once" }).click();
  await log.getByText("The note is written.").waitFor();
  await log.getByRole("heading", { name: "Done" }).waitFor();
  await log.getByRole("cell", { name: "2" }).waitFor();
  await log.getByRole("button", { name: /write_file/ }).click();
  await log.getByText('"hello"').first().waitFor();
  await tab
    .getByText(/[\d,]+ in, [\d,]+ out/)
    .first()
    .waitFor();
  expect(new URL(tab.url()).searchParams.get("session")).toBeTruthy();
  await tab.reload();
  await log.getByText("The note is written.").waitFor();
  await log.getByRole("button", { name: /write_file/ }).waitFor();
  await expectGoodLooks(tab);
  expect(problems).toEqual([]);
});

it("a turn is stopped, steered, and what waits for its end is sent then", async () => {
  const { tab, problems } = await chatWith([
    { text: "Working.", calls: [{ id: "s1", name: "sleep", arguments: { seconds: 60 } }] },
    { text: "The second answer." },
  ]);
  const message = tab.getByRole("textbox", { name: "Message" });
  await message.fill("Take your time.");
  await message.press("Enter");
  await tab.getByRole("log").getByRole("button", { name: /sleep/ }).waitFor();
  await message.fill("Hurry up");
  await message.press("Enter");
  await tab.getByText("while it ran").waitFor();
  await message.fill("And then this");
  await tab.getByRole("button", { name: "Queue" }).click();
  await tab
    .getByRole("list", { name: "Waits for the end of this turn" })
    .getByText("And then this")
    .waitFor();
  await tab.getByRole("button", { name: "Do not send" }).click();
  await message.press("Escape");
  await tab.getByRole("button", { name: "Send" }).waitFor();
  await message.fill("Again");
  await message.press("Enter");
  await tab.getByText("The second answer.").waitFor();
  expect(problems).toEqual([]);
});

it("hostile words of a model and its tools stay words", async () => {
  const attack = `${PAYLOADS.join("\n\n")}\n\n[x](javascript:window.attacked=1) ![x](http://attacker.example/x.png)`;
  const { tab, problems } = await chatWith([
    { text: attack, calls: [{ id: "t1", name: PAYLOADS[2] ?? "", arguments: { text: attack } }] },
    { text: `| ${PAYLOADS[3]} |\n|---|\n| ${PAYLOADS[4]} |\n\nThe end.` },
  ]);
  await tab.getByRole("textbox", { name: "Message" }).fill(attack);
  await tab.getByRole("button", { name: "Send" }).click();
  await tab.getByText("The end.").waitFor();
  await expectUnharmed(tab);
  expect(await tab.locator("main a[href^='javascript'], main img[src^='http:']").count()).toBe(0);
  expect(problems).toEqual([]);
});

it("without a model the page names three ways to one", async () => {
  const { tab, problems } = await openDashboard({
    path: "/chat",
    runtime: { env: { PATH: process.env.PATH } },
  });
  await tab.getByText("No model is set up").waitFor();
  expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
  for (const way of ["hermes setup model", "ollama pull", "hermes config set model.base_url"])
    await tab.getByText(way).waitFor();
  await expectGoodLooks(tab);
  expect(problems).toEqual([]);
});

it("a call that was refused is no error, and calls with one id stay apart, also after a reload", async () => {
  const { tab, cwd, problems } = await chatWith([
    { text: "Read.", calls: [{ id: "call_0", name: "read_file", arguments: { path: "missing.md" } }] },
    { text: "Wipe.", calls: [{ id: "call_0", name: "terminal", arguments: { command: "rm -rf /" } }] },
    { text: "Tidy.", calls: [{ id: "call_0", name: "terminal", arguments: { command: "rm -rf build" } }] },
    { text: "The end." },
  ]);
  mkdirSync(`${cwd}/build`);
  await tab.getByRole("textbox", { name: "Message" }).fill("Go on.");
  await tab.getByRole("button", { name: "Send" }).click();
  const log = tab.getByRole("log");
  const rows = async () =>
    (await log.locator(".tl-row").allTextContents()).map(
      (text) => /(ok|error|denied|asked)$/.exec(text)?.[0],
    );
  await log.getByRole("button", { name: "Once" }).waitFor();
  expect(await rows()).toEqual(["error", "denied", "asked"]);

  // The whole question, and back.
  await log.getByRole("link", { name: "Everything about it" }).click();
  const card = tab.locator("article.ask");
  await card.locator("mark", { hasText: "rm -rf build" }).waitFor();
  expect(new URL(tab.url()).searchParams.get("question")).toMatch(/^apr_/);
  await tab.waitForTimeout(600);
  await card.getByRole("button", { name: "Once" }).click();
  await tab.goBack();
  await log.getByText("The end.").waitFor();
  expect(await rows()).toEqual(["error", "denied", "ok"]);
  await tab.reload();
  await log.getByText("The end.").waitFor();
  expect(await rows()).toEqual(["error", "denied", "ok"]);
  expect(problems).toEqual([]);
});
