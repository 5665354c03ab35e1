// Code mode as a session calls it: `execute_code` with the QuickJS sandbox, and tools called from inside of it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { assertEchoed, echo, echoDescription, echoSchema } from "../echo.mjs";
import { oneByOne, timedAfter } from "../operations.mjs";

const THOUSAND_CALLS =
  'for (let n = 0; n < 1000; n++) await tools.echo({ text: "hello world", times: n, loud: false })';

/** Scripts of a model do not follow each other at once: meanwhile the thread makes the next engine. */
const REST_MS = 15;
/** A thread that has just started is still compiling; a session runs many scripts. */
const WARM_SCRIPTS = 10;

/** `dist`: the build to measure. `journal`: whether calls are written down. */
export async function open({ dist, journal = false }) {
  const { createRuntime, ToolRegistry } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  writeFileSync(
    join(home, "config.yaml"),
    ["approvals:", "  mode: off", "code_execution:", "  max_tool_calls: 1000000", "  tools: [all]", ""].join(
      "\n",
    ),
  );
  const registry = new ToolRegistry();
  registry.register({
    name: "echo",
    toolset: "bench",
    schema: { description: echoDescription, parameters: echoSchema },
    handler: echo,
  });
  const runtime = await createRuntime({
    registry,
    home,
    cwd: home,
    systemDir: join(home, "system"),
    userTools: false,
    journal,
  });
  const session = await runtime.openSession({ toolsets: ["bench", "code_execution"] });
  const script = async (code) => {
    const { ok, structured, error } = await session.call({
      name: "execute_code",
      arguments: { code, language: "javascript", sandbox: "quickjs" },
    });
    if (ok && structured.status === "success") return structured.result;
    throw new Error(`the script failed: ${JSON.stringify(error ?? structured)}`);
  };
  assertEchoed("code mode", await script('await tools.echo({ text: "hello world", times: 7, loud: false })'));
  for (let round = 0; round < WARM_SCRIPTS; round += 1) await script(THOUSAND_CALLS);
  const thread = await pingPong();
  return {
    operations: {
      emptyScript: timedAfter(
        () => setTimeout(REST_MS),
        () => script("0"),
      ),
      emptyScriptAtOnce: oneByOne(() => script("0")),
      thousandCalls: oneByOne(() => script(THOUSAND_CALLS)),
      bareThread: oneByOne(thread.call),
    },
    async close() {
      await thread.close();
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** What two messages between threads cost by themselves. */
async function pingPong() {
  const worker = new Worker(
    'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (text) => parentPort.postMessage(text));',
    { eval: true },
  );
  let answered;
  worker.on("message", () => answered());
  const call = (number) =>
    new Promise((resolve) => {
      answered = resolve;
      worker.postMessage(`${number} {"text":"hello world"}`);
    });
  await call(0);
  return { call, close: () => worker.terminate() };
}
