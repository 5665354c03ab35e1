import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { inTime } from "../../src/base/deadline.js";
import { compileGlob, segmentsOf } from "../../src/base/glob.js";
import { wildcardMatches } from "../../src/base/wildcard.js";
import { parseConfigText } from "../../src/config/parse-yaml.js";
import { parseRequestText } from "../../src/index.js";
import { readPermissionText } from "../../src/policy/profiles/permission-file.js";
import { serveMcpOverStreams } from "../../src/server/mcp/stdio.js";
import { judgeCommand } from "../../src/shell/judge.js";
import { MessageLines } from "../../src/sources/mcp/message-lines.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { readToolFile } from "../../src/toolfile/read-file.js";
import { expectNoUnheardRejections, tool } from "../attacks/support.js";
import { tempDir, testRuntime } from "../support/runtime.js";
import { keepInput, keptInputs } from "./kept.js";

expectNoUnheardRejections();

/** `npm run fuzz` runs the whole counts, each for as long as it was given; CI a smoke of them. */
const FULL = process.env.HERMES_FUZZ === "full";
const SEED = Number(process.env.HERMES_FUZZ_SEED ?? 20_261_118);
const MINUTES = Number(process.env.HERMES_FUZZ_MINUTES ?? 5);
const HANG_MS = 1_000;
const SMOKE_SHARE = 0.004;

const SPLINTERS = [
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  ":",
  "- ",
  "&a ",
  "*a",
  "$(",
  "`",
  "|",
  "\\",
  "\0",
  "\n",
  "**",
  "!",
  "é",
  "\ud800",
  "__proto__",
  "<<EOF",
  "?",
  "{a,b}",
  "(".repeat(200),
  "x".repeat(2_000),
];

const lines = (path: string) =>
  readFileSync(new URL(path, import.meta.url), "utf8")
    .trim()
    .split("\n");
const COMMANDS = lines("../shell/corpus/dev.jsonl").map((line) =>
  String((JSON.parse(line) as { command?: unknown }).command ?? line),
);
const SAMPLES = lines("../fixtures/toolcalls/toolcalls.dev.jsonl").map(
  (line) => JSON.parse(line) as { request?: unknown },
);
const REQUESTS = SAMPLES.map(({ request = null }) => JSON.stringify(request));
const frame = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const FRAMES = [
  ...SAMPLES.map((sample) => frame("tools/call", { name: "web_search", arguments: sample })),
  frame("tools/list", { cursor: "a" }),
  frame("notifications/cancelled", { requestId: 1, reason: "x" }),
  '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no","data":{}}}',
];
const SETTINGS =
  "approvals:\n  mode: manual\n  deny: [shutdown *]\ntools:\n  disabled: [browser_cdp]\nsecurity: &s\n  url_allowlist: [example.com]\ntool_settings: { x: *s }\n";
const PERMISSIONS =
  'global:\n  deny: [env:write]\nprofiles:\n  mine:\n    extends: default\n    restrictions:\n      file:write:\n        denied_paths: ["**/*.pem"]\n';
const TOOL_FILE =
  'tools:\n  - name: count\n    description: "Count"\n    type: command\n    command: [wc, -w, "{{text}}"]\n    parameters:\n      - { name: text, type: string, required: true }\n';
/** Each with a path behind it. */
const GLOBS = ["src/**/*.ts", "{a,b}/*.md", "!(x)/[a-z]*", "**/.env*", "/home/*/.ssh/**"].map(
  (glob) => `${glob}\n/home/ann/src/a/b/.env.local`,
);

function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutate(text: string, random: (below: number) => number): string {
  let current = text;
  for (let count = 1 + random(5); count > 0; count -= 1) {
    const at = random(current.length + 1);
    const length = random(30);
    const inserted = [
      SPLINTERS[random(SPLINTERS.length)] ?? "",
      String.fromCharCode(random(0x10000)),
      current.slice(at, at + length).repeat(3),
      "",
    ][random(4)];
    current = current.slice(0, at) + inserted + current.slice(at + random(2) * length);
  }
  return current.slice(0, 20_000);
}

type Take = (text: string) => unknown;

