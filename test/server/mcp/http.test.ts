import { EventEmitter } from "node:events";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import { ClientSessions } from "../../../src/server/mcp/client-sessions.js";
import { McpEndpoint } from "../../../src/server/mcp/endpoint.js";
import { RecentEvents } from "../../../src/server/mcp/event-store.js";
import { McpSession } from "../../../src/server/mcp/mcp-session.js";
import { RunningRequests } from "../../../src/server/running-requests.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../../support/runtime.js";
import { requestText, sendRaw, startServer, TOKEN, until } from "../support.js";
import { countingTool } from "../tools.js";
import { accept, createClient, httpTransport } from "./support.js";

const CALL_TOKEN = "call-token-0123456789-abcdefghijklmnop";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const PING = { jsonrpc: "2.0", id: 2, method: "ping" };

const risky = defineTool({
  name: "risky",
  description: "Needs a yes.",
  permissions: ["file:write"],
  parameters: { type: "object", properties: { path: { type: "string" } } },
  effects: ({ path = "x" }) => [
    { action: "file:write", resource: `/${path}`, mode: "write", ask: { reason: "it is risky" } },
  ],
  handler: ({ path = "x" }) => `wrote ${path}`,
}) as AnyTool;

async function start(tools: readonly AnyTool[]) {
  const served = await startServer(tools, { runtime: { flags: { "server.call_token": CALL_TOKEN } } });
  const send = (body: unknown, { token = TOKEN, ...headers }: Record<string, string> = {}) =>
    fetch(new URL("mcp", served.server.url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...served, send };
}

/** A request of the 2026 revision as it is on the wire. */
function modern(name: string, params: Readonly<Record<string, unknown>>) {
  const body = {
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: {
      name,
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      },
    },
  };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  return [body, headers] as const;
}

