import { describe, expect, it } from "vitest";
import { defineTool, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

/** Tells when it has begun, then works until it is told to stop. */
function worker(begun: () => void, extra: Partial<AnyTool> = {}): AnyTool {
  return {
    ...defineTool({
      name: "worker",
      description: "Works until it is told to stop",
      parameters: { type: "object", properties: { path: { type: "string" } } },
      permissions: ["file:write"],
      effects: ({ path = "out.txt" }) => [{ action: "file:write", resource: path, mode: "write" }],
      handler: (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ written: 3 }), { once: true });
          begun();
        }),
    }),
    ...extra,
  } as AnyTool;
}

async function interruptedOnce(extra: Partial<AnyTool> = {}) {
  const controller = new AbortController();
  const { runtime, home } = await testRuntime([worker(() => controller.abort(), extra)], { journal: true });
  const finished: unknown[] = [];
  runtime.events.on((event) => {
    if (event.type === "call.finished") finished.push(event);
  });
  const session = await runtime.openSession({ profile: "full_developer" });
  const results = await session.callAll(
    [
      { id: "a", name: "worker", arguments: { path: "a.txt" } },
      { id: "b", name: "worker", arguments: { path: "a.txt" } },
    ],
    { signal: controller.signal },
  );
  return { results, runtime, home, finished };
}

describe("how far an interrupted call came", () => {
  it("a call that ran says so, names its effects and what it still gave; one that did not is skipped", async () => {
    const { results, runtime, finished } = await interruptedOnce();
    const [ran, skipped] = results;
    expect(ran).toMatchObject({
      ok: false,
      state: "partial",
      error: { code: "cancelled", message: "interrupted after it began" },
      structured: { written: 3 },
    });
    expect(ran?.error?.hint).toMatch(/all, some or none of this: file:write .*a\.txt/);
    expect(JSON.parse(textOf(ran?.content ?? []))).toMatchObject({ until_then: { written: 3 } });
    expect(skipped).toMatchObject({
      state: "not_started",
      error: { code: "cancelled", message: "skipped due to user interrupt" },
    });
    expect(finished).toMatchObject([
      { id: "a", state: "partial" },
      { id: "b", state: "not_started" },
    ]);
    const rows = await (await runtime.journal()).recent({ limit: 2 });
    expect(Object.fromEntries(rows.map(({ call_id, state }) => [call_id, state]))).toEqual({
      a: "partial",
      b: "not_started",
    });
  });

  it("one that only reads says that it can be called again", async () => {
    const { results } = await interruptedOnce({ effects: () => [] });
    expect(results[0]?.error?.hint).toContain("only reads");
  });

  it("a timeout tells what may have happened too", async () => {
    const { runtime } = await testRuntime([worker(() => undefined, { timeoutMs: 20 })]);
    const session = await runtime.openSession({ profile: "full_developer" });
    const result = await session.call({ name: "worker", arguments: { path: "a.txt" } });
    expect(result).toMatchObject({ state: "partial", error: { code: "timeout" } });
    expect(result.error?.hint).toMatch(/file:write .*a\.txt/);
  });

  it("what ends before the handler has not started; what ends well is done", async () => {
    const { runtime } = await testRuntime([
      defineTool({
        name: "echo",
        description: "Echo",
        parameters: { type: "object", properties: { x: { type: "number" } } },
        handler: () => "done",
      }) as AnyTool,
    ]);
    const session = await runtime.openSession();
    expect(await session.call({ name: "echo", arguments: { x: "no" } })).toMatchObject({
      state: "not_started",
    });
    expect(await session.call({ name: "nosuch" })).toMatchObject({ state: "not_started" });
    expect(await session.call({ name: "echo" })).toMatchObject({ ok: true, state: "done" });
  });
});
