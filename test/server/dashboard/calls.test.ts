import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type { CallAnswer, CallsAnswer, RunAnswer } from "../../../src/server/dashboard-types.js";
import { startServer, type TestServer } from "../support.js";
import { echo } from "../tools.js";
import { PAYLOADS } from "../xss-payloads.js";
import { jsonOf, openBrowser } from "./support.js";

const failing = defineTool({
  name: "fail",
  toolset: "failing",
  description: "Fails.",
  permissions: [],
  parameters: { type: "object", properties: {} },
  handler: () => {
    throw new Error("it broke");
  },
});

/** Makes calls of its own. */
const outer = defineTool({
  name: "outer",
  toolset: "nesting",
  description: "Calls echo twice.",
  permissions: [],
  parameters: { type: "object", properties: {} },
  handler: async (_args, ctx) => {
    const tools = ctx.openTools();
    await tools.call({ name: "echo", arguments: { text: "inner one" } });
    await tools.call({ name: "echo", arguments: { text: "inner two" } });
    return "done";
  },
});

async function serverWithCalls(): Promise<TestServer> {
  const started = await startServer([echo, failing, outer], { runtime: { journal: true } });
  for (let number = 1; number <= 5; number += 1) await call(started, "echo", { text: `say ${number}` });
  await call(started, "fail", {});
  return started;
}

function call({ calls }: TestServer, name: string, given: unknown) {
  return calls({ tool_calls: [{ id: "c", function: { name, arguments: given } }] });
}

describe("GET /v1/calls", () => {
  it("gives lines without bodies, page by page, each call once", async () => {
    const { ask } = await serverWithCalls();
    const seen: number[] = [];
    let path = "/v1/calls?brief=1&limit=4";
    for (;;) {
      const { calls, next_before: next } = await jsonOf<CallsAnswer>(ask(path));
      seen.push(...calls.map(({ seq }) => seq));
      if (next === undefined) break;
      path = `/v1/calls?brief=1&limit=4&before=${next}`;
    }
    expect(seen).toEqual([...seen].sort((a, b) => b - a));
    expect([seen.length, new Set(seen).size]).toEqual([6, 6]);
    const { calls } = await jsonOf<CallsAnswer>(ask("/v1/calls?brief=1"));
    expect(Object.keys(calls[0] ?? {})).not.toContain("args");
    expect(calls[0]).toMatchObject({ tool: "fail", status: "error", door: "http", preview: "{}" });
  });

  it("filters by status, tool, door and words", async () => {
    const { ask } = await serverWithCalls();
    const count = async (query: string) =>
      (await jsonOf<CallsAnswer>(ask(`/v1/calls?brief=1&${query}`))).calls.length;
    expect(await count("status=error")).toBe(1);
    expect(await count("tool=echo")).toBe(5);
    expect(await count("door=cli")).toBe(0);
    expect(await count("q=say%203")).toBe(1);
    expect(await count("tool=echo&status=error")).toBe(0);
    expect((await ask("/v1/calls?status=nice")).status).toBe(400);
    expect((await ask("/v1/calls?limit=100000")).status).toBe(400);
  });

  it("a preview is short however long the arguments are", async () => {
    const started = await serverWithCalls();
    await call(started, "echo", { text: "x".repeat(50_000) });
    const answer = await started.ask("/v1/calls?brief=1");
    const text = await answer.text();
    expect(text.length).toBeLessThan(10_000);
    expect((JSON.parse(text) as CallsAnswer).calls[0]?.preview.length).toBe(200);
  });
});

describe("GET /v1/calls/:id", () => {
  it("tells arguments, result, the rules of today and how to call it from a terminal", async () => {
    const { ask } = await serverWithCalls();
    const { calls } = await jsonOf<CallsAnswer>(ask("/v1/calls?brief=1&tool=echo"));
    const one = await jsonOf<CallAnswer>(ask(`/v1/calls/${calls[0]?.seq}`));
    expect(one.call).toMatchObject({ tool: "echo", args: { text: "say 5" }, effects: [], status: "ok" });
    expect(one.call).not.toHaveProperty("owner");
    expect(one.result?.text).toContain("say 5");
    expect(one.result?.complete).toBe(true);
    expect(one.trace_of).toBe("now");
    expect(one.command).toMatch(/ call 'echo' '\{"text":"say 5"\}'$/);
    const byId = await jsonOf<CallAnswer>(ask(`/v1/calls/${calls[0]?.call_id}`));
    expect(byId.call.tool).toBe("fail");
    expect((await ask("/v1/calls/999999")).status).toBe(404);
    expect((await ask("/v1/calls/nobody")).status).toBe(404);
  });

  it("tells the calls that a call has made, in their order", async () => {
    const started = await serverWithCalls();
    await call(started, "outer", {});
    const { calls } = await jsonOf<CallsAnswer>(started.ask("/v1/calls?brief=1&tool=outer"));
    const one = await jsonOf<CallAnswer>(started.ask(`/v1/calls/${calls[0]?.seq}`));
    expect(one.children.map(({ preview }) => preview)).toEqual([
      '{"text":"inner one"}',
      '{"text":"inner two"}',
    ]);
    const other = await jsonOf<CallAnswer>(started.ask("/v1/calls/1"));
    expect(other.children).toEqual([]);
  });

  it("payloads come as JSON and nothing else", async () => {
    const started = await serverWithCalls();
    for (const payload of PAYLOADS.slice(0, 10)) await call(started, "echo", { text: payload });
    for (const path of ["/v1/calls?brief=1", "/v1/calls/10", "/v1/calls/x%3Cscript%3E"]) {
      const answer = await started.ask(path);
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(typeof JSON.parse(await answer.text())).toBe("object");
    }
  });
});

describe("POST /v1/calls/:id/again", () => {
  it("runs the call once more through the whole path", async () => {
    const started = await serverWithCalls();
    const browser = await openBrowser(started);
    const { result } = await jsonOf<RunAnswer>(browser.post("/v1/calls/2/again"));
    expect(result).toMatchObject({ name: "echo", ok: true, state: "done", structured: { text: "say 2" } });
    const { calls } = await jsonOf<CallsAnswer>(started.ask("/v1/calls?brief=1"));
    expect(calls[0]).toMatchObject({ tool: "echo", door: "http", preview: '{"text":"say 2"}' });
  });

  it("runs nothing when a secret stood in the arguments or a part of them is gone", async () => {
    const started = await serverWithCalls();
    started.runtime.secrets.add("SOME_KEY", "s3cr3t-value-of-somebody");
    await call(started, "echo", { text: "with s3cr3t-value-of-somebody" });
    const { calls } = await jsonOf<CallsAnswer>(started.ask("/v1/calls?brief=1"));
    expect(JSON.stringify(calls)).not.toContain("s3cr3t-value");
    const browser = await openBrowser(started);
    const answer = await browser.post(`/v1/calls/${calls[0]?.seq}/again`);
    expect(answer.status).toBe(409);
    const long = "y".repeat(200_000);
    await call(started, "echo", { text: long });
    const newest = (await jsonOf<CallsAnswer>(started.ask("/v1/calls?brief=1"))).calls[0]?.seq;
    expect((await browser.post(`/v1/calls/${newest}/again`)).status).toBe(409);
    const whole = await jsonOf<CallAnswer>(started.ask(`/v1/calls/${newest}`));
    expect(whole.trace_missing).toContain("arguments");
    expect(JSON.stringify(whole).length).toBeLessThan(400_000);
  });
});
