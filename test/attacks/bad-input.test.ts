import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { parseRequestText, ToolRegistry, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, expectWellFormed, longestBlockOf, tool } from "./support.js";

expectNoUnheardRejections();

const strict = (handler: AnyTool["handler"] = () => "ran") =>
  tool("strict", handler, {
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, count: { type: "integer" } },
      required: ["path"],
      additionalProperties: false,
    },
  });

const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;

function deepObject(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

const cyclic: Record<string, unknown> = { path: "x" };
cyclic.self = cyclic;

describe("arguments that are no arguments: one answer, nothing run", () => {
  it.each<[string, unknown]>([
    ["half an object", '{"path": "a'],
    ["a bracket", "["],
    ["prose", "please read the file"],
    ["a list", ["path"]],
    ["a number", 7],
    ["a symbol", Symbol("x")],
    ["a function", () => ({ path: "x" })],
    ["a BigInt inside", { path: 1n }],
    ["a cycle", cyclic],
    ["a Map", new Map([["path", "x"]])],
    ["10,000 levels of text", nested(10_000, '{"path":', "}")],
    ["10,000 levels of lists", nested(10_000, "[", "]")],
    ["10,000 levels of objects", deepObject(10_000)],
    ["the prototype as text", '{"__proto__":{"path":"x"}}'],
    [
      "the prototype as a key",
      Object.defineProperty({}, "__proto__", { value: { path: "x" }, enumerable: true }),
    ],
    ["an inherited path", Object.create({ path: "x" })],
    ["constructor and toString", '{"constructor":{"path":"x"},"toString":1}'],
    [
      "a throwing getter",
      Object.defineProperty({}, "path", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
    [
      "a proxy",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no");
          },
        },
      ),
    ],
    ["a number beyond doubles", '{"path":"x","count":1e999}'],
    ["the wrong type", { path: { a: 1 } }],
    ["more than asked for", { path: "x", extra: true }],
    ["nothing", undefined],
    ["null", null],
    ["only NULs", "\0\0\0"],
  ])("%s", async (_what, args) => {
    let ran = false;
    const subject = strict(() => {
      ran = true;
      return "ran";
    });
    const { runtime } = await testRuntime([subject]);
    runtime.events.on(() => undefined);
    const session = await runtime.openSession();
    const one = await session.call({ id: "a", name: "strict", arguments: args });
    const [two] = await session.callAll([{ id: "b", name: "strict", arguments: args }]);
    for (const result of [one, two]) {
      expectWellFormed(result as typeof one);
      expect(result?.error?.code).toBe("invalid_arguments");
    }
    expect(ran).toBe(false);
    expect(({} as Record<string, unknown>).path).toBeUndefined();
    const explained = await session.explainCall({ name: "strict", arguments: args });
    expect(explained.ok).toBe(false);
  });

  it("100 MB are refused at once, as text and as an object, with somebody listening", async () => {
    const { runtime } = await testRuntime([strict()]);
    runtime.events.on(() => undefined);
    const session = await runtime.openSession();
    await session.call({ name: "strict", arguments: { path: "warm" } });
    const big = "x".repeat(100 * 1024 * 1024);
    const cases: unknown[] = [
      `{"path":"${big}"}`,
      `[${"1,".repeat(20 * 1024 * 1024)}1]`,
      { path: big },
      { path: "x", list: new Array(10_000_000).fill(1) },
      new Array(10_000_000).fill(1),
    ];
    for (const args of cases) {
      let result: Awaited<ReturnType<typeof session.call>> | undefined;
      const block = await longestBlockOf(async () => {
        result = await session.call({ name: "strict", arguments: args });
      });
      expect(result?.error?.code).toBe("invalid_arguments");
      expect(textOf(result?.content ?? []).length).toBeLessThan(5_000);
      // Walking over 100 MB once is allowed; what is excluded is copying, parsing or masking it.
      expect(block).toBeLessThan(700);
    }
    const parsed = parseRequestText(
      `{"tool_calls":[{"id":"1","name":"strict","arguments":{"path":"${big}"}}]}`,
    );
    expect("code" in parsed && parsed.code).toBe("bad_request");
  });

  it("a tool nobody knows with 100 MB of arguments: answered, and the journal keeps a bounded row", async () => {
    const { runtime } = await testRuntime([strict()], { journal: true });
    const session = await runtime.openSession();
    const big = "y".repeat(100 * 1024 * 1024);
    const result = await session.call({ id: "big", name: "nobody", arguments: `{"path":"${big}"}` });
    expect(result.error?.code).toBe("not_found");
    const [row] = await (await runtime.journal()).recent({ limit: 1 });
    expect(row?.args.length).toBeLessThan(70_000);
  });
});

