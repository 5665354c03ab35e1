import { describe, expect, it } from "vitest";
import { onTestEnd } from "../support/runtime.js";
import { EventClient } from "./event-client.js";
import { startServer, until } from "./support.js";

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly exit_code: number | null;
  readonly command: string;
}

const CALL_TOKEN = "call-token-0123456789-abcdefghijklmnop";

async function served() {
  const made = await startServer([], {
    runtime: { builtins: true, flags: { "server.call_token": CALL_TOKEN } },
  });
  const post = (path: string, body: unknown, init: RequestInit = {}) =>
    made.ask(path, { method: "POST", body: JSON.stringify(body), ...init });
  const call = async (name: string, args: unknown) => {
    const answer = await made.calls({ tool_calls: [{ id: "c1", function: { name, arguments: args } }] });
    const { tool_results } = (await answer.json()) as {
      tool_results: [{ content: Record<string, unknown> }];
    };
    return tool_results[0].content;
  };
  const start = async (command: string): Promise<string> =>
    String((await call("terminal", { command, background: true })).session_id);
  const list = async (query = "") =>
    ((await (await made.ask(`/v1/processes${query}`)).json()) as { processes: Listed[] }).processes;
  return { ...made, post, call, start, list };
}

describe("/v1/processes", () => {
  it("lists the processes of every session, one of them by its id", async () => {
    const { start, list, ask, runtime, cwd } = await served();
    expect(await list()).toEqual([]);
    const id = await start("echo hi; sleep 30");
    const other = await runtime.openSession({ cwd });
    await other.call({ name: "terminal", arguments: { command: "sleep 31", background: true } });
    expect((await list()).map(({ command }) => command)).toEqual(["echo hi; sleep 30", "sleep 31"]);
    expect(await list(`?id=${id}`)).toMatchObject([{ id, status: "running", exit_code: null }]);
    expect((await ask("/v1/processes?id=proc_none")).status).toBe(404);
  });

  it("shows what was printed", async () => {
    const { start, ask } = await served();
    const id = await start("seq 1 10; sleep 30");
    const log = await (await ask(`/v1/processes/log?id=${id}&limit=2`)).json();
    expect(log).toEqual({ id, status: "running", lines: ["9", "10"], total: 10, dropped: false });
    const head = await (await ask(`/v1/processes/log?id=${id}&limit=2&offset=0`)).json();
    expect(head).toMatchObject({ lines: ["1", "2"] });
    expect((await ask("/v1/processes/log")).status).toBe(400);
  });

  it("types through the policy like any other call", async () => {
    const { start, post } = await served();
    const id = await start("bash");
    const typed = await (
      await post("/v1/processes/input", { id, data: "echo $((40+2))", submit: true })
    ).json();
    expect(typed).toMatchObject({ ok: true, structured: { output: "42\n" } });
    const refused = await (await post("/v1/processes/input", { id, data: "rm -rf ..", submit: true })).json();
    expect(refused).toMatchObject({ ok: false, error: { code: "denied" } });
    expect((await post("/v1/processes/input", { id })).status).toBe(400);
    expect((await post("/v1/processes/input", { id, data: "x", status: 200, code: "y" })).status).toBe(400);
  });

  it("ends a process for the owner of the token only", async () => {
    const { start, post, list } = await served();
    const id = await start("sleep 30");
    const asCaller = { headers: { authorization: `Bearer ${CALL_TOKEN}` } };
    expect((await post("/v1/processes/kill", { id }, asCaller)).status).toBe(403);
    expect(await list(`?id=${id}`)).toMatchObject([{ status: "running" }]);
    expect(await (await post("/v1/processes/kill", { id })).json()).toMatchObject({
      process: { id, status: "exited", exit_code: -15 },
      survivors: [],
    });
    expect((await post("/v1/processes/kill", { id: "proc_none" })).status).toBe(404);
  });

  it("tells of starts, ends and notices as events", async () => {
    const { server, call } = await served();
    const client = await EventClient.open(server.url);
    onTestEnd(() => client.close());
    await call("terminal", { command: "sleep 0.3; exit 3", background: true, notify_on_complete: true });
    const seen = () =>
      client.events.map(({ data }) => data).filter(({ type }) => type.startsWith("process."));
    await until(() => seen().length === 3);
    expect(seen()).toMatchObject([
      { type: "process.started", command: "sleep 0.3; exit 3" },
      { type: "process.ended", exit_code: 3 },
      { type: "process.notice", kind: "completed" },
    ]);
  });
});