/** What must take every input without throwing; a refusal is an answer. */
const KINDS: readonly {
  what: string;
  count: number;
  from: readonly string[];
  open(): Take | Promise<Take>;
}[] = [
  { what: "tool calls, made", count: 100_000, from: REQUESTS, open: openCalls },
  { what: "JSON-RPC frames, both ways", count: 100_000, from: FRAMES, open: openMcp },
  { what: "YAML tool files", count: 50_000, from: [TOOL_FILE], open: () => (text) => readToolFile(text) },
  {
    what: "settings and permissions",
    count: 20_000,
    from: [SETTINGS, PERMISSIONS],
    open: () => async (text) => {
      await parseConfigText(text);
      await readPermissionText(text, "hermes_permissions.yaml");
    },
  },
  { what: "shell strings", count: 50_000, from: COMMANDS, open: () => (text) => judgeCommand(text) },
  {
    what: "globs and paths",
    count: 20_000,
    from: GLOBS,
    open: () => (text) => {
      const end = text.lastIndexOf("\n");
      const [glob, path] = [text.slice(0, end), text.slice(end + 1)];
      wildcardMatches(glob, path);
      for (const purpose of ["allow", "deny"] as const)
        compileGlob(glob, { cwd: "/home/ann/src", home: "/home/ann", purpose })?.matches(segmentsOf(path));
    },
  },
];

/** Requests as models send them; what can be read of one is called. */
async function openCalls(): Promise<Take> {
  const schemas = JSON.parse(
    readFileSync(new URL("../fixtures/toolcalls/toolcalls.tools.json", import.meta.url), "utf8"),
  ) as { name: string; parameters: AnyTool["parameters"] }[];
  const { runtime } = await testRuntime(
    schemas.map(({ name, parameters }) => tool(name, (args) => args as string, { parameters })),
  );
  const session = await runtime.openSession();
  return async (text) => {
    const request = parseRequestText(text);
    if ("code" in request || request.calls.length === 0) return;
    const results = await session.callAll(request.calls.slice(0, 20));
    expect(results).toHaveLength(Math.min(20, request.calls.length));
  };
}

/** Our server hears each frame from a client, and our client from a server; the server still answers. */
async function openMcp(): Promise<Take> {
  const { runtime } = await testRuntime([tool("web_search", () => "found")]);
  const [input, output] = [new PassThrough(), new PassThrough()];
  void serveMcpOverStreams({ runtime, input, output, signal: new AbortController().signal });
  const waiting = new Map<string, () => void>();
  createInterface({ input: output }).on("line", (line) => {
    const { id } = JSON.parse(line) as { id?: string };
    waiting.get(String(id))?.();
  });
  const ask = (id: string, method: string, params: object) =>
    new Promise<void>((resolve) => {
      waiting.set(id, resolve);
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  const clientInfo = { name: "fuzz", version: "1" };
  await ask("hello", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  let frames = 0;
  return async (text) => {
    const line = text.replaceAll("\n", " ");
    new MessageLines({ onMessage: () => undefined, onNonsense: () => undefined }).add(
      Buffer.from(`${line}\n`),
    );
    input.write(`${line}\n`);
    frames += 1;
    const id = `ping ${frames}`;
    if (frames % 20 === 0)
      await inTime(ask(id, "ping", {}), { ms: 10_000, otherwise: "the server does not answer" });
    waiting.delete(id);
  };
}

/** Takes one input, and writes down what could not be taken. */
async function takeOne(take: Take, { kind, text }: { kind: string; text: string }): Promise<void> {
  // Processor time: another program's turn is not this input's doing.
  const before = process.cpuUsage();
  let why: string | undefined;
  try {
    await take(text);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= HANG_MS) why = `took ${Math.round(ms)} ms`;
  } catch (error) {
    why = `threw ${String(error)}`;
  }
  if (why === undefined) return;
  if (FULL) keepInput({ kind, text, why });
  throw new Error(`${kind}: ${why}: ${JSON.stringify(text.slice(0, 2_000))}`);
}

describe(`mutated input, seed ${SEED}`, () => {
  it.each(KINDS)(
    "$count $what: nothing throws and nothing takes a second",
    async ({ what: kind, count, from, open }) => {
      const take = await open();
      for (const text of keptInputs(kind)) await takeOne(take, { kind, text });
      const random = randomNumbers(SEED);
      const until = performance.now() + (FULL ? MINUTES * 60_000 : 4_000);
      const wanted = FULL ? count : Math.ceil(count * SMOKE_SHARE);
      let tried = 0;
      for (; tried < wanted && performance.now() < until; tried += 1)
        await takeOne(take, { kind, text: mutate(from[random(from.length)] ?? "", random) });
      if (FULL) console.log(`${tried} of ${wanted} tried`);
      expect(tried).toBeGreaterThan(0);
    },
    FULL ? 3_600_000 : 30_000,
  );

  it("keeps what it finds, once, for the kind it was found with", () => {
    const file = pathToFileURL(join(tempDir(), "kept.jsonl"));
    writeFileSync(file, "");
    const row = { kind: "shell strings", text: "a\nb \ud800", why: "threw Error: no" };
    for (let twice = 0; twice < 2; twice += 1) keepInput(row, file);
    keepInput({ ...row, text: "c" }, file);
    expect(keptInputs("shell strings", file)).toEqual([row.text, "c"]);
    expect(keptInputs("YAML tool files", file)).toEqual([]);
  });
});
