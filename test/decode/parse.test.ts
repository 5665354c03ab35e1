import { describe, expect, it } from "vitest";
import { createDecoder, type Decoded } from "../../src/tool/decode.js";

const search = createDecoder({
  name: "web_search",
  parameters: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" }, safe: { type: "boolean" } },
    required: ["query"],
  },
});
const anything = createDecoder({ name: "anything", parameters: { type: "object" } });

function argsOf(decoded: Decoded): Record<string, unknown> {
  if (!decoded.ok) throw new Error(decoded.failure.message);
  return decoded.args;
}

function refusal(decoded: Decoded): string {
  if (decoded.ok) throw new Error(`accepted ${JSON.stringify(decoded.args)}`);
  expect(decoded.failure.code).toBe("invalid_arguments");
  return decoded.failure.message;
}

describe("text that is almost JSON", () => {
  it.each([
    ["a trailing comma", '{"query":"cats",}'],
    ["single quotes", "{'query':'cats'}"],
    ["curly quotes", "{\u201cquery\u201d:\u201ccats\u201d}"],
    ["a bare key", '{query:"cats"}'],
    ["a missing closing brace", '{"query":"cats"'],
    ["one closing brace too many", '{"query":"cats"}}'],
    ["a code fence", '```json\n{"query":"cats"}\n```'],
    ["a comment", '{"query":"cats" // which ones?\n}'],
    ["a byte order mark", '\uFEFF{"query":"cats"}'],
    ["escaped quotes", '{\\"query\\":\\"cats\\"}'],
    ["an object inside a JSON string", JSON.stringify('{"query":"cats"}')],
  ])("is repaired and reported: %s", (_what, text) => {
    const decoded = search.decode(text);
    expect(argsOf(decoded)).toEqual({ query: "cats" });
    expect(decoded.ok && decoded.repairs).toHaveLength(1);
  });

  it("keeps raw control characters in strings exactly", () => {
    expect(argsOf(search.decode('{"query":"a\nb\tc\u0000d"}'))).toEqual({ query: "a\nb\tc\u0000d" });
  });

  it("understands Python constants", () => {
    expect(argsOf(search.decode('{"query":"cats","safe":True}'))).toEqual({ query: "cats", safe: true });
  });

  it("repairs raw line breaks in long texts too", () => {
    const content = "line\n".repeat(200_000);
    expect(argsOf(search.decode(`{"query":"${content}"}`))).toEqual({ query: content });
  });

  it.each([
    ["a string that was cut off", '{"query":"ca'],
    ["a single-quoted string that was cut off", "{'query':'ca"],
    ["a key without a value", '{"query"'],
    ["a value that never came", '{"query":"cats","limit":'],
    ["a number that may have been cut off", '{"query":"cats","limit":1'],
    ["two objects", '{"query":"cats"}{"query":"dogs"}'],
    ["two objects on two lines", '{"query":"cats"}\n{"query":"dogs"}'],
    ["text around the object", 'Sure! {"query":"cats"}'],
    ["text after the object", '{"query":"cats"} as you asked'],
    ["quotes inside a string", '{"query":"say "hi" now"}'],
    ["a bare word as a value", "{query: cats}"],
    ["NaN", '{"query":"cats","limit":NaN}'],
    ["Infinity", '{"query":"cats","limit":-Infinity}'],
    ["hexadecimal", '{"query":"cats","limit":0x10}'],
    ["a leading zero", '{"query":"cats","limit":05}'],
    ["an ellipsis", '{"query":"cats", ...}'],
  ])("is refused where repairing means guessing: %s", (_what, text) => {
    expect(refusal(search.decode(text))).toContain("JSON");
  });

  it("says that the text was broken when the repaired arguments do not fit either", () => {
    expect(refusal(search.decode("{'limit':3}"))).toMatch(/not valid JSON.*query: required/);
  });
});

describe("nothing at all", () => {
  it.each([[""], [" \n\t"], [null], [undefined], ["null"]])(
    "%j is no arguments where none are needed",
    (raw) => {
      expect(anything.decode(raw)).toEqual({ ok: true, args: {}, repairs: [] });
    },
  );

  it.each([[""], [" "], [null], [undefined], ["null"]])(
    "%j names what is missing where something is needed",
    (raw) => {
      expect(refusal(search.decode(raw))).toMatch(/object.*query: required/);
    },
  );

  it.each([[42], [true], ["[1,2]"], [["a"]], ['"text"'], [() => 1], [1n], [Symbol("x")]])(
    "%s is not an object",
    (raw) => {
      expect(refusal(search.decode(raw))).toContain("object");
    },
  );
});

