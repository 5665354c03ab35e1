import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startServer, type TestServer, until } from "./support.js";

const CALL_TOKEN = "call-token-0123456789-abcdefghijklmnop";

type Headers = Record<string, string>;

async function served(limits: { sessions?: number; sessionIdleMs?: number } = {}) {
  const made = await startServer([], {
    limits,
    runtime: { builtins: true, flags: { "server.call_token": CALL_TOKEN } },
  });
  return { ...made, ...callers(made) };
}

function callers({ calls }: TestServer) {
  const send = (name: string, args: unknown, headers: Headers = {}) =>
    calls({ tool_calls: [{ id: "c1", function: { name, arguments: args } }] }, { headers });
  const call = async (name: string, args: unknown, headers: Headers = {}) => {
    const answer = (await (await send(name, args, headers)).json()) as {
      tool_results: [{ content: Record<string, unknown> }];
    };
    return answer.tool_results[0].content;
  };
  const run = async (command: string, headers: Headers = {}) =>
    String((await call("terminal", { command }, headers)).output).trim();
  return { send, call, run };
}

const named = (name: string): Headers => ({ "x-hermes-session": name });

describe("clients of one server", () => {
  it("have a session each: folder and variables are nobody else's, and stay under their name", async () => {
    const { run, cwd } = await served();
    mkdirSync(join(cwd, "inner"));
    await run("cd inner; export GREETING=hello", named("one"));
    expect(await run('pwd; echo "[$GREETING]"', named("one"))).toBe(`${join(cwd, "inner")}\n[hello]`);
    expect(await run('pwd; echo "[$GREETING]"', named("two"))).toBe(`${cwd}\n[]`);
    await run("cd inner; export GREETING=hello");
    expect(await run('pwd; echo "[$GREETING]"')).toBe(`${cwd}\n[]`);
  });

  it("do not find one another's session with another token", async () => {
    const { run, cwd } = await served();
    mkdirSync(join(cwd, "inner"));
    await run("cd inner", named("one"));
    const caller = { ...named("one"), authorization: `Bearer ${CALL_TOKEN}` };
    expect(await run("pwd", caller)).toBe(cwd);
  });

  it("do not wait for one another's commands, and reading does not wait for one's own", async () => {
    const { call, send, cwd } = await served();
    writeFileSync(join(cwd, "note.txt"), "fox\n");
    const gate = join(cwd, "gate");
    const waiting = `touch ${join(cwd, "begun")}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo through`;
    const running = send("terminal", { command: waiting }, named("one"));
    const { existsSync } = await import("node:fs");
    await until(() => existsSync(join(cwd, "begun")));
    const path = join(cwd, "note.txt");
    for (const headers of [named("one"), named("two"), {}]) {
      expect(JSON.stringify(await call("read_file", { path }, headers))).toContain("fox");
      expect(JSON.stringify(await call("directory_list", { path: cwd }, headers))).toContain("note.txt");
    }
    await call("write_file", { path: gate, content: "" }, named("two"));
    expect(await (await running).text()).toContain("through");
  });

  it("find a background program again under the name the answer gives", async () => {
    const { send, call } = await served();
    const quiet = await send("terminal", { command: "echo hi" });
    expect(quiet.headers.get("x-hermes-session")).toBe(null);
    const started = await send("terminal", { command: "echo up; sleep 60", background: true });
    const name = started.headers.get("x-hermes-session") ?? "";
    expect(name).not.toBe("");
    const listed = await call("process", { action: "list" }, named(name));
    expect(JSON.stringify(listed)).toContain("sleep 60");
    expect(JSON.stringify(await call("process", { action: "list" }))).not.toContain("sleep 60");
  });

  it("must give names that are names", async () => {
    const { send } = await served();
    for (const name of ["../x", "a b", "x".repeat(129)]) {
      const answer = await send("system_info", {}, named(name));
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });
});

describe("the sessions of a server", () => {
  it("are so many: the one that was idle longest gives way, and a full house says so", async () => {
    const { run, send, cwd } = await served({ sessions: 2 });
    mkdirSync(join(cwd, "inner"));
    await run("cd inner", named("one"));
    await run("cd inner", named("two"));
    await run("true", named("three"));
    expect(await run("pwd", named("two"))).toBe(join(cwd, "inner"));
    const gate = join(cwd, "gate");
    const waiting = `while [ ! -e ${gate} ]; do sleep 0.02; done`;
    const busy = ["two", "three"].map((name) => send("terminal", { command: waiting }, named(name)));
    await until(async () => (await send("system_info", {}, named("four"))).status === 503);
    expect((await send("system_info", {})).status).toBe(200);
    writeFileSync(gate, "");
    await Promise.all(busy);
    expect((await send("system_info", {}, named("four"))).status).toBe(200);
  });

  it("end when nobody has used them for a while, with what they have running", async () => {
    const { send, runtime } = await served({ sessionIdleMs: 50 });
    await send("terminal", { command: "sleep 60", background: true }, named("one"));
    expect(runtime.processes.list()).toHaveLength(1);
    await until(() => runtime.processes.list()[0]?.status !== "running");
  });
});
