import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type {
  AgentEvent,
  ApprovalsAnswer,
  CallAnswer,
  ReplayAnswer,
  SessionAnswer,
  SessionChangesAnswer,
  SessionsAnswer,
  UndoAnswer,
} from "../../../src/server/dashboard-types.js";
import { onTestEnd } from "../../support/runtime.js";
import type { Step } from "../../support/scripted-model/scenario.js";
import { startScriptedModel } from "../../support/scripted-model/server.js";
import { startServer, TOKEN, until } from "../support.js";
import { PAYLOADS } from "../xss-payloads.js";
import { CALL_TOKEN, jsonOf, openBrowser } from "./support.js";

const WRITES: readonly Step[] = [
  {
    text: "Let me write it.",
    calls: [{ id: "w1", name: "write_file", arguments: { path: "note.txt", content: "hello\n" } }],
  },
  { text: "The note is written." },
];

async function serverFor(steps: readonly Step[], tools: Parameters<typeof startServer>[0] = []) {
  const model = await startScriptedModel({ steps });
  onTestEnd(() => model.close());
  const started = await startServer(tools, {
    runtime: {
      builtins: true,
      journal: true,
      env: {
        PATH: process.env.PATH,
        HERMES_MODEL_PROVIDER: "compatible",
        HERMES_MODEL: "scripted",
        HERMES_MODEL_BASE_URL: model.url,
        HERMES_MODEL_API_KEY: "key-of-the-model-1234",
        HERMES_CALL_TOKEN: CALL_TOKEN,
      },
    },
  });
  return { ...started, browser: await openBrowser(started) };
}

interface Heard {
  readonly id: number;
  readonly event: AgentEvent;
}

function heardIn(text: string): readonly Heard[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => ({
      id: Number(/^id: (\d+)$/m.exec(block)?.[1]),
      event: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null") as AgentEvent,
    }));
}

async function turn(answer: Promise<Response>): Promise<{ session: string; heard: readonly Heard[] }> {
  const given = await answer;
  expect([given.status, given.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
  ]);
  return { session: given.headers.get("x-hermes-session") ?? "", heard: heardIn(await given.text()) };
}

