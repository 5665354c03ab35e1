import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load.js";
import { Gate } from "../../../src/sources/mcp/gate.js";
import { interpolate } from "../../../src/sources/mcp/interpolate.js";
import { Keepalive } from "../../../src/sources/mcp/keepalive.js";
import { tempDir } from "../../support/runtime.js";
import { caller, type McpTest, mcpRuntime, scriptable, textOf, until } from "./support.js";

const variable = (name: string) => `$\{${name}}`;

/** Writes other settings, as a person would, and takes them up. */
async function reload(test: McpTest, servers: Record<string, unknown>, dotenv = ""): Promise<void> {
  const { home, cwd, file, runtime } = test;
  writeFileSync(file, JSON.stringify({ mcp_servers: servers }));
  writeFileSync(join(home, ".env"), dotenv);
  const env = { PATH: process.env.PATH, HOME: home };
  await runtime.applyConfig(await loadConfig({ home, cwd, env, systemDir: join(home, "none") }));
}

test("large arguments leave no listeners behind, however many calls there are", async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on("warning", note);
  try {
    const { runtime } = await mcpRuntime({ s: scriptable({}, { supports_parallel_tool_calls: true }) });
    const call = await caller(runtime);
    const large = "x".repeat(300_000);
    await Promise.all(Array.from({ length: 12 }, () => call("mcp_s_echo", { do: "lists", large })));
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", note);
  }
  expect(warnings).toEqual([]);
});

test("a server that says after each list that it changed is not read all the time", async () => {
  const { runtime, source } = await mcpRuntime({ s: scriptable({ restless: true }) });
  await new Promise((resolve) => setTimeout(resolve, 400));
  const call = await caller(runtime);
  const lists = Number(textOf(await call("mcp_s_echo", { do: "lists" })));
  expect(lists).toBeGreaterThan(1);
  expect(lists).toBeLessThan(10);
  expect(source.servers()[0]?.state).toBe("ready");
});

test("content that is not as the protocol has it is shown as it came", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable() });
  const call = await caller(runtime);
  const odd = [
    null,
    7,
    { type: "text" },
    { type: "image", data: 5 },
    { type: "audio" },
    { type: "resource" },
    { type: "resource", resource: null },
    { type: "resource_link" },
    { type: "unheard_of", text: "x" },
  ];
  const result = await call("mcp_s_act", { do: "answer", result: { content: odd } });
  expect(result.content.map((part) => ("text" in part ? part.text?.split("\n")[1] : part))).toEqual(
    odd.map((block) => JSON.stringify(block)),
  );
  const blob = { uri: "a:b", mimeType: "image/png", blob: { no: "text" } };
  const embedded = await call("mcp_s_act", {
    do: "answer",
    result: { content: [{ type: "resource", resource: blob }] },
  });
  expect(embedded.content[0]).toMatchObject({ type: "resource", uri: "a:b" });
});

test("answers that are half one thing and half another end their call, and nothing else", async () => {
  const { runtime, source } = await mcpRuntime({ s: scriptable({}, { timeout: 5 }) });
  const call = await caller(runtime);
  const answered = async (answer: object) => (await call("mcp_s_act", { do: "raw", answer })).error;
  expect(await answered({ result: null, error: { code: -32_000, message: "no" } })).toMatchObject({
    code: "failed",
    message: "MCP server s refused act: no",
  });
  expect(await answered({ error: {} })).toMatchObject({
    message: "MCP server s refused act: it gave no reason",
  });
  expect(await answered({ error: { code: -32_602, message: "bad town" } })).toMatchObject({
    code: "invalid_arguments",
  });
  expect(textOf(await call("mcp_s_echo", { text: "still here" }))).toBe("still here");
  expect(source.servers()[0]?.restarts).toBe(0);
});