describe("the MCP endpoint", () => {
  it("asks for the token and checks Host and Origin like every other address", async () => {
    const { tool, runs } = countingTool();
    const { port, send } = await start([tool]);
    expect((await send(PING, { token: "wrong" })).status).toBe(401);
    const host = `host: 127.0.0.1:${port}`;
    const authorization = `authorization: Bearer ${TOKEN}`;
    const body = JSON.stringify(INITIALIZE);
    const rest = ["content-type: application/json", "accept: application/json, text/event-stream"];
    const length = `content-length: ${body.length}`;
    for (const [status, headers] of [
      [401, [host]],
      [403, ["host: evil.example", authorization]],
      [403, [host, authorization, "origin: http://evil.example"]],
      [403, [host, authorization, "origin: null"]],
    ] as const) {
      for (const method of ["POST", "GET", "DELETE"]) {
        const text = requestText(`${method} /mcp`, [...headers, ...rest, length], body);
        expect((await sendRaw(port, text)).status, `${method} ${headers.join(", ")}`).toBe(status);
      }
    }
    expect(runs()).toBe(0);
  });

  it("refuses what is no message of the protocol, in the protocol's own words", async () => {
    const { send, ask } = await start([]);
    for (const [body, status, code] of [
      ["{", 400, -32_700],
      [PING, 400, -32_000],
    ] as const) {
      const answer = await send(body);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", error: { code } });
    }
    expect((await send(PING, { "mcp-session-id": "made-up" })).status).toBe(404);
    expect((await ask("/mcp", { method: "PUT" })).status).toBe(405);
    const described = (await (await ask("/openapi.json")).json()) as { paths: Record<string, object> };
    expect(Object.keys(described.paths["/mcp"] ?? {})).toEqual(["post", "get", "delete"]);
  });

  it("a session id is long and random, counts only with the token it was made for, and ends with DELETE", async () => {
    const { send, ask } = await start([]);
    const ids = await Promise.all(
      [1, 2].map(async () => (await send(INITIALIZE)).headers.get("mcp-session-id") ?? ""),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{43}$/);
    const [id = ""] = ids;
    const headers = { "mcp-session-id": id };
    expect((await send(PING, { ...headers, token: CALL_TOKEN })).status).toBe(404);
    expect((await send(PING, headers)).status).toBe(200);
    expect((await ask("/mcp", { method: "DELETE", headers })).status).toBe(200);
    expect((await send(PING, headers)).status).toBe(404);
  });

  it("clients of 2026 do not share a session with others: each named one, each program, each token has its own", async () => {
    const whose = defineTool({
      name: "whose",
      description: "Tells the session.",
      parameters: { type: "object" },
      handler: (_args, ctx) => ctx.session.id,
    }) as AnyTool;
    const { send } = await start([whose]);
    const sessionOf = async (headers: Record<string, string> = {}, program = "raw") => {
      const [body, more] = modern("whose", { arguments: {} });
      body.params._meta["io.modelcontextprotocol/clientInfo"].name = program;
      const answer = await (await send(body, { ...more, ...headers })).text();
      return /s_[\w-]+/.exec(answer)?.[0] ?? answer;
    };
    const all = await Promise.all([
      sessionOf(),
      sessionOf({}, "other"),
      sessionOf({ token: CALL_TOKEN }),
      sessionOf({ "x-hermes-session": "one" }),
      sessionOf({ "x-hermes-session": "two" }),
      sessionOf({ "x-hermes-session": "two", token: CALL_TOKEN }),
    ]);
    for (const id of all) expect(id).toMatch(/^s_/);
    expect(new Set(all).size).toBe(6);
    expect(await sessionOf()).toBe(all[0]);
    expect(await sessionOf({ "x-hermes-session": "two" }, "other")).toBe(all[4]);
    expect(await sessionOf({ "x-hermes-session": "no blank" })).toContain("X-Hermes-Session must be");
  });

  it("the token for calls runs tools, but nobody is asked through it", async () => {
    const { tool } = countingTool();
    const { server } = await start([tool, risky]);
    for (const revision of ["2025-11-25", "2026-07-28"] as const) {
      let asked = 0;
      const person = () => {
        asked += 1;
        return accept({ decision: "once" });
      };
      const caller = createClient({ revision, person });
      await caller.connect(httpTransport(server.url, CALL_TOKEN));
      expect(await caller.callTool({ name: "count", arguments: {} })).toMatchObject({ isError: false });
      const refused = await caller.callTool({ name: "risky", arguments: {} });
      expect(refused).toMatchObject({ isError: true, _meta: { "hermes-tools/error_code": "denied" } });
      expect(asked).toBe(0);
    }
  });

  it("an answer counts once, for the call that was shown, from the one who was asked", async () => {
    const { send } = await start([risky]);
    const request = async (params: Readonly<Record<string, unknown>>, more: Record<string, string> = {}) => {
      const [body, headers] = modern("risky", params);
      return (await (await send(body, { ...headers, ...more })).json()) as {
        result?: { requestState: string; inputRequests: Record<string, unknown>; content: unknown };
        error?: { code: number };
      };
    };
    const asked = await request({ arguments: { path: "a" } });
    const { requestState = "", inputRequests = {} } = asked.result ?? {};
    const [key = ""] = Object.keys(inputRequests);
    const answer = { requestState, inputResponses: { [key]: accept({ decision: "once" }) } };
    const invalid = { error: { code: -32_602 } };
    expect(await request({ arguments: { path: "b" }, ...answer })).toMatchObject(invalid);
    expect(await request({ arguments: { path: "a" }, ...answer }, { token: CALL_TOKEN })).toMatchObject(
      invalid,
    );
    expect(await request({ arguments: { path: "a" }, ...answer, requestState: "made-up" })).toMatchObject(
      invalid,
    );
    const ran = await request({ arguments: { path: "a" }, ...answer });
    expect(ran.result?.content).toEqual([{ type: "text", text: "wrote a" }]);
    expect(await request({ arguments: { path: "a" }, ...answer })).toMatchObject(invalid);
  });

  it("arguments that are nested too deep are refused like any other wrong ones", async () => {
    const { send } = await start([risky]);
    const [body, headers] = modern("risky", { arguments: { path: "DEEP" } });
    const nested = JSON.stringify(body).replace('"DEEP"', "[".repeat(20_000) + "]".repeat(20_000));
    expect(await (await send(nested, headers)).json()).toMatchObject({
      result: { isError: true, _meta: { "hermes-tools/error_code": "invalid_arguments" } },
    });
  });

  it("a client whose connection broke during a call comes back for the result", async () => {
    const slow = defineTool({
      name: "slow",
      description: "Takes a moment.",
      permissions: [],
      parameters: { type: "object", properties: {} },
      handler: () => new Promise<string>((resolve) => setTimeout(() => resolve("at last"), 100)),
    });
    const { send, ask, runtime } = await start([slow]);
    const session = (await send(INITIALIZE)).headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    let finished = 0;
    runtime.events.on(({ type }) => {
      if (type === "call.finished") finished += 1;
    });
    const call = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "slow", arguments: {} } };
    const reader = (await send(call, headers)).body?.getReader();
    const beginning = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    await until(() => finished === 1);
    const [, id = ""] = /^id: (\S+)$/m.exec(beginning) ?? [];
    const rest = await ask("/mcp", {
      headers: { ...headers, accept: "text/event-stream", "last-event-id": id },
    });
    const resumed = rest.body?.getReader();
    expect(new TextDecoder().decode((await resumed?.read())?.value)).toContain("at last");
    await resumed?.cancel();
    const unknown = await ask("/mcp", {
      headers: { ...headers, accept: "text/event-stream", "last-event-id": "999" },
    });
    expect(unknown.status).toBe(400);
  });

  it("reports of progress push no result out of what a client can come back for", async () => {
    const events = new RecentEvents();
    const stored = (message: object, stream = "call") => events.storeEvent(stream, message as JSONRPCMessage);
    const missedSince = async (id: string) => {
      const sent: unknown[] = [];
      const send = async (_id: string, message: unknown) => void sent.push(message);
      expect(await events.replayEventsAfter(id, { send })).toBe(await events.getStreamIdForEventId(id));
      return sent;
    };
    const report = (progress: number) => ({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 1, progress },
    });
    const beginning = await stored({});
    const first = await stored(report(0));
    const other = await stored({ jsonrpc: "2.0", id: 2, result: {} }, "another");
    for (let progress = 1; progress < 700; progress += 1) await stored(report(progress));
    const result = { jsonrpc: "2.0", id: 1, result: {} };
    await stored(result);
    expect(await missedSince(beginning)).toEqual([report(699), result]);
    expect(await missedSince(first)).toEqual([report(699), result]);
    expect(await missedSince(other)).toEqual([]);
    for (let id = 0; id < 600; id += 1) await stored({ jsonrpc: "2.0", id, result: {} });
    for (const unknown of [beginning, "999999_call", "call", "-1_call"])
      expect(await events.getStreamIdForEventId(unknown)).toBeUndefined();
  });

  it("a change of the tools that found no open stream is told when there is one", async () => {
    const { send, ask, registry } = await start([]);
    const session = (await send(INITIALIZE)).headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    await (await send({ jsonrpc: "2.0", id: 3, method: "tools/list" }, headers)).text();
    registry.add(risky);
    await new Promise((resolve) => setTimeout(resolve, 120));
    const stream = await ask("/mcp", { headers: { ...headers, accept: "text/event-stream" } });
    const reader = stream.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain(
      "notifications/tools/list_changed",
    );
    await reader?.cancel();
  });

  it("all who share a session hear of a change, also when one of them asks before it is told", async () => {
    const { registry, runtime } = await start([]);
    const live = new McpSession(runtime, { own: true });
    onTestEnd(() => live.close());
    let told = 0;
    live.onToolsChanged(() => {
      told += 1;
    });
    await live.tools();
    registry.add(risky);
    expect(await live.tools()).toHaveLength(1);
    await until(() => told === 1);
  });

  it("clients that come at the same moment get no more places than there are, and one that has gone holds none", async () => {
    const { runtime } = await testRuntime();
    const open = (sessions: number) => {
      const running = new RunningRequests();
      const endpoint = new McpEndpoint({ runtime, running, limits: { sessions, idleMs: 60_000 } });
      onTestEnd(() => endpoint.close());
      return async (outgoing: object) => {
        const headers = {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        };
        const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers });
        const made = { request, body: INITIALIZE, principal: "owner", outgoing: outgoing as never } as const;
        return (await endpoint.handle(made)).status;
      };
    };
    const enter = open(2);
    const together = await Promise.all([1, 2, 3, 4, 5].map(() => enter(new EventEmitter())));
    expect(together.sort()).toEqual([200, 200, 503, 503, 503]);
    const enterAlone = open(1);
    expect(await enterAlone(Object.assign(new EventEmitter(), { closed: true }))).toBe(200);
    expect(await enterAlone(new EventEmitter())).toBe(200);
  });

  it("there is room for so many sessions: the idlest gives way, one in use does not, and none is kept for ever", async () => {
    const ended: string[] = [];
    const sessions = new ClientSessions({ sessions: 2, idleMs: 40 });
    const add = (name: string) => {
      const id = sessions.newId();
      const close = async () => void ended.push(name);
      sessions.add(id, { transport: { close }, live: { close }, principal: "owner" } as never);
      return id;
    };
    let finish = () => undefined as unknown;
    const busy = { once: (_event: string, done: () => void) => (finish = done) } as never;
    const first = add("first");
    add("second");
    sessions.use(first, busy);
    expect(sessions.hasRoom()).toBe(true);
    expect(ended).toContain("second");
    const third = add("third");
    sessions.use(third, busy);
    expect(sessions.hasRoom()).toBe(false);
    expect(sessions.size).toBe(2);
    finish();
    await until(() => sessions.size === 1);
    expect(ended).toContain("third");
    sessions.close();
    expect(sessions.size).toBe(0);
  });
});
