import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { loadConfig } from "../../../src/config/load.js";
import type { RuntimeEvent } from "../../../src/observe/events.js";
import { freePort } from "../../support/nats-server.js";
import { tempDir } from "../../support/runtime.js";
import { caller, mcpRuntime, scriptable, textOf, until } from "./support.js";

/** As it is written in a configuration. */
const variable = (name: string) => `$\{${name}}`;

const alive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

test("a server's tools can be called, under their name and both other spellings", async () => {
  const tools = ["plain", "with-dash", "with__two", "dotted.name"].map((name) => ({
    name,
    inputSchema: { type: "object" },
  }));
  const { runtime, source } = await mcpRuntime({
    "my-server": scriptable({ tools }),
    a__b: scriptable({ tools }),
  });
  expect(source.servers().map(({ state }) => state)).toEqual(["ready", "ready"]);
  expect(source.servers()[0]).toMatchObject({
    protocol: "2025-11-25",
    transport: "stdio",
    server_info: { name: "scriptable" },
  });
  const call = await caller(runtime);
  for (const server of ["my-server", "a__b"]) {
    for (const { name } of tools) {
      const cleaned = `${server}_${name}`.replace(/[^a-z0-9_]/gi, "_");
      for (const spelling of [
        `mcp_${cleaned}`,
        `mcp__${server}__${name}`,
        `mcp__${server}__${name}`.replace(/[^a-z0-9_]/gi, "_"),
      ])
        expect(await call(spelling, { do: "echo", text: "hello" }), spelling).toMatchObject({
          ok: true,
          name: `mcp_${cleaned}`,
        });
    }
  }
  expect([...runtime.registry.snapshot().byToolset.keys()].sort()).toEqual(["mcp-a__b", "mcp-my-server"]);
  expect(runtime.registry.snapshot().toolsetAliases.get("my-server")).toBe("mcp-my-server");
});

test("include and exclude speak of the server's own names, and include wins", async () => {
  const tools = ["read_file", "read/dir", "write_file", "drop"].map((name) => ({
    name,
    inputSchema: { type: "object" },
  }));
  const { source } = await mcpRuntime({
    inc: scriptable({ tools }, { tools: { include: ["read*"], exclude: ["read_file"] } }),
    exc: scriptable({ tools }, { tools: { exclude: ["*_file", "dr?p"] } }),
    web: scriptable({ tools: [] }),
  });
  const names = Object.fromEntries(source.servers().map((server) => [server.name, server.tools]));
  expect(names).toEqual({
    inc: ["mcp_inc_read_file", "mcp_inc_read_dir"],
    exc: ["mcp_exc_read_dir"],
    web: [],
  });
});

test("a server never takes the name of a toolset that exists", async () => {
  const { runtime } = await mcpRuntime({ web: scriptable(), all: scriptable() });
  const { toolsetAliases, byToolset } = runtime.registry.snapshot();
  expect([...toolsetAliases.keys()]).toEqual([]);
  expect([...byToolset.keys()].sort()).toEqual(["mcp-all", "mcp-web"]);
});

test("a program sees only the variables it may, filled in from ours; nothing it started is left behind", async () => {
  const { runtime, cwd } = await mcpRuntime(
    {
      s: scriptable(
        { stubborn: true },
        { env: { GIVEN: `a ${variable("MINE")} b`, API_TOKEN: variable("MINE") } },
      ),
    },
    { env: { MINE: "value-4711-secret", OTHER_KEY: "hidden", LC_TIME: "C", XDG_DATA_HOME: "/x" } },
  );
  const call = await caller(runtime);
  const seen = textOf(await call("mcp_s_act", { do: "env" }));
  // The value is a secret now, so it is masked in what comes back.
  expect(seen).not.toContain("value-4711-secret");
  expect(Object.keys(JSON.parse(seen)).sort()).toEqual([
    "API_TOKEN",
    "GIVEN",
    "HERMES_EXEC_ID",
    "HOME",
    "LC_TIME",
    "PATH",
    "XDG_DATA_HOME",
  ]);
  expect(textOf(await call("mcp_s_act", { do: "cwd" }))).toBe(cwd);
  const pid = Number(textOf(await call("mcp_s_act", { do: "pid" })));
  const child = Number(textOf(await call("mcp_s_act", { do: "child" })));
  expect([alive(pid), alive(child)]).toEqual([true, true]);
  await runtime.close();
  expect([alive(pid), alive(child)]).toEqual([false, false]);
});