test("while one of several calls waits for a person, the time of none of them runs", async () => {
  const { runtime } = await mcpRuntime({
    s: scriptable({}, { timeout: 1, supports_parallel_tool_calls: true }),
  });
  const call = await caller(runtime, {
    ask: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return "7";
    },
  });
  const requestedSchema = { type: "object", properties: { n: { type: "integer" } } };
  const form = { mode: "form", message: "Tell me", requestedSchema };
  const asking = call("mcp_s_act", { do: "elicit", afterMs: 50, ...form });
  // The one that came last is not the one that asks.
  const other = call("mcp_s_act", { do: "sleep", ms: 150 });
  expect(JSON.parse(textOf(await asking))).toEqual({ action: "accept", content: { n: 7 } });
  expect((await other).ok).toBe(true);
});

test("what an empty answer would send is shown before", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable() });
  const asked: string[] = [];
  const call = await caller(runtime, {
    ask: async ({ question }) => {
      asked.push(question);
      return "";
    },
  });
  const requestedSchema = { type: "object", properties: { all: { type: "boolean", default: true } } };
  await call("mcp_s_act", { do: "elicit", mode: "form", message: "Delete?", requestedSchema });
  expect(asked[0]).toContain("Leave it empty for true.");
});

test("a changed entry does not cut off the calls that run; one that is gone ends when they are over", async () => {
  const made = await mcpRuntime({ changes: scriptable(), goes: scriptable() });
  const call = await caller(made.runtime);
  const pid = Number(textOf(await call("mcp_goes_act", { do: "pid" })));
  const running = [
    call("mcp_changes_act", { do: "sleep", ms: 400 }),
    call("mcp_goes_act", { do: "sleep", ms: 400 }),
  ];
  await new Promise((resolve) => setTimeout(resolve, 50));
  await reload(made, { changes: scriptable({}, { timeout: 77 }) });
  expect(made.source.servers().map(({ name }) => name)).toEqual(["changes"]);
  expect((await Promise.all(running)).map(textOf)).toEqual(["slept", "slept"]);
  expect(textOf(await call("mcp_changes_echo", { text: "new" }))).toBe("new");
  await expect.poll(() => isThere(pid), { timeout: 5_000 }).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a server that lacked a variable is tried again when the settings are read anew", async () => {
  const servers = { s: scriptable({}, { env: { A: variable("LATER") } }) };
  const made = await mcpRuntime(servers);
  expect(made.source.servers()[0]).toMatchObject({ state: "failed" });
  await reload(made, servers, "LATER=now\n");
  await until(made.source, "s", ({ state }) => state === "ready");
});

test("names that every object has are no variables", () => {
  expect(() => interpolate(variable("constructor"), "command", {})).toThrow("is not set");
});

test("a folder that is not there is not mistaken for a program that is not there; an address is one of the web", async () => {
  const { source } = await mcpRuntime(
    { s: scriptable({}, { cwd: join(tempDir(), "none") }), u: { url: variable("ADDRESS") } },
    { env: { ADDRESS: "file:///etc/passwd" } },
  );
  const [folder, address] = source.servers();
  expect(folder?.reason).toMatch(/^the folder .*none does not exist$/);
  expect(folder?.fix).toContain("mcp_servers.s.cwd");
  expect(address).toMatchObject({ state: "failed", reason: "its url is no address of the web" });
});

test("a server that waits for its turn to connect can be taken away at once", async () => {
  const made = await mcpRuntime(
    { hangs: scriptable({ silent: true }), waits: scriptable() },
    { mcp: { connect_concurrency: 1 }, settle: false },
  );
  const startedAt = performance.now();
  await reload(made, { hangs: scriptable({ silent: true }) });
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  expect(made.source.servers().map(({ name }) => name)).toEqual(["hangs"]);
});

