import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BaseTool, defineTool, textOf, toolFromBase } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, expectWellFormed, tool, within } from "./support.js";

expectNoUnheardRejections();

const timed = defineTool({
  name: "timed",
  description: "takes its time",
  parameters: {
    type: "object",
    properties: { ms: { type: "integer" }, limit: { type: "integer", default: 5000 } },
  },
  timeoutMs: ({ limit }) => limit,
  async handler({ ms }, ctx) {
    await wait(ms, undefined, { signal: ctx.signal });
    return `took ${ms}`;
  },
}) as AnyTool;

describe("lesson 33: a deadline belongs to a call, never to its batch", () => {
  it("slow ones time out one by one; the others' results are there, in order", async () => {
    const { runtime } = await testRuntime([timed]);
    const session = await runtime.openSession();
    const plan = [0, 400, 1, 400, 2, 3, 400, 4];
    const results = await session.callAll(
      plan.map((ms, index) => ({ id: `c${index}`, name: "timed", arguments: { ms, limit: 100 } })),
    );
    expect(results.map((result) => result.id)).toEqual(plan.map((_ms, index) => `c${index}`));
    expect(results.map((result) => result.error?.code ?? textOf(result.content))).toEqual(
      plan.map((ms) => (ms > 100 ? "timeout" : `took ${ms}`)),
    );
  });

  it("an interrupt keeps what is done, ends what runs and answers what never began", async () => {
    const { runtime } = await testRuntime([timed], { journal: true, flags: { "tools.max_workers": 2 } });
    const session = await runtime.openSession();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 150);
    const results = await session.callAll(
      [1, 2_000, 2, 2_000, 3, 4].map((ms) => ({ name: "timed", arguments: { ms } })),
      { signal: controller.signal },
    );
    expect(results.map((result) => result.error?.code ?? "ok")).toEqual([
      "ok",
      "cancelled",
      "ok",
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    const rows = await (await runtime.journal()).recent({ limit: 10 });
    expect(rows.map((row) => row.status).sort()).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
      "cancelled",
      "ok",
      "ok",
    ]);
  });

  it("an interrupt while calls wait for each other leaves no lock behind", async () => {
    const writer = tool("writer", () => wait(50, "wrote"), {
      effects: () => [{ action: "memory:write", resource: "one", mode: "write" }],
    });
    const { runtime } = await testRuntime([writer]);
    const session = await runtime.openSession();
    const controller = new AbortController();
    const waiting = Array.from({ length: 20 }, () =>
      session.call({ name: "writer" }, { signal: controller.signal }),
    );
    await wait(20);
    controller.abort();
    const ended = await Promise.all(waiting);
    expect(new Set(ended.map((result) => result.error?.code))).toEqual(new Set(["cancelled"]));
    const after = await within(2_000, session.call({ name: "writer" }));
    expect(after !== "hangs" && after.ok).toBe(true);
  });

  it("a call made from inside another waits for strangers and never for its parent, whatever their ids", async () => {
    const log: string[] = [];
    const effects = () => [{ action: "memory:write" as const, resource: "one", mode: "write" as const }];
    const inner = tool(
      "inner",
      async (args) => {
        log.push(`begin ${(args as { x: string }).x}`);
        await wait(20);
        log.push(`end ${(args as { x: string }).x}`);
        return "ok";
      },
      { effects },
    );
    const { runtime, registry } = await testRuntime([inner]);
    const outer = tool(
      "outer",
      async (_args, ctx) => {
        const own = sessions.find((session) => session.id === ctx.session.id);
        return own
          ?.openChild({ insideCall: ctx.callId })
          .call({ name: "inner", arguments: { x: ctx.session.id } });
      },
      { effects: () => [{ action: "memory:write", resource: "two", mode: "write" }] },
    );
    registry.add(outer);
    const sessions = await Promise.all([runtime.openSession(), runtime.openSession()]);
    const results = await within(
      5_000,
      Promise.all(sessions.map((session) => session.call({ id: "call_1", name: "outer" }))),
    );
    expect(results).not.toBe("hangs");
    for (let index = 0; index < log.length; index += 2) {
      expect(log[index]?.replace("begin", "end")).toBe(log[index + 1]);
    }
    const nested = await within(
      2_000,
      sessions[0]?.call({ id: "call_1", name: "inner", arguments: { x: "z" } }) ?? Promise.reject(),
    );
    expect(nested !== "hangs" && nested.ok).toBe(true);
  });
});

