import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { RuntimeEvent } from "../../../src/observe/events.js";
import { tempDir } from "../../support/runtime.js";
import { caller, mcpRuntime, peer, textOf } from "./support.js";

const servers: ChildProcess[] = [];
let said = "";
let httpUrl = "";
let sseUrl = "";

beforeAll(async () => {
  [httpUrl, sseUrl] = await Promise.all([everything("streamableHttp", "/mcp"), everything("sse", "/sse")]);
}, 20_000);

afterAll(() => {
  for (const server of servers) server.kill("SIGKILL");
});

/** The port that was free may be taken by somebody else in between; then another one is. */
async function everything(kind: string, path: string, tries = 3): Promise<string> {
  try {
    return await startEverything(kind, path);
  } catch (error) {
    if (tries === 1) throw error;
    return everything(kind, path, tries - 1);
  }
}

async function startEverything(kind: string, path: string): Promise<string> {
  const port = await freePort();
  const { command, args } = peer("server-everything", kind);
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  servers.push(child);
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      said += chunk.toString();
      if (/port \d+/.test(chunk.toString())) resolve();
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.once("exit", () => reject(new Error(`server-everything ${kind} ended`)));
  });
  return `http://127.0.0.1:${port}${path}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

test("the reference server works over standard input, Streamable HTTP and the older SSE alike", async () => {
  const { runtime, source } = await mcpRuntime({
    stdio: { ...peer("server-everything"), supports_parallel_tool_calls: true, roots: true },
    http: { url: httpUrl },
    sse: { url: sseUrl },
  });
  expect(
    source.servers().map(({ name, state, transport, reason }) => [name, state, transport, reason]),
  ).toEqual([
    ["stdio", "ready", "stdio", undefined],
    ["http", "ready", "http", undefined],
    ["sse", "ready", "sse", undefined],
  ]);
  const progress: unknown[] = [];
  runtime.events.on(
    (event: RuntimeEvent) => void (event.type === "call.progress" && progress.push(event.progress)),
  );
  const asked: string[] = [];
  const call = await caller(runtime, {
    ask: async ({ question, choices }) => {
      asked.push(question);
      return choices?.[0];
    },
  });
  for (const server of ["stdio", "http", "sse"]) {
    expect(textOf(await call(`mcp_${server}_echo`, { message: "hello" })), server).toBe("Echo: hello");
    expect(textOf(await call(`mcp_${server}_get_sum`, { a: 2, b: 3 }))).toContain("5");
    const structured = await call(`mcp_${server}_get_structured_content`, { location: "New York" });
    expect(structured.structured).toMatchObject({ temperature: expect.any(Number) });
    const image = await call(`mcp_${server}_get_tiny_image`);
    expect(image.content.map(({ type }) => type)).toContain("image");
    const links = await call(`mcp_${server}_get_resource_links`, { count: 2 });
    expect(links.content.filter(({ type }) => type === "resource")).toHaveLength(2);
    const resources = JSON.parse(textOf(await call(`mcp_${server}_list_resources`)));
    const read = await call(`mcp_${server}_read_resource`, { uri: resources.resources[0].uri });
    expect(read.content[0]).toMatchObject({ type: "resource", uri: resources.resources[0].uri });
    const prompts = JSON.parse(textOf(await call(`mcp_${server}_list_prompts`)));
    expect(prompts.prompts.map(({ name }: { name: string }) => name)).toContain("simple-prompt");
    expect(textOf(await call(`mcp_${server}_get_prompt`, { name: "simple-prompt" }))).toContain("[user]");
    expect((await call(`mcp_${server}_get_sum`, { a: "x", b: 3 })).error?.code).toBe("invalid_arguments");
  }
  const long = await call("mcp_http_trigger_long_running_operation", { duration: 0.4, steps: 4 });
  expect(long.ok).toBe(true);
  expect(progress).toContainEqual({ fraction: 0.25 });
  const elicited = await call("mcp_stdio_trigger_elicitation_request");
  expect(asked.length).toBeGreaterThan(0);
  expect(elicited.ok).toBe(true);
  expect(textOf(await call("mcp_stdio_get_roots_list"))).toContain(runtime.cwd);
  // A server over HTTP would keep the session of a client that just stays away.
  await runtime.close();
  await vi.waitFor(() => expect(said).toContain("session termination request"), 5_000);
});

test("filesystem, memory and sequential thinking do their work through the whole path", async () => {
  const folder = realpathSync(tempDir());
  mkdirSync(join(folder, "inner"));
  writeFileSync(join(folder, "note.txt"), "first line\n");
  const store = join(tempDir(), "memory.json");
  const { runtime, source } = await mcpRuntime({
    files: peer("server-filesystem", folder),
    memory: { ...peer("server-memory"), env: { MEMORY_FILE_PATH: store } },
    think: peer("server-sequential-thinking"),
  });
  expect(source.servers().map(({ state }) => state)).toEqual(["ready", "ready", "ready"]);
  const call = await caller(runtime, { cwd: folder, approver: { ask: async () => "once" } });
  // The folder it was started with, not the one we work in.
  expect(textOf(await call("mcp__files__list_allowed_directories"))).toContain(folder);
  expect(textOf(await call("mcp_files_read_text_file", { path: join(folder, "note.txt") }))).toContain(
    "first line",
  );
  const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
  expect((await call("mcp_memory_create_entities", { entities })).ok).toBe(true);
  expect(textOf(await call("mcp_memory_search_nodes", { query: "Ada" }))).toContain("writes programs");
  const thought = { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  expect((await call("mcp_think_sequentialthinking", thought)).ok).toBe(true);
  // It says itself that writing may destroy something.
  const { effects } = await (await runtime.openSession()).explainCall({
    name: "mcp_files_write_file",
    arguments: { path: "x", content: "y" },
  });
  expect(effects[0]).toMatchObject({
    action: "mcp:files",
    resource: "write_file",
    mode: "write",
    ask: { key: "files/write_file" },
  });
});