test("a gate lets others in when somebody leaves the queue", async () => {
  const gate = new Gate(1);
  const never = new AbortController();
  const done: string[] = [];
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const first = gate.through(() => opened, never.signal);
  const leaves = new AbortController();
  const second = gate.through(async () => void done.push("second"), leaves.signal);
  const third = gate.through(async () => void done.push("third"), never.signal);
  leaves.abort();
  await second;
  open();
  await Promise.all([first, third]);
  await gate.through(async () => void done.push("fourth"), never.signal);
  expect(done).toEqual(["third", "fourth"]);
});

test("asking how a server is doing while it is being connected waits for that and disturbs nothing", async () => {
  const { source } = await mcpRuntime({ s: scriptable({ listAfterMs: 200 }) }, { settle: false });
  await until(source, "s", ({ protocol }) => protocol !== undefined);
  expect(await source.test("s")).toMatchObject({ state: "ready", restarts: 0 });
  const again = source.reconnect("s");
  await until(source, "s", ({ state }) => state === "connecting");
  expect((await source.reconnect("s"))?.state).toBe("ready");
  expect((await again)?.state).toBe("ready");
});

test("a server that works on a call is not asked whether it is there", async () => {
  let pings = 0;
  let busy = true;
  const client = {
    getProtocolEra: () => "legacy",
    async ping() {
      pings += 1;
    },
  } as unknown as ConstructorParameters<typeof Keepalive>[0]["client"];
  const nothing = () => undefined;
  const keepalive = new Keepalive({
    client,
    everyMs: 5,
    isBusy: () => busy,
    onLate: nothing,
    onBack: nothing,
    onDead: nothing,
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(pings).toBe(0);
  busy = false;
  await expect.poll(() => pings).toBeGreaterThan(0);
  keepalive.stop();
});

test("a server that gives a call no sign of life is asked once, and then started again", async () => {
  const { runtime, source } = await mcpRuntime({ s: scriptable({}, { timeout: 0.5 }) });
  const call = await caller(runtime);
  process.kill(Number(textOf(await call("mcp_s_act", { do: "pid" }))), "SIGSTOP");
  expect((await call("mcp_s_echo", { text: "no" })).error?.code).toBe("timeout");
  // The call was the first silence: twice five seconds more would be too long.
  await until(source, "s", ({ restarts, state }) => restarts === 1 && state === "ready", 8_000);
  expect(textOf(await call("mcp_s_echo", { text: "back" }))).toBe("back");
});

test("ten questions a minute are ten, also for a server that is started again in between", async () => {
  const mcp = { sampling: true, sampling_url: "http://127.0.0.1:9", sampling_model: "m" };
  const { runtime, source } = await mcpRuntime({ s: scriptable({}, { sampling: true }) }, { mcp });
  const call = await caller(runtime);
  const messages = [{ role: "user", content: { type: "text", text: "Hello" } }];
  const sample = async () => textOf(await call("mcp_s_act", { do: "sample", messages, maxTokens: 9 }));
  for (let count = 0; count < 10; count++) expect(await sample()).not.toContain("a minute");
  await source.reconnect("s");
  expect(await sample()).toContain("no more than 10 questions a minute");
});

test("a change is approved only as it was shown, also when the name of its tool is very long", async () => {
  const long = "weather_".repeat(20);
  const tool = (description: string) => ({ name: long, description, inputSchema: { type: "object" } });
  const control = { name: "control", inputSchema: { type: "object" } };
  const { runtime, source } = await mcpRuntime({ s: scriptable({ tools: [tool("first"), control] }) });
  const call = await caller(runtime);
  const change = async (description: string) => {
    await call("mcp_s_control", { do: "change", to: [tool(description), control] });
    const { changed } = await until(
      source,
      "s",
      (status) => status.changed[0]?.change.includes(description) === true,
    );
    return changed[0];
  };
  const shown = await change("second");
  const later = await change("third");
  expect(source.approveChange("s", shown)).toEqual([]);
  expect(source.servers()[0]?.changed).toHaveLength(1);
  expect(source.approveChange("s", later)).toEqual([long]);
  expect(source.servers()[0]?.changed).toEqual([]);
});