test("a variable that is not set, a missing program and a switched-off server are told with what to do", async () => {
  const { source } = await mcpRuntime({
    unset: scriptable({}, { env: { A: variable("NOT_THERE") } }),
    gone: { command: "no-such-program-4711" },
    off: scriptable({}, { enabled: false }),
  });
  const [unset, gone, off] = source.servers();
  expect(unset).toMatchObject({
    state: "failed",
    reason: `env.A uses ${variable("NOT_THERE")}, which is not set`,
    fix: "set NOT_THERE in the environment or in .env",
  });
  expect(gone).toMatchObject({ state: "failed", reason: "the program no-such-program-4711 was not found" });
  expect(gone?.next_retry).toBeGreaterThan(Date.now() - 1_000);
  expect(off).toMatchObject({ state: "disabled" });
  expect((await until(source, "gone", ({ state }) => state === "parked")).next_retry).toBeGreaterThan(
    Date.now() + 200_000,
  );
  expect((await source.test("nobody")) ?? "none").toBe("none");
});

test("a program that ends again and again is given up after a while", async () => {
  const { source } = await mcpRuntime({ ends: scriptable({ exitAtStart: 7 }) });
  expect((await until(source, "ends", ({ state }) => state === "parked", 20_000)).reason).toBe(
    "it ended with exit code 7",
  );
});

test("a crash ends the calls in flight at once, says how, and the server is back within seconds", async () => {
  const { runtime, source } = await mcpRuntime({
    s: scriptable({}, { supports_parallel_tool_calls: true }),
    other: scriptable(),
  });
  const states: string[] = [];
  runtime.events.on(
    (event: RuntimeEvent) =>
      void (event.type === "source.changed" && states.push(`${event.source} ${event.state}`)),
  );
  const call = await caller(runtime);
  const slow = call("mcp_s_act", { do: "sleep", ms: 60_000 });
  const pid = Number(textOf(await call("mcp_s_act", { do: "pid" })));
  const startedAt = performance.now();
  process.kill(pid, "SIGKILL");
  const result = await slow;
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(result).toMatchObject({
    ok: false,
    error: { code: "failed", message: "MCP server s stopped while act was running" },
  });
  // A call that comes while it is down waits for it.
  expect(textOf(await call("mcp_s_echo", { text: "back" }))).toBe("back");
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(source.servers().map(({ state, restarts }) => [state, restarts])).toEqual([
    ["ready", 1],
    ["ready", 0],
  ]);
  expect(states).toEqual(["mcp:s failed", "mcp:s connecting", "mcp:s ready"]);
});

test("a hung server ends only its own call, at its timeout, and is started again", async () => {
  const { runtime, source } = await mcpRuntime({ s: scriptable({}, { timeout: 1 }), other: scriptable() });
  const call = await caller(runtime);
  const hung = call("mcp_s_act", { do: "sleep", ms: 60_000 });
  expect(textOf(await call("mcp_other_echo", { text: "fine" }))).toBe("fine");
  const result = await hung;
  expect(result.error?.code).toBe("timeout");
  const words =
    /^act on MCP server s gave no sign of life: given up after (\d+\.\d) s \(timeout is 1 s\)$/.exec(
      result.error?.message ?? "",
    );
  expect(Number(words?.[1]), result.error?.message).toBeGreaterThanOrEqual(1);
  // It answers when asked whether it is there, so it is left alone.
  expect(textOf(await call("mcp_s_echo", { text: "still here" }))).toBe("still here");
  expect(JSON.parse(textOf(await call("mcp_s_echo", { do: "echo", text: "[]" })))).toEqual([]);
  expect(source.servers()[0]).toMatchObject({ state: "ready", restarts: 0 });
});

