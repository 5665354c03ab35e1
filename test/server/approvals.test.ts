import { describe, expect, it } from "vitest";
import { askAlways, riskyTool } from "../approvals/support.js";
import { onTestEnd } from "../support/runtime.js";
import { EventClient } from "./event-client.js";
import { requestText, sendRaw, startServer, TOKEN, until } from "./support.js";

const CALL_TOKEN = "call-token-0123456789-abcdefghijklmn";

interface Listed {
  readonly session_covers: readonly string[];
  readonly id: string;
  readonly hash: string;
  readonly signature: string;
  readonly what: string;
  readonly status: string;
}

async function askingServer(
  options: {
    readonly mode?: "queue" | "deny";
    readonly timeout?: number;
    readonly secret?: string;
    readonly journal?: boolean;
  } = {},
) {
  const { tool, ran } = riskyTool();
  const made = await startServer([tool], {
    runtime: {
      policy: askAlways,
      journal: options.journal ?? false,
      flags: {
        "approvals.unattended_mode": options.mode ?? "queue",
        "approvals.timeout": options.timeout ?? 60,
        "server.call_token": CALL_TOKEN,
      },
      ...(options.secret !== undefined && { env: { PATH: process.env.PATH, MY_SECRET: options.secret } }),
    },
  });
  const { ask } = made;
  const callRisky = (text: string, init: RequestInit = {}) =>
    made.calls({ tool_calls: [{ id: "c", function: { name: "risky", arguments: { text } } }] }, init);
  const pending = async (): Promise<readonly Listed[]> =>
    ((await (await ask("/v1/approvals")).json()) as { approvals: Listed[] }).approvals;
  const question = async (): Promise<Listed> => {
    await until(async () => (await pending()).length > 0, 25_000);
    const [first] = await pending();
    if (first === undefined) throw new Error("no question");
    return first;
  };
  const answer = (body: unknown, init: RequestInit = {}) =>
    ask("/v1/approvals", {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });
  return { ...made, ran, callRisky, pending, question, answer };
}

describe("approvals over HTTP", () => {
  it("a call waits until its question is answered, and runs", async () => {
    const { callRisky, question, answer, ran, pending } = await askingServer();
    const called = callRisky("do it");
    const { id, hash, signature, what } = await question();
    expect(what).toBe("do it");
    expect(ran).toEqual([]);
    const answered = await answer({ id, hash, signature, answer: "once" });
    expect(answered.status).toBe(200);
    expect(await answered.json()).toMatchObject({
      id,
      status: "approved",
      answer: "once",
      answered_by: "http",
    });
    expect(JSON.stringify(await (await called).json())).toContain('"done":5');
    expect(ran).toEqual(["do it"]);
    expect(await pending()).toEqual([]);
  });

  it("a yes for the session is for one call, because all clients share one session", async () => {
    const { callRisky, question, answer, ran } = await askingServer();
    for (const text of ["one", "two"]) {
      const called = callRisky(text);
      const { id, hash, what, session_covers } = await question();
      expect([what, session_covers]).toEqual([text, []]);
      expect((await answer({ id, hash, answer: "session" })).status).toBe(200);
      await called;
    }
    expect(ran).toEqual(["one", "two"]);
  });

  it("a denial reaches the caller with its reason", async () => {
    const { callRisky, question, answer, ran } = await askingServer();
    const called = callRisky("do it");
    const { id, hash } = await question();
    expect((await answer({ id, hash, answer: "deny", reason: "too late today" })).status).toBe(200);
    expect(JSON.stringify(await (await called).json())).toContain("too late today");
    expect(ran).toEqual([]);
  });

  it("unless the operator wants a queue, what needs approval is denied at once", async () => {
    const { callRisky, pending, ran } = await askingServer({ mode: "deny" });
    expect(JSON.stringify(await (await callRisky("do it")).json())).toContain("nobody can be asked here");
    expect(await pending()).toEqual([]);
    expect(ran).toEqual([]);
  });

  it("wrong answers are refused, each for its reason, and change nothing", async () => {
    const { callRisky, question, answer, ran } = await askingServer();
    const called = callRisky("do it");
    const { id, hash, signature } = await question();
    const right = { id, hash, answer: "once" };
    const attempts: readonly [unknown, number][] = [
      ["not json", 400],
      ["[]", 400],
      ["null", 400],
      [{}, 400],
      [{ ...right, answer: "yes" }, 400],
      [{ ...right, answer: undefined }, 400],
      [{ ...right, hash: undefined }, 400],
      [{ ...right, hash: [hash] }, 400],
      [{ ...right, by: "cli:root" }, 400],
      [{ ...right, widen: "yes" }, 400],
      [{ ...right, reason: "x".repeat(2_000) }, 400],
      [{ ...right, id: "apr_unknown" }, 404],
      [{ ...right, id: "' OR 1=1 --" }, 404],
      [{ ...right, hash: "0".repeat(64) }, 409],
      [{ ...right, signature: signature.replace(/^./, (first) => (first === "A" ? "B" : "A")) }, 409],
    ];
    for (const [body, status] of attempts) {
      const refused = await answer(body);
      expect([body, refused.status]).toEqual([body, status]);
      expect(await refused.json()).toMatchObject({ error: { message: expect.any(String) } });
    }
    expect(ran).toEqual([]);
    expect((await answer(right)).status).toBe(200);
    await called;
    expect((await answer(right)).status).toBe(409);
    expect((await answer({ ...right, answer: "deny" })).status).toBe(409);
    expect(ran).toEqual(["do it"]);
  });

  it("an answer after the caller has gone does nothing", async () => {
    const { callRisky, question, answer, ran, pending } = await askingServer();
    const leave = new AbortController();
    const called = callRisky("do it", { signal: leave.signal }).catch(() => undefined);
    const { id, hash } = await question();
    leave.abort();
    await called;
    await until(async () => (await pending()).length === 0);
    expect((await answer({ id, hash, answer: "once" })).status).toBe(409);
    expect(ran).toEqual([]);
  });

  it("events tell of the question and of its end, with secrets masked", async () => {
    const secret = "sk-very-secret-value-123456";
    const { server, callRisky, question, answer, pending } = await askingServer({ secret });
    const client = await EventClient.open(server.url);
    onTestEnd(() => client.close());
    const called = callRisky(`upload ${secret}`);
    const { id, hash, signature } = await question();
    await until(() => client.events.some(({ data }) => data.type === "approval.pending"));
    const event = client.events.find(({ data }) => data.type === "approval.pending")?.data;
    expect(event).toMatchObject({ id, hash, signature, tool: "risky", door: "http" });
    expect(JSON.stringify([event, await pending()])).not.toContain(secret);
    await answer({ id, hash, answer: "once" });
    await called;
    await until(() => client.events.some(({ data }) => data.type === "approval.settled"));
    expect(client.events.find(({ data }) => data.type === "approval.settled")?.data).toMatchObject({
      id,
      status: "consumed",
      by: "http",
    });
  });
});

