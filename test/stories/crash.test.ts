import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { main, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { until } from "../server/support.js";
import { onTestEnd } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

const PATIENCE_MS = 30_000;

/** Leaves a mark when it begins, and takes longer than anybody waits. */
const SLOW: readonly Step[] = [
  {
    text: "I begin.",
    calls: [
      { id: "fast", name: "write_file", arguments: { path: "first.txt", content: "done" } },
      { id: "slow", name: "terminal", arguments: { command: "echo run >> runs.txt; sleep 120" } },
    ],
  },
  { when: { anywhere: '"status":"unknown"' }, text: "I do not know whether it ran." },
];

const LIBRARY = `
import { createAgent } from "hermes-tools";
const agent = await createAgent({ toolsets: ["file", "terminal"], conversation: process.argv[2] });
console.log(agent.conversation);
const events = process.argv[2] === undefined ? agent.send("do both") : agent.resume();
for await (const event of events) if (event.type === "result") console.log(event.text);
await agent.close();
`;

async function place() {
  const model = await startScriptedModel({ steps: SLOW });
  onTestEnd(() => model.close());
  const home = tempFolder();
  const cwd = tempFolder();
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(root, join(cwd, "node_modules", "hermes-tools"));
  writeFileSync(join(cwd, "agent.mjs"), LIBRARY);
  const env = {
    ...plainEnvironment(home),
    HERMES_MODEL_PROVIDER: "compatible",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: model.url,
    HERMES_MODEL_API_KEY: "test-key",
  };
  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    const out = { text: "" };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      out.text += chunk;
    });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    onTestEnd(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    return { child, out, ended };
  };
  const runs = () => (existsSync(join(cwd, "runs.txt")) ? readFileSync(join(cwd, "runs.txt"), "utf8") : "");
  return { model, home, cwd, start, runs };
}

async function killed(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}

describe("a crash in the middle of a call", () => {
  it("through the library: the next process goes on, and the call is not made again", async () => {
    const { start, runs, model, cwd } = await place();
    const first = start(["agent.mjs"]);
    await until(() => runs() !== "", PATIENCE_MS);
    await until(() => existsSync(join(cwd, "first.txt")), PATIENCE_MS);
    await killed(first.child, first.ended);
    const [conversation = ""] = first.out.text.split("\n");
    const second = start(["agent.mjs", conversation]);
    await second.ended;
    expect(model.complaints).toEqual([]);
    expect(second.out.text).toBe(`${conversation}\nI do not know whether it ran.\n`);
    expect(runs()).toBe("run\n");
    const answers = model.requests[1]?.messages.filter(({ answers }) => answers !== undefined) ?? [];
    expect(answers.map(({ answers }) => answers)).toEqual(["fast", "slow"]);
  }, 90_000);

  it("through HTTP: the server that comes after it knows the conversation, and does not make the call again", async () => {
    const { start, runs, model, home, cwd } = await place();
    const serve = async () => {
      const { child, out, ended } = start([main, "serve", "--port", "0", "--json"]);
      await until(() => /http:\/\/127\.0\.0\.1:\d+/.test(out.text), PATIENCE_MS);
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(out.text)?.[0];
      const apiKey = readFileSync(join(home, "server.token"), "utf8").trim();
      return { child, ended, openai: new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 0 }) };
    };
    const say = (content: string) => ({
      model: "hermes",
      messages: [{ role: "user" as const, content }],
    });
    const before = await serve();
    const { response, data } = await before.openai.chat.completions
      .create({ ...say("do both"), stream: true })
      .withResponse();
    const reading = (async () => {
      for await (const _ of data);
    })().catch(() => undefined);
    await until(() => runs() !== "", PATIENCE_MS);
    await until(() => existsSync(join(cwd, "first.txt")), PATIENCE_MS);
    await killed(before.child, before.ended);
    await reading;
    const after = await serve();
    const headers = { "x-hermes-session": response.headers.get("x-hermes-session") ?? "" };
    const answer = await after.openai.chat.completions.create(say("well?"), { headers });
    expect(model.complaints).toEqual([]);
    expect(answer.choices[0]?.message.content).toBe("I do not know whether it ran.");
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
    ]);
    expect(runs()).toBe("run\n");
  }, 90_000);
});