test("progress keeps a call alive up to its largest time, and reaches whoever watches", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable({}, { timeout: 1, max_timeout: 2.5 }) });
  const seen: unknown[] = [];
  runtime.events.on(
    (event: RuntimeEvent) => void (event.type === "call.progress" && seen.push(event.progress)),
  );
  const call = await caller(runtime);
  expect(textOf(await call("mcp_s_act", { do: "progress", times: 12, everyMs: 100 }))).toBe("done");
  expect(seen).toContainEqual({ message: "step 9", fraction: 0.75 });
  const tooLong = await call("mcp_s_act", { do: "progress", times: 80, everyMs: 100 });
  expect(tooLong.error?.message).toMatch(
    /did not finish: given up after [23]\.?\d? s \(max_timeout is 2\.5 s\)/,
  );
});

test("cancelling a call cancels it on the server", async () => {
  const tools = ["act", "cancelled"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const { runtime } = await mcpRuntime({ s: scriptable({ tools }, { supports_parallel_tool_calls: true }) });
  const call = await caller(runtime);
  const controller = new AbortController();
  const slow = call("mcp_s_act", { do: "sleep", ms: 60_000 }, controller.signal);
  expect(JSON.parse(textOf(await call("mcp_s_cancelled")))).toEqual([]);
  controller.abort();
  expect((await slow).error?.code).toBe("cancelled");
  expect(JSON.parse(textOf(await call("mcp_s_cancelled")))).toHaveLength(1);
});

test("calls to one server run side by side only when it allows that, or when both only read", async () => {
  const tool = (name: string, annotations: object) => ({
    name,
    annotations,
    inputSchema: { type: "object" },
  });
  const tools = [tool("write", {}), tool("read", { readOnlyHint: true })];
  const { runtime } = await mcpRuntime({
    one: scriptable({ tools }),
    many: scriptable({ tools }, { supports_parallel_tool_calls: true }),
  });
  const call = await caller(runtime);
  const together = async (tools: readonly [string, string], patienceMs: number) => {
    const folder = tempDir();
    const results = await Promise.all(
      tools.map((tool, at) =>
        call(tool, { do: "meet", folder, me: `${at}`, other: `${1 - at}`, patienceMs }),
      ),
    );
    return results.map(textOf);
  };
  // Those that do not meet wait in vain for so long; those that do wait for nothing.
  expect(await together(["mcp_one_write", "mcp_one_read"], 150)).toEqual(["alone", "alone"]);
  for (const tools of [
    ["mcp_one_write", "mcp_many_write"],
    ["mcp_one_read", "mcp_one_read"],
    ["mcp_many_write", "mcp_many_write"],
  ] as const)
    expect(await together(tools, 10_000), tools.join()).toEqual(["met", "met"]);
});

test("what a server complains about is kept: the last lines, readable, without secrets", async () => {
  const { runtime, source } = await mcpRuntime(
    { s: scriptable({ secret: "value-4711-secret" }, { env: { SOME_TOKEN: variable("MINE") } }) },
    { env: { MINE: "value-4711-secret" } },
  );
  const call = await caller(runtime);
  await call("mcp_s_act", { do: "complain", lines: 100 });
  const { stderr } = await until(
    source,
    "s",
    (status) => status.stderr.at(-1)?.startsWith("complaint 100 ") === true,
  );
  expect(stderr).toHaveLength(20);
  expect(stderr[0]).toMatch(/^complaint 81 red (?!value)/);
  expect(stderr.join()).not.toContain("value-4711-secret");
});

test("frames that are none are passed over; a server that sends nothing else is ended and started again", async () => {
  const { runtime, source } = await mcpRuntime({ s: scriptable() });
  const call = await caller(runtime);
  expect(textOf(await call("mcp_s_act", { do: "garbage" }))).toBe("sent garbage");
  expect(textOf(await call("mcp_s_echo", { text: "still here" }))).toBe("still here");
  expect((await call("mcp_s_act", { do: "flood", megabytes: 4 })).ok).toBe(false);
  expect(textOf(await call("mcp_s_echo", { text: "back" }))).toBe("back");
  expect(source.servers()[0]?.restarts).toBe(1);
});

test("older servers that end when they are probed are greeted the old way, and are not probed again", async () => {
  const server = { s: scriptable({ exitOnProbe: true }) };
  const { source, home, runtime } = await mcpRuntime(server);
  expect(source.servers()[0]).toMatchObject({ state: "ready", protocol: "2025-11-25" });
  await runtime.close();
  const again = await mcpRuntime(server, { home, settle: false });
  const status = await until(again.source, "s", ({ state }) => state === "ready");
  expect(status.stderr).toEqual(["scriptable server is up"]);
});

test("tools are there at the next start before the server is, and the first call waits for it", async () => {
  // It is slow to list its tools, so that one can look before it is there.
  const slow = { s: scriptable({ capabilities: { prompts: {} }, listAfterMs: 400 }) };
  const { runtime, home } = await mcpRuntime(slow);
  const names = [...runtime.registry.snapshot().entries.keys()];
  expect(names).toEqual(["mcp_s_act", "mcp_s_echo", "mcp_s_get_prompt", "mcp_s_list_prompts"]);
  await runtime.close();
  const again = await mcpRuntime(slow, { home, settle: false });
  expect(again.source.servers()[0]?.state).toBe("connecting");
  expect([...again.registry.snapshot().entries.keys()]).toEqual(names);
  await again.runtime.sources.settled();
  expect(again.source.servers()[0]?.state).toBe("connecting");
  const call = await caller(again.runtime);
  expect(textOf(await call("mcp_s_echo", { text: "first" }))).toBe("first");
  await again.runtime.close();
  // Another program behind the same name: what was learned says nothing about it.
  const other = await mcpRuntime({ s: scriptable({ name: "another" }) }, { home, settle: false });
  expect([...other.registry.snapshot().entries.keys()]).toEqual([]);
});

test("a changed configuration restarts only what changed", async () => {
  const { runtime, source, file, home, cwd } = await mcpRuntime({
    same: scriptable(),
    changes: scriptable(),
    goes: scriptable(),
  });
  const call = await caller(runtime);
  const pid = textOf(await call("mcp_same_act", { do: "pid" }));
  const config = parse(readFileSync(file, "utf8"));
  const { goes, ...kept } = config.mcp_servers;
  kept.changes = { ...kept.changes, timeout: 7 };
  writeFileSync(file, stringify({ mcp_servers: { ...kept, comes: goes } }));
  const reloaded = await loadConfig({
    home,
    cwd,
    env: { PATH: process.env.PATH },
    systemDir: join(home, "none"),
  });
  await runtime.applyConfig(reloaded);
  await runtime.sources.settled();
  expect(
    source
      .servers()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["changes", "comes", "same"]);
  expect([...runtime.registry.snapshot().byToolset.keys()].sort()).toEqual([
    "mcp-changes",
    "mcp-comes",
    "mcp-same",
  ]);
  expect(textOf(await call("mcp_same_act", { do: "pid" }))).toBe(pid);
  expect(textOf(await call("mcp_changes_echo", { text: "new" }))).toBe("new");
});

test("slow and silent servers never hold up the start, nor the end", async () => {
  const startedAt = performance.now();
  const { runtime, source } = await mcpRuntime(
    { silent: scriptable({ silent: true }), s: scriptable() },
    { settle: false },
  );
  await until(source, "s", ({ state }) => state === "ready");
  expect(source.servers()[0]?.state).toBe("connecting");
  await runtime.close();
  expect(performance.now() - startedAt).toBeLessThan(6_000);
});

test("lists that never end are cut, with the reason", async () => {
  const { source } = await mcpRuntime({
    endless: scriptable({ endless: true }),
    loop: scriptable({ loop: true }),
  });
  const [endless, loop] = source.servers();
  expect(endless).toMatchObject({ state: "degraded", reason: "its list of tools has more than 50 pages" });
  expect(endless?.tools).toHaveLength(50);
  expect(loop).toMatchObject({
    state: "degraded",
    reason: "its list of tools leads back to a page that was there before",
  });
  expect(loop?.tools).toEqual(["mcp_loop_echo", "mcp_loop_act"]);
});

test("an address where nobody listens is told as that, with what to do", async () => {
  const { source } = await mcpRuntime({ gone: { url: `http://127.0.0.1:${await freePort()}/mcp` } });
  const look = () => JSON.stringify(source.servers()[0]);
  await expect.poll(look).toContain("nothing listens at its address");
  expect(look()).toContain("start the server");
});