describe("the world changes while calls run", () => {
  it("tools added, replaced and removed by a running call do not disturb its batch (law 9)", async () => {
    const { runtime, registry } = await testRuntime([tool("victim", () => wait(30, "old victim"))]);
    const mutator = tool("mutator", () => {
      registry.add(tool("victim", () => "new victim"));
      registry.add(tool("newcomer", () => "hello"));
      registry.deregister("bystander");
      return "changed";
    });
    registry.add(mutator);
    registry.add(tool("bystander", () => "still here"));
    const session = await runtime.openSession();
    const results = await session.callAll([
      { name: "victim" },
      { name: "mutator" },
      { name: "newcomer" },
      { name: "bystander" },
    ]);
    for (const result of results) expectWellFormed(result);
    expect(textOf(results[0]?.content ?? [])).toBe("old victim");
    expect(results[1]?.ok).toBe(true);
    expect(results[2]?.ok).toBe(false);
  });

  it("a handler that opens sessions, closes its own and calls itself without end is stopped by its deadline", async () => {
    const { runtime, registry } = await testRuntime([]);
    let depth = 0;
    const recursive: AnyTool = tool(
      "recursive",
      async (_args, ctx): Promise<string> => {
        depth += 1;
        if (depth > 200) return "deep enough";
        const session = await runtime.openSession();
        const inner = await session.call({ name: "recursive" }, { signal: ctx.signal });
        session.close();
        return textOf(inner.content);
      },
      { timeoutMs: 5_000 },
    );
    registry.add(recursive);
    const session = await runtime.openSession();
    const result = await session.call({ name: "recursive" });
    expectWellFormed(result);
    expect(textOf(result.content)).toBe("deep enough");
  });

  it("a session closed in the middle of a call still gets its result; later calls are refused", async () => {
    const { runtime } = await testRuntime([timed]);
    const session = await runtime.openSession();
    const running = session.call({ name: "timed", arguments: { ms: 50 } });
    session.close();
    expect(textOf((await running).content)).toBe("took 50");
    await expect((async () => session.call({ name: "timed", arguments: { ms: 0 } }))()).rejects.toThrow(
      /closed/,
    );
    await expect((async () => session.callAll([{ name: "timed" }]))()).rejects.toThrow(/closed/);
  });

  it("a runtime closed in the middle of calls: each is answered, and nothing new begins", async () => {
    let ran = 0;
    const counted = tool(
      "counted",
      async () => {
        ran += 1;
        await wait(100);
        return "done";
      },
      { effects: () => [{ action: "memory:write", resource: "one", mode: "write" }] },
    );
    const { runtime } = await testRuntime([counted], { journal: true });
    const session = await runtime.openSession();
    const running = Array.from({ length: 5 }, () => session.call({ name: "counted" }));
    await wait(30);
    await runtime.close();
    const results = await within(5_000, Promise.all(running));
    if (results === "hangs") throw new Error("closing left calls without an answer");
    for (const result of results) expectWellFormed(result);
    const before = ran;
    const late = await session.call({ name: "counted" }).catch((error: Error) => error);
    expect(late instanceof Error || late.ok === false).toBe(true);
    expect(ran).toBe(before);
  });

  it("closing does not hang on a tool whose setup or teardown never ends", async () => {
    class Stuck extends BaseTool {
      readonly name = "stuck";
      readonly description = "never ready";
      readonly parameters = { type: "object" } as const;
      override readonly timeoutMs = 50;
      override setup() {
        return new Promise<void>(() => undefined);
      }
      run() {
        return "never";
      }
    }
    const { runtime } = await testRuntime([toolFromBase(new Stuck())]);
    const session = await runtime.openSession();
    const result = await session.call({ name: "stuck" });
    expect(result.error?.code).toBe("timeout");
    expect(await within(15_000, runtime.close())).not.toBe("hangs");
  }, 40_000);

  it("a tool that is taken out of the registry gives back what it holds", async () => {
    let torn = 0;
    class Holder extends BaseTool {
      readonly name = "holder";
      readonly description = "holds something";
      readonly parameters = { type: "object" } as const;
      run() {
        return "ok";
      }
      override teardown() {
        torn += 1;
      }
    }
    const { runtime, registry } = await testRuntime([toolFromBase(new Holder())]);
    const session = await runtime.openSession();
    await session.call({ name: "holder" });
    registry.deregister("holder");
    await wait(10);
    expect(torn).toBe(1);
    await runtime.close();
    expect(torn).toBe(1);
  });

  it("a runtime that is closed no longer listens to the registry it shared", async () => {
    const { runtime, registry } = await testRuntime([timed]);
    const before = registry as unknown as { onChange(listener: () => void): () => void };
    const seen: number[] = [];
    runtime.events.on(() => void seen.push(1));
    await runtime.close();
    before.onChange(() => undefined)();
    registry.add(tool("later", () => "x"));
    expect(seen).toEqual([]);
  });
});
