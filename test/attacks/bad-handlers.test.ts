import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ToolError, ToolResult, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, expectWellFormed, tool, within } from "./support.js";

expectNoUnheardRejections();

async function callOnce(subject: AnyTool, args: unknown = {}, signal?: AbortSignal) {
  const { runtime, logged } = await testRuntime([subject]);
  const session = await runtime.openSession();
  const request = { id: "c1", name: subject.name, arguments: args };
  const result = await within(20_000, session.call(request, signal === undefined ? {} : { signal }));
  if (result === "hangs") throw new Error("the call never came back");
  expectWellFormed(result);
  return { result, logged, session };
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const explode = () => {
  throw new Error("trap");
};
const trapped = new Proxy({}, { get: explode, has: explode, ownKeys: explode, getPrototypeOf: explode });
const cyclic: Record<string, unknown> = { list: [] };
cyclic.self = cyclic;
(cyclic.list as unknown[]).push(cyclic, 2n ** 80n);

describe("whatever a handler throws, at once or later, is one failure", () => {
  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a number", 42],
    ["a symbol", Symbol("boom")],
    ["an object without a prototype", Object.create(null)],
    ["a revoked proxy", revoked()],
    ["a proxy with throwing traps", trapped],
    ["a ToolError nobody can read", new Proxy(new ToolError("x"), { get: explode })],
    ["an error whose message throws", Object.defineProperty(new Error(), "message", { get: explode })],
    ["a cyclic cause", Object.assign(new Error("outer"), { cause: cyclic })],
    ["a rejected promise", Promise.reject(new Error("inner")).catch((error: unknown) => error)],
  ])("%s", async (_what, thrown) => {
    const atOnce = await callOnce(
      tool("thrower", () => {
        throw thrown;
      }),
    );
    const later = await callOnce(
      tool("thrower", async () => {
        await wait(1);
        throw thrown;
      }),
    );
    const midway = await callOnce(
      tool("thrower", async function* () {
        yield { message: "half" };
        throw thrown;
      }),
    );
    for (const { result } of [atOnce, later, midway]) expect(result.ok).toBe(false);
  });

  it("an error code that does not exist becomes an existing one", async () => {
    const { result } = await callOnce(
      tool("coder", () => {
        throw new ToolError("x", { code: "made_up" as "failed" });
      }),
    );
    expect(result.error).toEqual({ code: "failed", message: "x" });
  });

  it("a ToolError with fields of the wrong kind", async () => {
    const odd = Object.assign(new ToolError("x"), { hint: { deep: true }, message: 7 });
    await callOnce(
      tool("odd", () => {
        throw odd;
      }),
    );
  });
});

