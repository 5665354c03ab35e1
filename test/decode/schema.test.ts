import { describe, expect, it } from "vitest";
import { checkSchema } from "../../src/tool/check-schema.js";
import { createDecoder } from "../../src/tool/decode.js";
import { isProvablyLinear } from "../../src/tool/safe-pattern.js";
import { describeSignature } from "../../src/tool/signature.js";
import { compileValidator } from "../../src/tool/validate.js";

describe("the dialect", () => {
  const withSibling = {
    definitions: { list: { type: "array" } },
    properties: { v: { $ref: "#/definitions/list", maxItems: 1 } },
  };
  const draft2020 = { $schema: "https://json-schema.org/draft/2020-12/schema" };

  it("is draft-07 unless $schema says 2020-12", () => {
    expect(compileValidator(withSibling).check({ v: [1, 2] })).toBe(true);
    expect(compileValidator({ ...draft2020, ...withSibling }).check({ v: [1, 2] })).toBe(false);
  });

  it("checks formats in draft-07, where 2020-12 makes them a remark", () => {
    const format = { properties: { v: { format: "ipv4" } } };
    expect(compileValidator(format).check({ v: "300.1.1.1" })).toBe(false);
    expect(compileValidator({ ...draft2020, ...format }).check({ v: "300.1.1.1" })).toBe(true);
  });

  it("does not mistake inherited names for properties", () => {
    expect(compileValidator({ properties: { toString: { type: "string" } } }).check({})).toBe(true);
    expect(compileValidator({ required: ["valueOf"] }).check({})).toBe(false);
    expect(compileValidator({ required: ["valueOf"] }).check({ valueOf: 1 })).toBe(true);
  });
});

describe("schemas from outside", () => {
  const foreign = (property: Record<string, unknown>) =>
    createDecoder({ name: "remote", foreign: true, parameters: { properties: { p: property } } });

  it.each(["^(a+)+$", "^(a|aa)+$", "^([a-z]+)*$", "(x+x+)+y"])(
    "run the pattern %s in linear time",
    (pattern) => {
      const decoder = foreign({ type: "string", pattern });
      const started = performance.now();
      expect(decoder.decode({ p: `${"a".repeat(40)}!` }).ok).toBe(false);
      expect(decoder.decode({ p: `${"x".repeat(50_000)}!` }).ok).toBe(false);
      // The platform's own engine would need minutes for the first line alone.
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );

  it("judge ordinary patterns as usual", () => {
    const decoder = foreign({ type: "string", pattern: "^\\d{3}-[\\w.]+\\u0041$" });
    expect(decoder.decode({ p: "123-a.bA" }).ok).toBe(true);
    expect(decoder.decode({ p: "12-a.bA" }).ok).toBe(false);
  });

  it("leave patterns without a linear form to whoever owns the tool", () => {
    expect(foreign({ type: "string", pattern: "^(?!x)(a+)+$" }).decode({ p: "x" }).ok).toBe(true);
  });

  it("cannot smuggle code into the compiled validator", () => {
    const code = '"]; globalThis.smuggled = true; ["';
    const parameters = {
      properties: { [code]: { const: code }, "a\u2028b": { enum: [code], minLength: code, pattern: code } },
      required: [code],
      dependencies: { [code]: [code] },
      minProperties: code,
    };
    createDecoder({ name: "evil", foreign: true, parameters }).decode({ [code]: code });
    expect(globalThis).not.toHaveProperty("smuggled");
  });

  it("end the call when they send the validator round in circles", () => {
    const parameters = {
      properties: { p: { $ref: "#/definitions/a" } },
      definitions: { a: { $ref: "#/definitions/a" } },
    };
    expect(createDecoder({ name: "loop", parameters }).decode({ p: 1 }).ok).toBe(false);
  });

  it("end the call as unavailable when they cannot be compiled", () => {
    const decoded = createDecoder({
      name: "broken",
      parameters: { properties: { p: { pattern: "(" } } },
    }).decode({});
    expect(decoded).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  });
});

describe("checkSchema", () => {
  const own = { foreign: false };
  const outside = { foreign: true };

  it("accepts object schemas", () => {
    for (const schema of [
      {},
      { type: "object" },
      { type: ["object", "null"] },
      { properties: { a: true } },
    ]) {
      expect(checkSchema(schema, outside)).toBeUndefined();
    }
  });

  it.each([
    ["no schema", undefined],
    ["null", null],
    ["a list", []],
    ["text", "object"],
    ["another type", { type: "string" }],
    ["properties that are a list", { properties: [] }],
    ["required that is text", { required: "a" }],
    ["a property that is no schema", { properties: { a: "string" } }],
    ["a reference to nothing", { properties: { a: { $ref: "#/definitions/missing" } } }],
    [
      "a reference in a circle",
      { properties: { a: { $ref: "#/definitions/a" } }, definitions: { a: { $ref: "#/definitions/a" } } },
    ],
    ["a broken pattern", { properties: { a: { pattern: "(" } } }],
  ])("refuses %s", (_what, schema) => {
    expect(checkSchema(schema, own)).toMatchObject({ code: "bad_request" });
  });

  it("refuses hostile schemas from outside with a reason", () => {
    const redos = { patternProperties: { "^(a+)+$": {} } };
    expect(checkSchema(redos, outside)?.message).toContain("exponential");
    expect(checkSchema(redos, own)).toBeUndefined();
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const next = { $ref: `#/definitions/d${index + 1}` };
        return [`d${index}`, index === 39 ? {} : { allOf: [next, next] }];
      }),
    );
    expect(checkSchema({ allOf: [{ $ref: "#/definitions/d0" }], definitions }, outside)?.message).toContain(
      "multiply",
    );
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 10_000; level += 1) deep = { properties: { a: deep } };
    expect(checkSchema(deep, outside)?.message).toContain("deeper");
  });

  it.each(["^x-", "^[a-z_]+$", ".*", "^\\d{1,3}$", "^(get|set)_\\w+$", "^S_"])(
    "%s is simple enough",
    (pattern) => {
      expect(isProvablyLinear(pattern)).toBe(true);
    },
  );

  it.each([
    "(a+)+",
    "^(a|b)*$",
    "a+$",
    "^a*a*$",
    "^(?=a)b",
    "(a)\\1",
    "^a|b+$",
    "a?".repeat(30),
    "(a|a)".repeat(30),
    "a{0,5000}",
  ])("%s is not provably linear", (pattern) => {
    expect(isProvablyLinear(pattern)).toBe(false);
  });
});

describe("describeSignature", () => {
  it("shows names, kinds, options and defaults on one line", () => {
    const parameters = {
      type: "object",
      properties: {
        query: { type: "string" },
        max_results: { type: "integer", default: 10 },
        engine: { enum: ["a", "b"] },
        headers: { type: "object", additionalProperties: { type: "string" } },
        body: { type: ["string", "null"] },
        tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
        at: { $ref: "#/definitions/point" },
        "odd name": {},
      },
      required: ["query"],
      definitions: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    };
    expect(describeSignature("web_search", parameters)).toBe(
      'web_search(query: string, max_results?: integer = 10, engine?: "a"|"b", headers?: Record<string, string>, ' +
        'body?: string|null, tags?: (string|integer)[], at?: {x: number}, "odd name"?: any)',
    );
  });

  it("stays bounded for huge and recursive schemas", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    expect(describeSignature("big", { properties }).length).toBeLessThan(1000);
    expect(describeSignature("self", { properties: { a: { $ref: "#" } } })).toContain("self(a?: {a?:");
    expect(describeSignature("empty", {})).toBe("empty()");
  });
});
