// Scripts of `execute_code` that call a tool a thousand times, and the same exchange over bare pipes.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { echo, echoDescription, echoSchema } from "../echo.mjs";

const CALLS = 1_000;

/** Each prints how many nanoseconds its calls took; starting the interpreter is not among them. */
const SCRIPTS = {
  python: [
    "import time",
    "from hermes_tools import echo",
    "began = time.perf_counter_ns()",
    `for number in range(${CALLS}):`,
    '    echo(text="hello world", times=number, loud=False)',
    "print(time.perf_counter_ns() - began)",
  ].join("\n"),
  javascript: [
    "const began = process.hrtime.bigint();",
    `for (let number = 0; number < ${CALLS}; number++)`,
    '  await hermes.echo({ text: "hello world", times: number, loud: false });',
    "console.log(String(process.hrtime.bigint() - began));",
  ].join("\n"),
};

const BARE = [
  "import json, sys, time",
  "began = time.perf_counter_ns()",
  `for number in range(${CALLS}):`,
  '    print(json.dumps({"text": "hello world", "times": number, "loud": False}), flush=True)',
  "    json.loads(sys.stdin.readline())",
  "print(time.perf_counter_ns() - began, flush=True)",
].join("\n");

/** `dist`: the build to measure. `journal`: whether calls are written down. */
export async function open({ dist, journal = true }) {
  const { createRuntime, ToolRegistry } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const settings = [
    "approvals:",
    "  mode: off",
    "code_execution:",
    "  max_tool_calls: 1000000",
    "  tools: [all]",
  ];
  writeFileSync(join(home, "config.yaml"), `${settings.join("\n")}\n`);
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
  const script = async (language) => {
    const { ok, structured, error } = await session.call({
      name: "execute_code",
      arguments: { code: SCRIPTS[language], language },
    });
    if (ok && structured.tool_calls_made === CALLS && structured.status === "success")
      return Number(structured.output) / CALLS;
    throw new Error(`the script failed: ${JSON.stringify(error ?? structured)}`);
  };
  return {
    operations: {
      python: perCall(() => script("python")),
      javascript: perCall(() => script("javascript")),
      bare: perCall(bareExchange),
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function perCall(nanosecondsOfOne) {
  return async (count) => {
    let sum = 0;
    for (let done = 0; done < count; done += 1) sum += await nanosecondsOfOne();
    return sum;
  };
}

/** JSON lines over the pipes of a child, with a tool that is a function. */
async function bareExchange() {
  const child = spawn("python3", ["-c", BARE], { stdio: ["pipe", "pipe", "inherit"] });
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    if (line.startsWith("{")) child.stdin.write(`${JSON.stringify(echo(JSON.parse(line)))}\n`);
  }
  return Number(last) / CALLS;
}
