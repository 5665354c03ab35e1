// A small MCP server over standard input and output that does what it is told, good or bad. It speaks the wire
// protocol by hand: an SDK would not let it misbehave. Its first argument is the script: JSON, or a file with it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const given = process.argv[2] ?? "{}";
const script = JSON.parse(given.startsWith("{") ? given : readFileSync(given, "utf8"));
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
let tools = script.tools ?? [
  {
    name: "echo",
    description: "Says it back",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
  { name: "act", description: "Does what it is told", inputSchema: { type: "object", properties: {} } },
];
const waiting = new Map();
let nextId = 1;
let lists = 0;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const notify = (method, params = {}) => write({ method, params });
const ask = (method, params) => {
  const id = `s${nextId++}`;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const doings = {
  echo: async ({ text: words }) => text(words),
  pid: async () => text(process.pid),
  meta: async (_given, meta) => text(JSON.stringify(meta)),
  env: async () => text(JSON.stringify(process.env)),
  cwd: async () => text(process.cwd()),
  change: async ({ to }) => {
    tools = to;
    notify("notifications/tools/list_changed");
    return text("changed");
  },
  exit: async ({ code = 1 }) => process.exit(code),
  sleep: async ({ ms }) => {
    await sleep(ms);
    return text("slept");
  },
  hang: async () => {
    process.stdin.pause();
    for (;;) await sleep(60_000);
  },
  progress: async ({ times, everyMs }, { progressToken }) => {
    for (let at = 1; at <= times; at++) {
      await sleep(everyMs);
      notify("notifications/progress", { progressToken, progress: at, total: times, message: `step ${at}` });
    }
    return text("done");
  },
  complain: async ({ lines }) => {
    for (let at = 1; at <= lines; at++)
      process.stderr.write(`complaint ${at} \u001b[31mred\u001b[0m ${script.secret ?? ""}\n`);
    return text("complained");
  },
  garbage: async ({ lines = 3 }) => {
    for (let at = 0; at < lines; at++)
      process.stdout.write(`{"jsonrpc":"2.0","id":\u0000 nonsense ${at}\n[1,2\nnull\n42\n`);
    process.stdout.write(`{"jsonrpc":"2.0","id":999999,"result":{}}\n`);
    return text("sent garbage");
  },
  flood: async ({ megabytes }) => {
    const line = `${"x".repeat(1023)}\n`;
    for (let at = 0; at < megabytes * 1024; at++)
      if (!process.stdout.write(line)) await new Promise((go) => process.stdout.once("drain", go));
    return text("flooded");
  },
  notifications: async ({ count }) => {
    for (let at = 0; at < count; at++) notify("notifications/message", { level: "info", data: "x" });
    return text("told");
  },
  child: async () => {
    const child = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    child.unref();
    return text(child.pid);
  },
  elicit: async ({ afterMs = 0, ...params }) => {
    await sleep(afterMs);
    return text(JSON.stringify(await ask("elicitation/create", params)));
  },
  lists: async () => text(lists),
  // Whether another call runs at the same time: each leaves a mark and looks for the other's.
  meet: async ({ folder, me, other, patienceMs }) => {
    const mark = join(folder, me);
    writeFileSync(mark, "");
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(5))
      if (existsSync(join(folder, other))) return text("met");
    rmSync(mark);
    return text("alone");
  },
  sample: async (params) => text(JSON.stringify(await ask("sampling/createMessage", params))),
  roots: async () => text(JSON.stringify(await ask("roots/list", {}))),
  fail: async () => ({ isError: true, ...text("it went wrong <tool_call>") }),
  answer: async ({ result }) => result,
};

const cancelled = new Set();
const handlers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true }, ...script.capabilities },
    serverInfo: { name: script.name ?? "scriptable", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": async ({ cursor }) => {
    lists += 1;
    if (script.listAfterMs) await sleep(script.listAfterMs);
    if (script.restless) setTimeout(() => notify("notifications/tools/list_changed"), 5);
    if (script.endless)
      return {
        tools: [{ ...tools[0], name: `t${cursor ?? 0}` }],
        nextCursor: String(Number(cursor ?? 0) + 1),
      };
    if (script.loop) return { tools: cursor ? [] : tools, nextCursor: "again" };
    return { tools };
  },
  "tools/call": ({ name, arguments: given = {}, _meta = {} }) => {
    const doing = given.do ?? (name in doings ? name : "echo");
    return doings[doing](given, _meta);
  },
  ...Object.fromEntries(
    Object.entries(script.answers ?? {}).map(([method, answer]) => [method, () => answer]),
  ),
};

if (script.exitAtStart) process.exit(script.exitAtStart);
if (script.exitAfterMs) setTimeout(() => process.exit(3), script.exitAfterMs);
if (script.silent) setInterval(() => undefined, 60_000);
process.stderr.write("scriptable server is up\n");

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    if (script.silent) return;
    const message = JSON.parse(line);
    if (message.method === "notifications/cancelled") cancelled.add(message.params.requestId);
    if (message.method === undefined) waiting.get(message.id)?.(message.result ?? message.error);
    if (message.id === undefined || message.method === undefined) return;
    if (script.exitOnProbe && message.method === "server/discover") process.exit(1);
    if (message.method === "tools/call" && message.params.arguments?.do === "raw")
      return write({ id: message.id, ...message.params.arguments.answer });
    if (message.method === "tools/call" && message.params.name === "cancelled")
      return write({ id: message.id, result: text(JSON.stringify([...cancelled])) });
    const handler = handlers[message.method];
    if (handler === undefined)
      return write({ id: message.id, error: { code: -32601, message: "Method not found" } });
    try {
      write({ id: message.id, result: await handler(message.params ?? {}) });
    } catch (error) {
      write({ id: message.id, error: { code: -32603, message: String(error) } });
    }
  })
  .on("close", () => (script.stubborn ? setInterval(() => undefined, 60_000) : process.exit(0)));
if (script.stubborn) process.on("SIGTERM", () => undefined);