describe("chat", () => {
  it("answers with the events of the turn, numbered, the last one is the result", async () => {
    const { browser, cwd } = await serverFor(WRITES);
    const { session, heard } = await turn(browser.post("/v1/chat", { text: "write a note" }));
    const types = heard.map(({ event }) => event.type);
    expect(types[0]).toBe("init");
    expect(types).toContain("tool_use");
    expect(types).toContain("tool_result");
    expect(heard.at(-1)?.event).toMatchObject({
      type: "result",
      stop: "end",
      text: "The note is written.",
      session,
    });
    expect(heard.map(({ id }) => id)).toEqual(heard.map((_, index) => index + 1));
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("hello\n");
    const again = await turn(browser.ask(`/v1/chat/${session}`));
    expect(again.heard).toEqual(heard);
    const rest = await turn(browser.ask(`/v1/chat/${session}?after=${heard.length - 1}`));
    expect(rest.heard.map(({ event }) => event.type)).toEqual(["result"]);
  });

  it("goes on when whoever began it has gone, is followed by whoever comes back, and is stopped", async () => {
    const seen = { started: 0, stopped: 0 };
    const waits = defineTool({
      name: "wait_here",
      description: "Waits until it is stopped",
      parameters: { type: "object", properties: {} },
      handler: (_args, ctx) =>
        new Promise<string>((resolve) => {
          seen.started += 1;
          ctx.signal.addEventListener("abort", () => {
            seen.stopped += 1;
            resolve("stopped");
          });
        }),
    });
    const { browser } = await serverFor(
      [{ calls: [{ id: "x", name: "wait_here", arguments: {} }] }],
      [waits],
    );
    const leave = new AbortController();
    const answer = await browser.ask("/v1/chat", {
      method: "POST",
      body: JSON.stringify({ text: "wait" }),
      headers: { origin: browser.origin },
      signal: leave.signal,
    });
    const session = answer.headers.get("x-hermes-session") ?? "";
    await until(() => seen.started === 1);
    leave.abort();
    expect((await browser.post("/v1/chat", { session, text: "more" })).status).toBe(409);
    const steered = await jsonOf(browser.post(`/v1/chat/${session}/steer`, { text: "hurry" }));
    expect(steered).toEqual({ running: true });
    expect(seen.stopped).toBe(0);
    const following = turn(browser.ask(`/v1/chat/${session}`));
    expect(await jsonOf(browser.post(`/v1/chat/${session}/stop`))).toEqual({ running: true });
    expect(seen.stopped).toBe(1);
    expect((await following).heard.at(-1)?.event).toMatchObject({ type: "result", stop: "interrupted" });
    expect(await jsonOf(browser.post(`/v1/chat/${session}/stop`))).toEqual({ running: false });
    expect(await jsonOf(browser.post(`/v1/chat/${session}/steer`, { text: "too late" }))).toEqual({
      running: false,
    });
    expect((await browser.post("/v1/chat/nobody/stop")).status).toBe(404);
  });

  it("questions of a turn wait where the page shows them", async () => {
    const { browser, cwd } = await serverFor([
      { calls: [{ id: "d1", name: "terminal", arguments: { command: "rm -rf build" } }] },
      { text: "Done." },
    ]);
    writeFileSync(join(cwd, "build"), "old");
    const running = turn(browser.post("/v1/chat", { text: "clean up" }));
    let approvals: ApprovalsAnswer = { approvals: [] };
    await until(async () => {
      approvals = await jsonOf<ApprovalsAnswer>(browser.ask("/v1/approvals"));
      return approvals.approvals.length === 1;
    });
    const [question] = approvals.approvals;
    expect(question).toMatchObject({ tool: "terminal", covers: { once: expect.any(String) } });
    expect(question?.covers.session).toContain("Until the session ends");
    expect(existsSync(join(cwd, "build"))).toBe(true);
    await jsonOf(browser.post("/v1/approvals", { id: question?.id, hash: question?.hash, answer: "once" }));
    const { heard, session } = await running;
    expect(heard.at(-1)?.event).toMatchObject({ stop: "end" });
    expect(question).toMatchObject({ conversation: session, call_id: "d1" });
    expect(existsSync(join(cwd, "build"))).toBe(false);
    const call = `/v1/calls/d1?conversation=${session}`;
    expect(await jsonOf<CallAnswer>(browser.ask(call))).toMatchObject({ call: { conversation: session } });
    expect((await browser.ask("/v1/calls/d1?conversation=c_other")).status).toBe(404);
  });

  it("takes pictures as data and refuses what is none", async () => {
    const { browser } = await serverFor([{ text: "A picture." }]);
    const picture = { data: "iVBORw0KGgo=", mimeType: "image/png" };
    const { heard } = await turn(browser.post("/v1/chat", { text: "look", images: [picture] }));
    expect(heard.at(-1)?.event).toMatchObject({ type: "result", text: "A picture." });
    for (const body of [
      {},
      { text: " " },
      { text: 1 },
      { text: "x", images: [{ ...picture, mimeType: "image/svg+xml" }] },
      { text: "x", images: [{ ...picture, data: "<script>" }] },
      { text: "x", images: Array.from({ length: 9 }, () => picture) },
      { text: "x", session: "../other" },
      { text: "x", more: 1 },
    ])
      expect([body, (await browser.post("/v1/chat", body)).status]).toEqual([body, 400]);
    expect((await browser.post("/v1/chat", { text: "x", session: "nobody" })).status).toBe(404);
    const withoutOrigin = await browser.ask("/v1/chat", { method: "POST", body: '{"text":"x"}' });
    expect(withoutOrigin.status).toBe(403);
  });
});