describe("hostile input", () => {
  it.each([
    ["objects as text", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["arrays as text", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["brackets that never close", `{"a":${"[".repeat(1_000_000)}`],
  ])("refuses depth: %s", (_what, text) => {
    expect(refusal(anything.decode(text))).toContain("deep");
  });

  it("refuses depth in objects, and objects that contain themselves", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level += 1) deep = { a: deep };
    expect(refusal(anything.decode(deep))).toContain("deep");
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(refusal(anything.decode(circle))).toContain("deep");
  });

  it("accepts 200 levels and refuses 201, in both forms", () => {
    const text = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    for (const raw of [text(200), JSON.parse(text(200))]) expect(anything.decode(raw).ok).toBe(true);
    for (const raw of [text(201), JSON.parse(text(201))])
      expect(refusal(anything.decode(raw))).toContain("deep");
  });

  it("does not count brackets inside strings", () => {
    const query = '[{"\\'.repeat(5_000);
    expect(argsOf(search.decode(JSON.stringify({ query })))).toEqual({ query });
  });

  it("names size and limit of arguments that are too large", () => {
    const huge = "x".repeat(17 * 1024 * 1024);
    for (const raw of [`{"query":"${huge}"}`, { query: huge }]) {
      expect(refusal(search.decode(raw))).toMatch(/too large: 17\.0 MiB, the limit is 16 MiB/);
    }
  });

  it("refuses an object that refers to the same parts again and again before it fills the memory", () => {
    let shared: unknown = "x";
    for (let level = 0; level < 60; level += 1) shared = [shared, shared];
    expect(refusal(anything.decode({ shared }))).toContain("too large");
  });

  it.each([
    ["text", '{"query":"x","__proto__":{"polluted":true}}'],
    ["escaped text", '{"query":"x","\\u005f\\u005fproto__":{"polluted":true}}'],
    ["nested text", '{"query":"x","a":[{"__proto__":{"polluted":true}}]}'],
    ["an object", JSON.parse('{"query":"x","__proto__":{"polluted":true}}')],
    ["JSON text in a value", { query: "x", arguments: '{"__proto__":{"polluted":true}}' }],
  ])("never lets a prototype key through: %s", (_what, raw) => {
    const decoded = search.decode(raw);
    expect(JSON.stringify(decoded)).not.toContain('"polluted":true');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    if (decoded.ok) expect(Object.getPrototypeOf(decoded.args)).toBe(Object.prototype);
  });

  it("treats other reserved names as plain data", () => {
    const args = argsOf(anything.decode('{"constructor":{"prototype":{"x":1}},"toString":"t"}'));
    expect(args).toEqual({ constructor: { prototype: { x: 1 } }, toString: "t" });
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it("passes lone surrogates, NUL and 2,000 keys on unchanged", () => {
    const options = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, index]));
    const raw = { lone: "\ud800", nul: "a\u0000b", options };
    expect(argsOf(anything.decode(raw))).toEqual(raw);
    expect(argsOf(anything.decode(JSON.stringify(raw)))).toEqual(raw);
  });

  it.each([
    ["a date", { when: new Date(0) }],
    ["a map", { map: new Map() }],
    ["a function", { run: () => 1 }],
    ["a bigint", { big: 1n }],
    ["NaN", { n: Number.NaN }],
    ["a hole", { list: new Array(3) }],
    ["an enormous hole", { list: new Array(4_000_000_000) }],
    ["a number too large for a double", '{"n":1e999}'],
    ["many digits", `{"n":${"9".repeat(400)}}`],
  ])("refuses what JSON cannot express: %s", (_what, raw) => {
    refusal(anything.decode(raw));
  });

  it("survives objects that throw when read", () => {
    const trap = Object.defineProperty({}, "query", {
      enumerable: true,
      get() {
        throw new Error("no entry");
      },
    });
    expect(refusal(search.decode(trap))).toContain("no entry");
  });

  it("hands out a copy that later changes by the caller do not reach", () => {
    const raw = { query: "a", nested: { list: [1] } };
    const args = argsOf(search.decode(raw));
    raw.nested.list.push(2);
    expect(args).toEqual({ query: "a", nested: { list: [1] } });
  });
});