describe("who may approve over HTTP", () => {
  it("the token for calls may call and read, and gets 403 for an answer", async () => {
    const { callRisky, question, answer, ask, ran } = await askingServer();
    const caller = { headers: { authorization: `Bearer ${CALL_TOKEN}` } };
    const called = callRisky("do it", caller);
    const { id, hash } = await question();
    expect((await ask("/v1/approvals", caller)).status).toBe(200);
    expect((await ask("/v1/tools", caller)).status).toBe(200);
    for (const choice of ["once", "session", "always", "deny"]) {
      const refused = await answer({ id, hash, answer: choice }, caller);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ error: { code: "forbidden" } });
    }
    expect(ran).toEqual([]);
    expect((await answer({ id, hash, answer: "once" })).status).toBe(200);
    await called;
    expect(ran).toEqual(["do it"]);
  });

  it("the token for calls opens no page, where a cookie would approve", async () => {
    const { server } = await askingServer();
    const answer = await fetch(`${server.url}?token=${CALL_TOKEN}`, { redirect: "manual" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  it("nobody else gets an answer in", async () => {
    const { port, server, question, callRisky, ran, pending } = await askingServer();
    const leave = new AbortController();
    const called = callRisky("do it", { signal: leave.signal }).catch(() => undefined);
    const { id, hash } = await question();
    const opened = await fetch(`${server.url}?token=${TOKEN}`, { redirect: "manual" });
    const cookie = `Cookie: ${opened.headers.get("set-cookie")?.split(";")[0]}`;
    const host = `Host: 127.0.0.1:${port}`;
    const owner = `Authorization: Bearer ${TOKEN}`;
    const body = JSON.stringify({ id, hash, answer: "once" });
    const length = `Content-Length: ${body.length}`;
    const attempts: readonly [readonly string[], number][] = [
      [[host], 401],
      [[host, "Authorization: Bearer wrong"], 401],
      [[host, `Authorization: Basic ${TOKEN}`], 401],
      [[host, `Authorization: Bearer ${CALL_TOKEN}`], 403],
      [[host, `Authorization: Bearer ${CALL_TOKEN}`, cookie, `Origin: http://127.0.0.1:${port}`], 403],
      [[host, cookie], 403],
      [[host, cookie, "Origin: http://attacker.example"], 403],
      [[host, cookie, "Origin: null"], 403],
      // Every port of the host receives the cookie; the page has something more.
      [[host, cookie, `Origin: http://127.0.0.1:${port}`, "Sec-Fetch-Site: same-origin"], 403],
      [[host, cookie, `Origin: http://127.0.0.1:${port}`, "X-Hermes-Page: forged"], 403],
      [[host, cookie, `Origin: http://127.0.0.1:${port}`, "Sec-Fetch-Site: cross-site"], 401],
      [["Host: attacker.example", owner], 403],
      [[host, owner, "Origin: http://attacker.example"], 403],
      [[host, `Cookie: hermes_${port}=forged`, `Origin: http://127.0.0.1:${port}`], 401],
    ];
    for (const [headers, status] of attempts) {
      const { status: got } = await sendRaw(
        port,
        requestText("POST /v1/approvals", [...headers, length], body),
      );
      expect([headers, got]).toEqual([headers, status]);
      if (status === 401) {
        const read = await sendRaw(port, requestText("GET /v1/approvals", headers));
        expect([headers, read.status]).toEqual([headers, 401]);
      }
    }
    expect((await pending()).map((one) => one.status)).toEqual(["pending"]);
    expect(ran).toEqual([]);
    const key = opened.headers.get("location")?.split("#answers=")[1];
    const page = [host, cookie, `Origin: http://127.0.0.1:${port}`, `X-Hermes-Page: ${key}`, length];
    const denial = JSON.stringify({ id, hash, answer: "deny" });
    expect(
      (await sendRaw(port, requestText("POST /v1/approvals", page, denial.padEnd(body.length)))).status,
    ).toBe(200);
    leave.abort();
    await called;
  });

  it("a server whose two tokens are one does not start", async () => {
    await expect(startServer([], { runtime: { flags: { "server.call_token": TOKEN } } })).rejects.toThrow(
      "approve their own calls",
    );
  });
});
