import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CallResult, defineTool, encodeResults, parseRequest, textOf } from "../../src/index.js";
import type { AnyTool, CallContext } from "../../src/tool/tool.js";
import type { OpenRuntime } from "../support/runtime.js";

const HANG_MS = 60;

/** Answers as it is told: late, wrongly, or not at all. */
const moody = defineTool({
  name: "moody",
  description: "does what it is told",
  parameters: {
    type: "object",
    properties: {
      ms: { type: "integer", default: 0 },
      mood: { enum: ["ok", "throw", "undefined", "hang"], default: "ok" },
      tag: { type: "string" },
    },
  },
  // Only what waits for its end needs one soon.
  timeoutMs: ({ mood }) => (mood === "hang" ? HANG_MS : 20_000),
  async handler({ ms, mood, tag }, ctx) {
    if (mood === "hang") await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    if (ms > 0) await wait(ms);
    if (mood === "throw") throw new Error(`thrown ${tag}`);
    return mood === "undefined" ? undefined : `answer ${tag}`;
  },
});

const path = defineTool({
  name: "touch",
  description: "pretends to read or write a path",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      write: { type: "boolean", default: false },
      ms: { type: "integer", default: 2 },
    },
    required: ["path"],
  },
  permissions: ["file:read", "file:write"],
  effects: (args, scope) => [
    {
      action: args.write ? "file:write" : "file:read",
      resource: `${scope.cwd}/${args.path}`,
      mode: args.write ? "write" : "read",
    },
  ],
  handler: async () => "replaced in the test",
});

const call = fc.record({
  name: fc.constantFrom("moody", "moody", "moody", "nope", "__proto__"),
  arguments: fc.oneof(
    fc.record({
      ms: fc.integer({ min: 0, max: 8 }),
      mood: fc.constantFrom("ok", "throw", "undefined", "hang"),
      tag: fc.string({ maxLength: 5 }),
    }),
    fc.constantFrom<unknown>("{", "[]", 7, null, { ms: "3" }),
  ),
});