describe("names that are no names", () => {
  it.each<[string, unknown]>([
    ["the prototype", "__proto__"],
    ["constructor", "constructor"],
    ["toString", "toString"],
    ["hasOwnProperty", "hasOwnProperty"],
    ["a NUL inside", "str\0ict"],
    ["a line break", "strict\nrm"],
    ["right-to-left", "\u202etcirts"],
    ["a zero-width space", "str\u200bict"],
    ["full-width letters", "ｓｔｒｉｃｔ"],
    ["empty", ""],
    ["blank", "  \t "],
    ["a megabyte", "s".repeat(1024 * 1024)],
    ["a megabyte of doubling", "strict".repeat(200_000)],
    ["a path", "../strict"],
    ["control tokens", "<|im_start|>"],
    ["a number", 5],
    ["null", null],
    ["undefined", undefined],
    ["an object", { toString: () => "strict" }],
  ])("%s", async (_what, name) => {
    const { runtime } = await testRuntime([strict()], { journal: true });
    runtime.events.on(() => undefined);
    const session = await runtime.openSession();
    const request = { id: "n", name: name as string, arguments: { path: "x" } };
    const [result] = await session.callAll([request]);
    expectWellFormed(result as NonNullable<typeof result>);
    expect(["not_found", "bad_request"]).toContain(result?.error?.code);
    expect(textOf(result?.content ?? []).length).toBeLessThan(5_000);
    expect(textOf(result?.content ?? [])).not.toMatch(/[\0\n\u202e\u200b]/);
  });

  it("a prototype's word is free for a tool, a toolset and an alias, and means only that", async () => {
    const registry = new ToolRegistry();
    for (const word of ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"]) {
      registry.add(tool(word, () => `ran ${word}`, { toolset: word, aliases: [`${word}_alias`] }));
    }
    const { runtime } = await testRuntime([], { registry });
    for (const word of ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"]) {
      const session = await runtime.openSession({ toolsets: [word] });
      expect([...session.view.entries.keys()]).toEqual([word]);
      expect(textOf((await session.call({ name: word })).content)).toBe(`ran ${word}`);
      expect(textOf((await session.call({ name: `${word}_alias` })).content)).toBe(`ran ${word}`);
    }
    expect((await runtime.getToolDefinitions()).map((each) => each.function.name)).toEqual(
      ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"].sort(),
    );
  });

  it("a prototype's word is no profile, toolset, environment or setting", async () => {
    const { runtime } = await testRuntime([strict()]);
    for (const word of ["constructor", "toString", "__proto__"]) {
      await expect(runtime.openSession({ profile: word })).rejects.toThrow(/profile/);
      await expect(runtime.openSession({ toolsets: [word] })).rejects.toThrow(/toolset/);
      await expect(runtime.openSession({ disabledToolsets: [word] })).rejects.toThrow(/toolset/);
      await expect(runtime.openSession({ environment: word })).rejects.toThrow(/nvironment/);
      expect(() => runtime.canonicalName(word)).toThrow(/Unknown tool/);
    }
  });

  it("a tool that needs a host capability is not fooled by an inherited word", async () => {
    const needy = tool("needy", () => "ran", { host: "toString" as never });
    const { runtime } = await testRuntime([needy]);
    const session = await runtime.openSession();
    expect((await session.call({ name: "needy" })).error?.code).toBe("unavailable");
  });
});

describe("ids", () => {
  it("repeated, missing and odd ones: one result per call, in order", async () => {
    const { runtime } = await testRuntime([tool("echo", (args) => JSON.stringify(args))]);
    const session = await runtime.openSession();
    const ids = [
      "a",
      "a",
      undefined,
      "",
      "../../etc/passwd",
      "\0",
      "x".repeat(10_000),
      "__proto__",
      7 as never,
      {} as never,
    ];
    const results = await session.callAll(
      ids.map((id, x) => ({ ...(id !== undefined && { id }), name: "echo", arguments: { x } })),
    );
    expect(results.map((result) => JSON.parse(textOf(result.content)).x)).toEqual(ids.map((_id, x) => x));
    for (const result of results) expectWellFormed(result);
  });

  it("entries that are no calls at all", async () => {
    const { runtime } = await testRuntime([strict()]);
    const session = await runtime.openSession();
    const results = await session.callAll([null, undefined, 5, "strict", [], {}] as never);
    expect(results.map((result) => result.error?.code)).toEqual(Array(6).fill("bad_request"));
    for (const result of results) expectWellFormed(result);
  });
});

describe("many at once", () => {
  it("10,000 parallel calls: each answered once, the loop never held for long", async () => {
    const echo = tool("echo", async (args) => String((args as { x: number }).x));
    const { runtime } = await testRuntime([echo]);
    const session = await runtime.openSession();
    await session.call({ name: "echo", arguments: { x: 0 } });
    const results = await Promise.all(
      Array.from({ length: 10_000 }, (_each, x) => session.call({ name: "echo", arguments: { x } })),
    );
    expect(results.every((result, x) => textOf(result.content) === String(x))).toBe(true);
  });

  it.each([
    ["reading different files", (x: number) => ({ resource: `/nowhere/${x}`, mode: "read" as const })],
    ["writing different files", (x: number) => ({ resource: `/nowhere/${x}`, mode: "write" as const })],
    ["writing one file", () => ({ resource: "/nowhere/one", mode: "write" as const })],
  ])(
    "5,000 calls %s, one by one and as one batch",
    async (_what, touch) => {
      const subject = tool("toucher", (args) => String((args as { x: number }).x), {
        effects: (args: { x: number }) => [{ action: "memory:touch", ...touch(args.x) }],
      });
      const { runtime } = await testRuntime([subject]);
      const session = await runtime.openSession();
      const requests = Array.from({ length: 5_000 }, (_each, x) => ({ name: "toucher", arguments: { x } }));
      const started = performance.now();
      const single = await Promise.all(requests.map((request) => session.call(request)));
      const batch = await session.callAll(requests);
      expect(performance.now() - started).toBeLessThan(15_000);
      for (const results of [single, batch]) {
        expect(results.every((result, x) => textOf(result.content) === String(x))).toBe(true);
      }
    },
    60_000,
  );

  it("1,000 calls share one signal without a warning, and none keeps hold of it", async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on("warning", listen);
    const { runtime } = await testRuntime([tool("nap", () => wait(1, "ok"))]);
    const session = await runtime.openSession();
    const controller = new AbortController();
    const { signal } = controller;
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    await Promise.all(Array.from({ length: 1_000 }, () => session.call({ name: "nap" }, { signal })));
    await wait(5);
    process.removeListener("warning", listen);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
    expect(warnings).toEqual([]);
  });
});
