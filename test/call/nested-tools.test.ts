import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type CallResult, defineTool } from "../../src/index.js";
import type { Kept, NestedToolsOptions } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const NO_ARGUMENTS = { type: "object", properties: {} } as const;

/** A tool that calls another one and hands its result on. */
function outer(options: {
  readonly open?: NestedToolsOptions;
  readonly call: { readonly name: string; readonly arguments?: unknown };
  readonly timeoutMs?: number;
  readonly seen?: CallResult[];
}) {
  return defineTool({
    name: "outer",
    description: "Calls another tool",
    parameters: NO_ARGUMENTS,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    async handler(_args, ctx) {
      const tools = ctx.openTools(options.open);
      try {
        const result = await tools.call({ name: options.call.name, arguments: options.call.arguments ?? {} });
        options.seen?.push(result);
        return {
          tools: tools.tools.map(({ name }) => name),
          ok: result.ok,
          error: result.error?.code ?? null,
        };
      } finally {
        tools.close();
      }
    },
  });
}

const echo = defineTool({
  name: "echo",
  description: "Says it back",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  handler: ({ text }) => ({ text }),
});

const risky = defineTool({
  name: "risky",
  description: "Needs a yes",
  parameters: NO_ARGUMENTS,
  permissions: ["terminal:execute"],
  effects: () => [{ action: "terminal:execute", resource: "rm -rf build", mode: "execute" }],
  handler: () => ({ done: true }),
});

describe("calls made from inside a call", () => {
  it("walk the whole path: arguments are checked, denials are denials", async () => {
    const seen: CallResult[] = [];
    const tools = [outer({ call: { name: "echo", arguments: { text: 7 } }, seen }), echo];
    const { runtime } = await testRuntime(tools);
    const session = await runtime.openSession();
    expect((await session.call({ name: "outer" })).structured).toMatchObject({ ok: true });
    expect(seen[0]?.structured).toEqual({ text: "7" });

    const denied = await testRuntime([outer({ call: { name: "risky" } }), risky]);
    const unattended = await denied.runtime.openSession();
    expect((await unattended.call({ name: "outer" })).structured).toMatchObject({
      ok: false,
      error: "denied",
    });
  });

  it("reach only the tools of the session, less those left out", async () => {
    const tools = [outer({ open: { except: ["outer"] }, call: { name: "risky" } }), echo, risky];
    const { runtime } = await testRuntime(tools);
    const session = await runtime.openSession({ toolsets: ["outer", "echo"] });
    expect((await session.call({ name: "outer" })).structured).toEqual({
      tools: ["echo"],
      ok: false,
      error: "not_found",
    });
    const named = await testRuntime([
      outer({ open: { only: ["risky", "nothing"] }, call: { name: "echo" } }),
      echo,
      risky,
    ]);
    const wide = await named.runtime.openSession();
    expect((await wide.call({ name: "outer" })).structured).toMatchObject({
      tools: ["risky"],
      error: "not_found",
    });
  });

  it("give a program the whole result, however long it is for a model", async () => {
    const long = defineTool({
      name: "long",
      description: "Says much",
      parameters: NO_ARGUMENTS,
      handler: () => "x".repeat(300_000),
    });
    const seen: CallResult[] = [];
    const { runtime } = await testRuntime([outer({ call: { name: "long" }, seen }), long]);
    const session = await runtime.openSession();
    await session.call({ name: "outer" });
    expect(seen[0]).toMatchObject({ truncated: false, content: [{ text: "x".repeat(300_000) }] });
    expect(await session.call({ name: "long" })).toMatchObject({ truncated: true });
  });

  it("may wait for a person longer than the outer call may take", async () => {
    const waits: boolean[] = [];
    const open = { onWaiting: (waiting: boolean) => void waits.push(waiting) };
    const tools = [outer({ open, call: { name: "risky" }, timeoutMs: 700 }), risky];
    const { runtime } = await testRuntime(tools);
    const session = await runtime.openSession({
      approver: {
        async ask() {
          await delay(1_200);
          return "once";
        },
      },
    });
    // What judging needs is loaded with the first call, which must not count here.
    await session.explainCall({ name: "risky" });
    const result = await session.call({ name: "outer" });
    expect([result.error, result.structured]).toEqual([undefined, expect.objectContaining({ ok: true })]);
    expect(waits).toEqual([true, false]);
  });

  it("still end with the outer call's own time", async () => {
    const slow = defineTool({
      name: "slow",
      description: "Takes its time",
      parameters: NO_ARGUMENTS,
      handler: async (_args, ctx) => {
        await delay(5_000, undefined, { signal: ctx.signal }).catch(() => undefined);
        return { stopped: ctx.signal.aborted };
      },
    });
    const seen: CallResult[] = [];
    const { runtime } = await testRuntime([outer({ call: { name: "slow" }, timeoutMs: 100, seen }), slow]);
    const session = await runtime.openSession();
    expect((await session.call({ name: "outer" })).error?.code).toBe("timeout");
    expect(seen[0]?.error?.code).toBe("cancelled");
  });

  it("do not wait for the place that the outer call holds", async () => {
    const { runtime, cwd } = await testRuntime(
      [
        defineTool({
          name: "holder",
          description: "Holds a file and reads it through another tool",
          parameters: NO_ARGUMENTS,
          permissions: ["file:write"],
          effects: (_args, scope) => [
            { action: "file:write", resource: join(scope.cwd, "f"), mode: "write" },
          ],
          async handler(_args, ctx) {
            const tools = ctx.openTools();
            const read = await tools.call({ name: "read_file", arguments: { path: "f" } });
            tools.close();
            return { ok: read.ok };
          },
        }),
      ],
      { builtins: true },
    );
    writeFileSync(join(cwd, "f"), "text\n");
    const session = await runtime.openSession();
    expect((await session.call({ name: "holder" })).structured).toEqual({ ok: true });
  });
});

describe("things a tool keeps", () => {
  class Counter implements Kept {
    static closed = 0;
    count = 0;
    close() {
      Counter.closed += 1;
    }
  }
  const counting = defineTool({
    name: "counting",
    description: "Counts its calls",
    parameters: NO_ARGUMENTS,
    handler(_args, ctx) {
      const counter = ctx.keep(Counter);
      counter.count += 1;
      return { count: counter.count };
    },
  });

  it("last as long as their session and no longer", async () => {
    const { runtime } = await testRuntime([counting]);
    const [one, other] = [await runtime.openSession(), await runtime.openSession()];
    await one.call({ name: "counting" });
    expect((await one.call({ name: "counting" })).structured).toEqual({ count: 2 });
    expect((await other.call({ name: "counting" })).structured).toEqual({ count: 1 });
    const before = Counter.closed;
    one.close();
    expect(Counter.closed).toBe(before + 1);
    await runtime.close();
    expect(Counter.closed).toBe(before + 2);
  });
});