describe("whatever a handler returns is one result that can be written as JSON", () => {
  const values: [string, () => unknown][] = [
    ["a revoked proxy", revoked],
    ["a proxy with throwing traps", () => trapped],
    ["a proxy that answers everything", () => new Proxy({}, { get: () => "x", has: () => true })],
    ["a cycle with BigInts", () => cyclic],
    ["a Map and a Set", () => ({ map: new Map([["k", new Set([1])]]), date: new Date(Number.NaN) })],
    ["an object that refuses JSON", () => ({ toJSON: explode })],
    ["bytes", () => new Uint8Array(5)],
    ["an Error", () => new Error("returned, not thrown")],
    [
      "a class with getters that throw",
      () => Object.defineProperty({}, "x", { enumerable: true, get: explode }),
    ],
    ["a function with properties", () => Object.assign(() => 1, { x: 1 })],
    ["an empty string", () => ""],
    ["NaN", () => Number.NaN],
    ["false", () => false],
    ["JSON text, 15,000 levels deep", () => `${'{"a":'.repeat(15_000)}1${"}".repeat(15_000)}`],
    ["an object, 15,000 levels deep", () => JSON.parse(`${'{"a":'.repeat(15_000)}1${"}".repeat(15_000)}`)],
    ["an object, 3,000 levels deep", () => JSON.parse(`${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`)],
    ["lone surrogates and NULs", () => ({ text: "\ud800 \udfff \0 \u202e" })],
    ["something like a ToolResult", () => ({ [Symbol.for("hermes-tools.ToolResult")]: true })],
    ["a ToolResult that is a proxy", () => new Proxy(new ToolResult({ success: true }), { get: explode })],
    ["a failed ToolResult without words", () => new ToolResult({ success: false })],
    ["a ToolResult with a number as error", () => new ToolResult({ success: false, error: 5 as never })],
    ["a cyclic ToolResult", () => new ToolResult({ success: true, output: cyclic, content: [] })],
    ["content that is text", () => new ToolResult({ success: true, content: "text" as never })],
    ["content with holes", () => new ToolResult({ success: true, content: new Array(3) as never })],
    ["a part without text", () => new ToolResult({ success: true, content: [{ type: "text" }] as never })],
    [
      "a part with a number as text",
      () => new ToolResult({ success: true, content: [{ type: "text", text: 5 }] as never }),
    ],
    [
      "a part of an unknown type",
      () => new ToolResult({ success: true, content: [{ type: "hologram" }] as never }),
    ],
    ["an image without data", () => new ToolResult({ success: true, content: [{ type: "image" }] as never })],
    ["a part that is a proxy", () => new ToolResult({ success: true, content: [trapped] as never })],
    ["a multimodal envelope of garbage", () => ({ _multimodal: true, content: [null, 5, { image_url: 7 }] })],
    ["a multimodal envelope that is a trap", () => ({ _multimodal: true, content: trapped })],
  ];

  it.each(values)("%s", async (_what, make) => {
    await callOnce(tool("giver", () => make()));
    await callOnce(tool("giver", async () => make()));
    await callOnce(
      tool("giver", async function* () {
        yield make();
      }),
    );
  });

  it("a thenable that throws, answers twice, or answers with itself", async () => {
    const twice = {
      // biome-ignore lint/suspicious/noThenProperty: hostile thenables are the case under test.
      then(resolve: (value: unknown) => void) {
        resolve("first");
        resolve("second");
        throw new Error("third");
      },
    };
    const { result } = await callOnce(tool("giver", () => twice));
    expect(textOf(result.content)).toBe("first");
    await callOnce(
      tool("giver", () => ({
        // biome-ignore lint/suspicious/noThenProperty: hostile thenables are the case under test.
        get then() {
          throw new Error("getter");
        },
      })),
    );
  });

  it("values given for progress may be anything, and nobody who listens is harmed", async () => {
    const subject = tool("chatty", async function* (_args, ctx) {
      ctx.progress(trapped as never);
      for (const update of [cyclic, null, 5, "text", { message: 9, chunk: cyclic }]) {
        ctx.progress(update as never);
        yield update;
      }
      yield "done";
    });
    const { runtime } = await testRuntime([subject]);
    const seen: string[] = [];
    runtime.events.on((event) => void seen.push(JSON.stringify(event)));
    runtime.events.on(() => explode());
    runtime.events.on(async () => explode());
    const session = await runtime.openSession();
    const result = await session.call({ name: "chatty" });
    expectWellFormed(result);
    expect(textOf(result.content)).toBe("done");
    expect(seen.at(-1)).toContain("call.finished");
  });
});