/** Held wherever handlers run: `testRuntime` opens a runtime; `elsewhere`: its handlers run on another machine. */
export function callLaws(
  testRuntime: OpenRuntime,
  options: { readonly elsewhere: boolean } = { elsewhere: false },
): void {
  describe("law 5: exactly one result per id, in source order", () => {
    it("for any latencies, failures and broken calls", async () => {
      const { runtime } = await testRuntime([moody as AnyTool]);
      await fc.assert(
        fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
          const session = await runtime.openSession();
          const requests = calls.map((each, index) => ({ ...each, id: `id${index}` }));
          const results = await session.callAll(requests);
          expect(results.map((result) => result.id)).toEqual(requests.map((request) => request.id));
          for (const result of results) {
            expect(result.ok).toBe(result.error === undefined);
            if (!result.ok) expect(typeof JSON.parse(textOf(result.content)).error).toBe("string");
          }
        }),
        { numRuns: 40 },
      );
    });

    it("for an interrupt at any moment", async () => {
      const { runtime } = await testRuntime([moody as AnyTool]);
      await fc.assert(
        fc.asyncProperty(
          fc.array(call, { minLength: 1, maxLength: 12 }),
          fc.integer({ min: 0, max: 20 }),
          async (calls, after) => {
            const session = await runtime.openSession();
            const controller = new AbortController();
            const timer = setTimeout(() => controller.abort(), after);
            const requests = calls.map((each, index) => ({ ...each, id: `id${index}` }));
            const results = await session.callAll(requests, { signal: controller.signal });
            clearTimeout(timer);
            expect(results.map((result) => result.id)).toEqual(requests.map((request) => request.id));
          },
        ),
        { numRuns: 30 },
      );
      const session = await runtime.openSession();
      const results = await session.callAll([{ name: "moody" }, { name: "moody" }], {
        signal: AbortSignal.abort(),
      });
      expect(results.map((result) => result.error)).toEqual(
        Array(2).fill({ code: "cancelled", message: "skipped due to user interrupt" }),
      );
    });
  });

  describe("law 7: two calls run at the same time only if their effects do not conflict", () => {
    const touches = fc.array(
      fc.record({
        path: fc.constantFrom("a", "a/b", "a/b/c", "ab", "d"),
        write: fc.boolean(),
        ms: fc.integer({ min: 0, max: 4 }),
      }),
      { minLength: 1, maxLength: 10 },
    );
    interface Touch {
      readonly path: string;
      readonly write: boolean;
    }
    const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
    const overlap = (a: Touch, b: Touch) =>
      (a.write || b.write) && (isIn(a.path, b.path) || isIn(b.path, a.path));
    /** Calls of different messages: looking at a folder does not wait for a change of something in it. */
    const exclude = (a: Touch, b: Touch) =>
      a.write && b.write
        ? overlap(a, b)
        : (a.write && isIn(b.path, a.path)) || (b.write && isIn(a.path, b.path));

    async function watched(conflict = overlap) {
      const running = new Set<Touch>();
      let clashes = 0;
      let most = 0;
      const subject: AnyTool = {
        ...path,
        async handler(args: { path: string; write: boolean; ms: number }) {
          const mine = { path: args.path, write: args.write };
          for (const other of running) if (conflict(mine, other)) clashes += 1;
          running.add(mine);
          most = Math.max(most, running.size);
          await wait(args.ms);
          running.delete(mine);
          return "done";
        },
      };
      const { runtime } = await testRuntime([subject]);
      return { runtime, seen: () => ({ clashes, most }) };
    }

    it("inside one batch", async () => {
      const { runtime, seen } = await watched();
      await fc.assert(
        fc.asyncProperty(touches, async (calls) => {
          const session = await runtime.openSession();
          const results = await session.callAll(calls.map((args) => ({ name: "touch", arguments: args })));
          expect(results.every((result) => result.ok)).toBe(true);
        }),
        { numRuns: 40 },
      );
      expect(seen().clashes).toBe(0);
      expect(seen().most).toBeGreaterThan(1);
    });

    it("across calls and sessions that know nothing of each other", async () => {
      const { runtime, seen } = await watched(exclude);
      await fc.assert(
        fc.asyncProperty(touches, async (calls) => {
          const sessions = await Promise.all([runtime.openSession(), runtime.openSession()]);
          await Promise.all(
            calls.map((args, index) => sessions[index % 2]?.call({ name: "touch", arguments: args })),
          );
        }),
        { numRuns: 40 },
      );
      expect(seen().clashes).toBe(0);
    });

    it("two names of one file are one file", async () => {
      const { runtime, seen } = await watched();
      const session = await runtime.openSession();
      const { mkdirSync, symlinkSync } = await import("node:fs");
      mkdirSync(`${session.cwd}/real`);
      symlinkSync(`${session.cwd}/real`, `${session.cwd}/link`);
      const order: string[] = [];
      runtime.events.on((event) => event.type === "call.finished" && order.push(event.id));
      await session.callAll([
        { id: "slow", name: "touch", arguments: { path: "real/f", write: true, ms: 20 } },
        { id: "fast", name: "touch", arguments: { path: "link/f", write: true, ms: 0 } },
      ]);
      expect(order).toEqual(["slow", "fast"]);
      expect(seen().most).toBe(1);
    });
  });

  describe("law 1: every door gives the same decision and the same result", () => {
    const strip = ({ duration_ms: _d, id: _i, ...rest }: CallResult) => rest;
    /** Whether a call had begun when its time was up must not depend on how long its way was. */
    const patient: AnyTool = {
      ...(moody as AnyTool),
      timeoutMs: ({ mood }: { mood?: string }) =>
        mood === "hang" ? (options.elsewhere ? 400 : HANG_MS) : 20_000,
    };

    it("direct call, batch and wire formats agree", async () => {
      const { runtime } = await testRuntime([patient]);
      const session = await runtime.openSession();
      await fc.assert(
        fc.asyncProperty(call, async (each) => {
          const direct = await session.call({ id: "x", ...each });
          const [batched] = await session.callAll([{ id: "x", ...each }]);
          expect(strip(batched as CallResult)).toEqual(strip(direct));
          const wire = { tool_calls: [{ id: "x", type: "function", function: each }] };
          const parsed = parseRequest(wire);
          if ("code" in parsed) throw new Error(parsed.message);
          const results = await session.callAll(parsed.calls);
          expect(strip(results[0] as CallResult)).toEqual(strip(direct));
          expect(encodeResults(parsed, results)).toMatchObject({ tool_results: [{ tool_call_id: "x" }] });
        }),
        { numRuns: options.elsewhere ? 20 : 40 },
      );
    });
  });

  describe("law 12: explain and the runtime are the same function", () => {
    const effectful: AnyTool = {
      ...(path as AnyTool),
      name: "run",
      parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
      permissions: ["terminal:execute"],
      effects: (args: { command: string }) => [
        { action: "terminal:execute", resource: args.command, mode: "execute" },
      ],
      handler: () => "ran",
    };

    it("for any call, in any profile", async () => {
      const { runtime } = await testRuntime([effectful, moody as AnyTool]);
      const commands = fc.constantFrom(
        "ls",
        "rm -rf /",
        "rm -rf x",
        "git push --force",
        "curl x | sh",
        "echo hi",
        "",
      );
      const anyCall = fc.oneof(
        fc.record({ name: fc.constant("run"), arguments: fc.record({ command: commands }) }),
        call.filter((each) => (each.arguments as { mood?: string } | null)?.mood !== "hang"),
      );
      await fc.assert(
        fc.asyncProperty(anyCall, fc.constantFrom("default", "readonly_research"), async (each, profile) => {
          const session = await runtime.openSession({ profile });
          const explained = await session.explainCall(each);
          const real = await session.call(each);
          expect(real.decision?.verdict).toBe(explained.decision?.verdict);
          expect(real.decision?.rule).toBe(explained.decision?.rule);
          if (explained.error !== undefined) expect(real.error?.code).toBe(explained.error.code);
        }),
        { numRuns: 60 },
      );
    });
  });

  describe("law 2: a child's authority is a subset of its parent's", () => {
    it("for any choice of tools on both sides", async () => {
      const names = ["t0", "t1", "t2", "t3", "t4"];
      const { runtime } = await testRuntime(
        names.map((name) => ({ ...(moody as AnyTool), name, toolset: name })),
      );
      const subset = fc.subarray(names);
      await fc.assert(
        fc.asyncProperty(subset, subset, subset, async (parent, child, grandchild) => {
          const session = await runtime.openSession({ toolsets: parent });
          const first = session.openChild({ tools: child });
          const second = first.openChild({ tools: grandchild });
          const third = second.openChild();
          for (const name of names) {
            const inParent = parent.includes(name);
            const inFirst = inParent && child.includes(name);
            const inSecond = inFirst && grandchild.includes(name);
            expect((await session.call({ name })).ok).toBe(inParent);
            expect((await first.call({ name })).ok).toBe(inFirst);
            expect((await second.call({ name })).ok).toBe(inSecond);
            expect((await third.call({ name })).ok).toBe(inSecond);
          }
        }),
        { numRuns: 20 },
      );
    });

    it("a nested call never waits for the call it runs inside of", async () => {
      const request = { name: "touch", arguments: { path: "x", write: true } };
      const outer = (name: string, more: Partial<AnyTool>): AnyTool => ({
        ...(path as AnyTool),
        name,
        parameters: { type: "object" },
        effects: (_args: unknown, scope: { cwd: string }) => [
          { action: "file:write", resource: scope.cwd, mode: "write" },
        ],
        ...more,
      });
      const { runtime } = await testRuntime([
        outer("asks_there", {
          async handler(_args: unknown, ctx: CallContext) {
            const tools = ctx.openTools();
            const result = await tools.call(request);
            tools.close();
            return textOf(result.content);
          },
        }),
        // As tools do that belong to an agent's loop, which stay where the session lives.
        outer("asks_here", {
          stays: true,
          async handler(_args: unknown, ctx: CallContext) {
            const child = session.openChild({ insideCall: ctx.callId });
            return textOf((await child.call(request)).content);
          },
        }),
        { ...(path as AnyTool), handler: () => "inner" },
      ]);
      const session = await runtime.openSession();
      for (const name of ["asks_there", "asks_here"])
        expect(textOf((await session.call({ name })).content), name).toBe("inner");
    });
  });
}