describe("conversations", () => {
  it("are listed, found by their words, read page by page and taken away as files", async () => {
    const { browser, ask } = await serverFor([{ text: "Good morning.", repeat: "always" }]);
    const ids: string[] = [];
    for (const text of ["tell me of foxes", "tell me of owls", PAYLOADS[0] ?? ""])
      ids.push((await turn(browser.post("/v1/chat", { text }))).session);
    const pages: string[] = [];
    let path = "/v1/sessions?limit=2";
    for (;;) {
      const page = await jsonOf<SessionsAnswer>(browser.ask(path));
      pages.push(...page.sessions.map(({ id }) => id));
      if (page.next_before === undefined) break;
      path = `/v1/sessions?limit=2&before=${encodeURIComponent(page.next_before)}`;
    }
    expect(pages).toEqual([...ids].reverse());
    const found = await jsonOf<SessionsAnswer>(browser.ask("/v1/sessions?q=owls"));
    expect(found.sessions.map(({ id }) => id)).toEqual([ids[1]]);
    expect(found.found?.[0]).toMatchObject({ session: ids[1], role: "user" });
    const first = await jsonOf<SessionAnswer>(browser.ask(`/v1/sessions/${ids[0]}?limit=1`));
    expect(first.messages).toHaveLength(1);
    const next = await jsonOf<SessionAnswer>(browser.ask(`/v1/sessions/${ids[0]}?after=${first.next_after}`));
    expect([...first.messages, ...next.messages].length).toBe(first.total);
    expect(next.next_after).toBeUndefined();
    const tail = await jsonOf<SessionAnswer>(browser.ask(`/v1/sessions/${ids[0]}?last=1&limit=1`));
    expect(tail.messages[0]).toMatchObject({ role: "assistant", content: "Good morning." });
    for (const [format, holds] of [
      ["jsonl", '"type":"session"'],
      ["md", "## user"],
      ["tape", ids[0] ?? ""],
    ] as const) {
      const file = await ask(`/v1/sessions/${ids[0]}/export?format=${format}`);
      expect([format, file.status]).toEqual([format, 200]);
      expect(file.headers.get("content-disposition")).toContain("attachment");
      expect(await file.text()).toContain(holds);
    }
    expect((await ask(`/v1/sessions/${ids[0]}/export?format=exe`)).status).toBe(400);
    expect((await ask("/v1/sessions/nobody")).status).toBe(404);
    expect((await ask("/v1/sessions?before=x")).status).toBe(400);
    const key = { origin: browser.origin, "x-hermes-page": browser.key };
    const gone = await browser.ask(`/v1/sessions/${ids[0]}`, { method: "DELETE", headers: key });
    expect(gone.status).toBe(200);
    expect((await ask(`/v1/sessions/${ids[0]}`)).status).toBe(404);
  });

  it("belong to the token they were begun with; the owner sees all", async () => {
    const { ask, browser } = await serverFor([{ text: "Hello.", repeat: "always" }]);
    const caller = { authorization: `Bearer ${CALL_TOKEN}` };
    const mine = (await turn(browser.post("/v1/chat", { text: "of the owner" }))).session;
    const theirs = (
      await turn(ask("/v1/chat", { method: "POST", body: '{"text":"of a program"}', headers: caller }))
    ).session;
    const listFor = async (headers: Record<string, string>, query = "") =>
      (await jsonOf<SessionsAnswer>(ask(`/v1/sessions${query}`, { headers }))).sessions.map(({ id }) => id);
    expect(await listFor({ authorization: `Bearer ${TOKEN}` })).toEqual([theirs, mine]);
    expect(await listFor(caller)).toEqual([theirs]);
    expect(await listFor(caller, "?q=owner")).toEqual([]);
    for (const path of ["", "/export", "/changes", "/replay"]) {
      expect((await ask(`/v1/sessions/${mine}${path}`, { headers: caller })).status).toBe(404);
      expect((await ask(`/v1/sessions/${theirs}${path}`, { headers: caller })).status).toBe(200);
    }
    expect((await ask(`/v1/chat/${mine}`, { headers: caller })).status).toBe(404);
    const stop = await ask(`/v1/chat/${mine}/stop`, { method: "POST", headers: caller });
    expect(stop.status).toBe(404);
  });

  it("are replayed by today's rules, and nothing runs", async () => {
    const { browser, ask, cwd } = await serverFor(WRITES);
    const { session } = await turn(browser.post("/v1/chat", { text: "write a note" }));
    writeFileSync(join(cwd, "note.txt"), "changed since");
    const answer = await jsonOf<ReplayAnswer>(browser.ask(`/v1/sessions/${session}/replay`));
    expect(answer).toEqual({ session, calls: 1, same: 1, different: [], unknown: 0 });
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("changed since");
    expect((await ask("/v1/sessions/nobody/replay")).status).toBe(404);
  });

  it("of long messages the last ones are given, when those are asked for", async () => {
    const long = "x".repeat(60_000);
    const { browser } = await serverFor([{ text: `${long} last`, repeat: "always" }]);
    const { session } = await turn(browser.post("/v1/chat", { text: "one" }));
    for (let index = 0; index < 19; index += 1)
      await turn(browser.post("/v1/chat", { session, text: `${long} ${index}` }));
    const tail = await jsonOf<SessionAnswer>(browser.ask(`/v1/sessions/${session}?last=1&limit=500`));
    expect(tail.messages.length).toBeLessThan(tail.total);
    const newest = await jsonOf<SessionAnswer>(browser.ask(`/v1/sessions/${session}?last=1&limit=1`));
    expect(tail.messages.at(-1)?.id).toBe(newest.messages[0]?.id);
  });

  it("what their calls did to files is shown side by side and taken back", async () => {
    const { browser, cwd } = await serverFor(WRITES);
    writeFileSync(join(cwd, "note.txt"), "before\n");
    const { session } = await turn(browser.post("/v1/chat", { text: "write a note" }));
    const { changes } = await jsonOf<SessionChangesAnswer>(browser.ask(`/v1/sessions/${session}/changes`));
    expect(changes).toMatchObject([
      { tool: "write_file", call: "w1", kind: "write", existed: true, before: "before\n", now: "hello\n" },
    ]);
    const dry = await jsonOf<UndoAnswer>(browser.post(`/v1/sessions/${session}/undo`, { dry_run: true }));
    expect(dry.restored[0]?.outcome).toBe("would-restore");
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("hello\n");
    const none = await jsonOf<UndoAnswer>(browser.post(`/v1/sessions/${session}/undo`, { changes: [] }));
    expect(none.restored).toEqual([]);
    const undone = await jsonOf<UndoAnswer>(browser.post(`/v1/sessions/${session}/undo`));
    expect(undone.restored[0]).toMatchObject({ outcome: "restored" });
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("before\n");
    expect((await browser.post(`/v1/sessions/${session}/undo`, { changes: ["all"] })).status).toBe(400);
  });
});