describe("a handler that does not come to an end", () => {
  it("yields for ever without waiting: the deadline still fires and the iterator is closed", async () => {
    let closed = false;
    const subject = tool(
      "endless",
      async function* () {
        try {
          for (;;) yield { message: "again" };
        } finally {
          closed = true;
        }
      },
      { timeoutMs: 100 },
    );
    const { result } = await callOnce(subject);
    expect(result.error?.code).toBe("timeout");
    expect(closed).toBe(true);
  });

  it("never settles and ignores its signal: answered after the grace; a late failure hurts nobody", async () => {
    let fail: (reason: unknown) => void = () => undefined;
    const running = new Promise((_resolve, reject) => {
      fail = reject;
    });
    const deaf = tool("deaf", () => running, { timeoutMs: 30 });
    const { result, logged } = await callOnce(deaf);
    expect(result.error).toMatchObject({
      code: "timeout",
      hint: expect.stringContaining("may still be running"),
    });
    expect(logged.join("\n")).toContain("did not stop");
    fail(revoked());
    await wait(10);
  });

  it("has a deadline that is no usable number: the default counts", async () => {
    const odd: AnyTool["timeoutMs"][] = [
      Number.POSITIVE_INFINITY,
      Number.NaN,
      -5,
      0,
      2 ** 40,
      "60" as never,
      (async () => explode()) as never,
    ];
    for (const timeoutMs of odd) {
      const { result } = await callOnce(
        tool("slow", () => wait(30, "fine"), { timeoutMs } as Partial<AnyTool>),
      );
      expect([timeoutMs, textOf(result.content)]).toEqual([timeoutMs, "fine"]);
    }
    const { result } = await callOnce(tool("slow", () => wait(30, "fine"), { timeoutMs: explode }));
    expect(result.error?.code).not.toBe("timeout");
  });

  it("is interrupted by something its own handler did before it first waited", async () => {
    const controller = new AbortController();
    const subject = tool("self", (_args, ctx) => {
      controller.abort();
      return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("stopped")));
    });
    const { result } = await callOnce(subject, {}, controller.signal);
    expect(result.error?.code).toBe("cancelled");
  });
});

describe("the author's other functions", () => {
  it.each<[string, Partial<AnyTool>, string]>([
    ["effects: nothing", { effects: () => undefined as never }, "denied"],
    ["effects: something like a list", { effects: () => ({ length: 0 }) as never }, "denied"],
    ["effects: a promise", { effects: (async () => []) as never }, "denied"],
    ["effects: a promise that fails", { effects: (async () => explode()) as never }, "denied"],
    ["effects: an empty effect", { effects: () => [{}] as never }, "denied"],
    ["effects: a null effect", { effects: () => [null] as never }, "denied"],
    ["effects: a hole", { effects: () => new Array(1) as never }, "denied"],
    [
      "effects: an unknown mode",
      { effects: () => [{ action: "a:b", resource: "c", mode: "peek" }] as never },
      "denied",
    ],
    [
      "effects: a number as resource",
      { effects: () => [{ action: "a:b", resource: 5, mode: "read" }] as never },
      "denied",
    ],
    [
      "effects: an action without a verb",
      { effects: () => [{ action: "x", resource: "c", mode: "read" }] as never },
      "denied",
    ],
    ["effects: traps", { effects: () => [trapped] as never }, "denied"],
    [
      "effects: a throw of nothing",
      {
        effects: () => {
          throw Object.create(null);
        },
      },
      "denied",
    ],
    ["effects: a proxy of a list", { effects: () => new Proxy([], { get: explode }) as never }, "denied"],
    ["refine: a throw", { refine: explode }, "failed"],
    ["refine: nothing", { refine: () => undefined as never }, "failed"],
    ["refine: a rejection", { refine: async () => explode() }, "failed"],
    ["refine: issues of garbage", { refine: () => ({ ok: false, issues: 7 }) as never }, "failed"],
    [
      "checkFn: a throw of nothing",
      {
        checkFn: () => {
          throw Object.create(null);
        },
      },
      "unavailable",
    ],
    ["checkFn: a trap", { checkFn: () => trapped as never }, "unavailable"],
    ["checkFn: text", { checkFn: () => "yes" as never }, "unavailable"],
    [
      "checkFn: a reason that is none",
      { checkFn: () => ({ ok: false, reason: trapped, fix: cyclic }) as never },
      "unavailable",
    ],
    ["checkFn: a late rejection", { checkFn: () => wait(1).then(() => explode()) }, "unavailable"],
  ])("%s: the handler does not run", async (_what, extra, code) => {
    let ran = false;
    const subject = tool(
      "guarded",
      () => {
        ran = true;
        return "ran";
      },
      extra,
    );
    const { result } = await callOnce(subject);
    expect([result.error?.code, ran]).toEqual([code, false]);
  });

  it.each<[string, AnyTool["present"]]>([
    ["a throw", explode],
    ["nothing", () => undefined as never],
    ["a promise that fails", (async () => explode()) as never],
    ["text for parts", () => ({ model: "text" }) as never],
    ["parts of garbage", () => ({ model: [5] }) as never],
    ["a trap", () => trapped as never],
  ])("present gives %s: the plain form is shown", async (_what, present) => {
    const { result } = await callOnce(tool("shown", () => ({ a: 1 }), { present } as Partial<AnyTool>));
    expect(JSON.parse(textOf(result.content))).toEqual({ a: 1 });
  });

  it("effects that change after they were judged do not change what was judged", async () => {
    const effects = [{ action: "file:read", resource: "/nowhere/a", mode: "read" as const }];
    const subject = tool("shifty", () => "ran", { effects: () => effects as never });
    const { runtime } = await testRuntime([subject], {
      policy: {
        decide: ({ effects: judged }) => {
          const first = judged[0]?.resource;
          effects.length = 0;
          return { verdict: "ask", rule: "r", reason: String(first), grantKeys: [String(judged.length)] };
        },
      },
    });
    const asked: string[] = [];
    const session = await runtime.openSession({
      approver: {
        async ask(request) {
          asked.push(request.effects.map((effect) => effect.resource).join());
          return "once";
        },
      },
    });
    await session.call({ name: "shifty" });
    expect(asked).toEqual(["/nowhere/a"]);
  });

  it("a check of arguments that never ends does not hang the call, nor its neighbours in a batch", async () => {
    const stuck = tool("stuck", () => "ran", { refine: () => new Promise<never>(() => undefined) });
    const { runtime } = await testRuntime([stuck, tool("fine", () => "fine")]);
    const session = await runtime.openSession();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const results = await within(
      25_000,
      session.callAll([{ name: "fine" }, { name: "stuck" }], { signal: controller.signal }),
    );
    if (results === "hangs") throw new Error("the batch never came back");
    expect(results.map((result) => result.ok)).toEqual([results[0]?.ok, false]);
    for (const result of results) expectWellFormed(result);
  });
});

describe("dynamic schemas", () => {
  it.each<[string, AnyTool["dynamicSchemaOverrides"]]>([
    [
      "a throw of nothing",
      () => {
        throw Object.create(null);
      },
    ],
    ["text", () => "abc" as never],
    ["a promise that fails", (async () => explode()) as never],
    ["parameters that are no schema", () => ({ parameters: 5 }) as never],
    ["parameters of another type", () => ({ parameters: { type: "string" } }) as never],
    ["a description that is no text", () => ({ description: {} }) as never],
    ["another name", () => ({ name: "terminal" })],
    ["keys of its own", () => ({ strict: true, handler: explode }) as never],
    ["a trap", () => trapped as never],
  ])("that give %s leave a definition every provider accepts", async (_what, dynamicSchemaOverrides) => {
    const subject = tool("dynamic", () => "x", { dynamicSchemaOverrides } as Partial<AnyTool>);
    const { runtime } = await testRuntime([subject, tool("plain", () => "x")]);
    const definitions = await runtime.getToolDefinitions();
    expect(definitions.map((each) => each.function.name)).toEqual(["dynamic", "plain"]);
    const [first] = definitions;
    expect(Object.keys(first?.function ?? {}).sort()).toEqual(["description", "name", "parameters"]);
    expect(typeof first?.function.description).toBe("string");
    expect(first?.function.parameters).toMatchObject({ type: "object" });
  });

  it("cannot be changed once a session was told", async () => {
    const parameters = { type: "object", properties: {} as Record<string, unknown> };
    const subject = tool("dynamic", () => "x", { dynamicSchemaOverrides: () => ({ parameters }) });
    const { runtime } = await testRuntime([subject]);
    const session = await runtime.openSession();
    const told = JSON.stringify(await session.definitions());
    parameters.properties.later = { type: "string" };
    expect(JSON.stringify(await session.definitions())).toBe(told);
  });
});
