import { describe, expect, it } from "vitest";
import { createDecoder } from "../../src/tool/decode.js";
import type { JsonSchema } from "../../src/tool/json-schema.js";

/** Decodes one value under the name "v"; undefined = refused. */
function convert(schema: JsonSchema, value: unknown, definitions: Record<string, JsonSchema> = {}): unknown {
  const decoder = createDecoder({
    name: "t",
    parameters: { type: "object", properties: { v: schema }, required: ["v"], definitions },
  });
  const decoded = decoder.decode({ v: value });
  return decoded.ok ? decoded.args.v : undefined;
}

const REFUSED = undefined;

describe("coercion", () => {
  it.each([
    ["integer", "42", 42],
    ["integer", "-3", -3],
    ["integer", " 5 ", 5],
    ["integer", "5.0", 5],
    ["integer", "3.5", REFUSED],
    ["integer", 3.5, REFUSED],
    ["integer", "0x10", REFUSED],
    ["integer", "05", REFUSED],
    ["integer", "1_000", REFUSED],
    ["integer", "", REFUSED],
    ["integer", true, REFUSED],
    ["integer", null, REFUSED],
    ["integer", "12345678901234567890", REFUSED],
    ["number", "3.5", 3.5],
    ["number", "1e3", 1000],
    ["number", "1e309", REFUSED],
    ["number", "NaN", REFUSED],
    ["number", "Infinity", REFUSED],
    ["boolean", "true", true],
    ["boolean", "False", false],
    ["boolean", "yes", REFUSED],
    ["boolean", 1, REFUSED],
    ["string", 42, "42"],
    ["string", false, "false"],
    ["string", 2 ** 60, REFUSED],
    ["string", { a: 1 }, REFUSED],
    ["string", ["a"], REFUSED],
    ["string", "null", "null"],
    ["object", '{"a":1}', { a: 1 }],
    ["object", "[1]", REFUSED],
    ["object", "a", REFUSED],
    ["array", "[1,2]", [1, 2]],
    ["array", "[1,2", REFUSED],
    ["array", "a", ["a"]],
    ["array", 7, [7]],
    ["array", { 0: "a" }, REFUSED],
    ["array", null, REFUSED],
  ])("%s from %j gives %j", (type, value, expected) => {
    expect(convert({ type }, value)).toEqual(expected);
  });

  it("turns the word null into null only where null is allowed and text is not", () => {
    expect(convert({ type: ["integer", "null"] }, "null")).toBeNull();
    expect(convert({ type: ["string", "null"] }, "null")).toBe("null");
    expect(convert({ type: "integer" }, "null")).toBe(REFUSED);
  });

  it("tries the types of a union in their order", () => {
    expect(convert({ type: ["boolean", "integer"] }, "1")).toBe(1);
    expect(convert({ type: ["string", "integer"] }, "1")).toBe("1");
    expect(convert({ anyOf: [{ type: "integer" }, { type: "boolean" }] }, "true")).toBe(true);
    expect(
      convert({ oneOf: [{ type: "array", items: { type: "integer" } }, { type: "null" }] }, "[1]"),
    ).toEqual([1]);
  });

  it("goes into items, properties, further properties, tuples and references", () => {
    expect(convert({ type: "array", items: { type: "integer" } }, ["1", 2, "3"])).toEqual([1, 2, 3]);
    expect(convert({ type: "array", items: { type: "integer" } }, "7")).toEqual([7]);
    expect(convert({ properties: { n: { type: "integer" } } }, { n: "1" })).toEqual({ n: 1 });
    expect(convert({ additionalProperties: { type: "string" } }, { a: 5 })).toEqual({ a: "5" });
    expect(convert({ items: [{ type: "integer" }, { type: "string" }] }, ["1", 2])).toEqual([1, "2"]);
    const count = { type: "integer" };
    expect(convert({ type: "array", items: { $ref: "#/definitions/count" } }, '["4"]', { count })).toEqual([
      4,
    ]);
  });

  it("finds the branch of a tagged union and repairs inside it", () => {
    const schema = {
      anyOf: [
        {
          type: "object",
          properties: { kind: { const: "size" }, n: { type: "integer" } },
          required: ["kind", "n"],
        },
        {
          type: "object",
          properties: { kind: { const: "name" }, n: { type: "string" } },
          required: ["kind", "n"],
        },
      ],
    };
    expect(convert(schema, { kind: "size", n: "5" })).toEqual({ kind: "size", n: 5 });
    expect(convert(schema, { kind: "name", n: 5 })).toEqual({ kind: "name", n: "5" });
  });

  it("converts to the kind of the fixed values when no type is given", () => {
    expect(convert({ enum: [1, 2, 3] }, "2")).toBe(2);
    expect(convert({ enum: [1, 2, 3] }, "9")).toBe(REFUSED);
    expect(convert({ enum: ["Low", "High"] }, "low")).toBe(REFUSED);
  });

  it("leaves valid neighbours of a failing value exactly as they are", () => {
    const decoder = createDecoder({
      name: "t",
      parameters: { properties: { n: { type: "integer" }, any: {}, text: { type: "string" } } },
    });
    const decoded = decoder.decode({ n: "1", any: "2", text: "3", more: "4" });
    expect(decoded).toEqual({
      ok: true,
      args: { n: 1, any: "2", text: "3", more: "4" },
      repairs: ['n: "1" → 1'],
    });
  });

  it("does not touch a valid alternative because something else fails", () => {
    const decoder = createDecoder({
      name: "t",
      parameters: {
        properties: {
          n: { type: "integer" },
          either: {
            anyOf: [{ properties: { x: { type: "integer" } } }, { properties: { x: { type: "string" } } }],
          },
        },
      },
    });
    const decoded = decoder.decode({ n: "1", either: { x: "5" } });
    expect(decoded).toEqual({ ok: true, args: { n: 1, either: { x: "5" } }, repairs: ['n: "1" → 1'] });
  });

  it("repairs any number of failing places and reports the first ones", () => {
    const decoder = createDecoder({
      name: "t",
      parameters: { properties: { list: { type: "array", items: { type: "integer" } } } },
    });
    const decoded = decoder.decode({ list: Array.from({ length: 500 }, (_, index) => String(index)) });
    expect(decoded.ok && (decoded.args.list as unknown[])[499]).toBe(499);
    expect(decoded.ok && decoded.repairs.at(-1)).toBe("… and 480 more");
  });
});

describe("names", () => {
  const parameters = {
    type: "object",
    properties: { query: { type: "string" }, max_results: { type: "integer" } },
    required: ["query", "max_results"],
  };
  const decoder = createDecoder({ name: "web_search", parameters });

  it("recognises a parameter in other case and spelling", () => {
    const decoded = decoder.decode({ Query: "q", maxResults: "7" });
    expect(decoded).toMatchObject({ ok: true, args: { query: "q", max_results: 7 } });
    expect(decoded.ok && Object.keys(decoded.args)).toEqual(["query", "max_results"]);
  });

  it("does not choose between two spellings of one parameter", () => {
    expect(decoder.decode({ Query: "a", QUERY: "b", max_results: 1 }).ok).toBe(false);
  });

  it("unwraps arguments that were nested once more, as an object or as text", () => {
    const args = { query: "q", max_results: 1 };
    for (const inner of [args, JSON.stringify(args)]) {
      expect(decoder.decode({ arguments: inner })).toEqual({
        ok: true,
        args,
        repairs: ["arguments: unwrapped"],
      });
    }
  });

  it("does not unwrap a parameter that really has that name", () => {
    const wrapper = createDecoder({
      name: "t",
      parameters: { properties: { args: { type: "object" }, x: {} }, required: ["x"] },
    });
    expect(wrapper.decode({ args: { x: 1 } }).ok).toBe(false);
  });

  it("leaves out null for an optional parameter that does not take it", () => {
    const optional = createDecoder({
      name: "t",
      parameters: { properties: { n: { type: "integer", default: 3 }, maybe: { type: ["string", "null"] } } },
    });
    expect(optional.decode({ n: null, maybe: null })).toEqual({
      ok: true,
      args: { n: 3, maybe: null },
      repairs: ["n: null → left out"],
    });
  });
});

describe("the message of a refusal", () => {
  const decoder = createDecoder({
    name: "make",
    parameters: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, default: 5 },
        colour: { enum: ["red", "blue"] },
        parts: {
          type: "array",
          items: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
        },
      },
      required: ["colour"],
      additionalProperties: false,
    },
  });
  const message = (raw: unknown): string => {
    const decoded = decoder.decode(raw);
    return decoded.ok ? "" : decoded.failure.message;
  };

  it("names path, expectation, what came and the signature", () => {
    expect(message({ colour: "red", size: "big" })).toBe(
      'Invalid arguments for make: size: expected integer, got "big". Signature: ' +
        'make(size?: integer = 5, colour: "red"|"blue", parts?: {id: integer}[])',
    );
  });

  it("covers missing, unknown, nested and out-of-range values", () => {
    expect(message({})).toContain("colour: required, but missing");
    expect(message({ colour: "red", shape: 1 })).toContain("shape: no such parameter");
    expect(message({ colour: "red", parts: [{ id: 1 }, { id: "x" }] })).toContain(
      'parts[1].id: expected integer, got "x"',
    );
    expect(message({ colour: "red", size: 0 })).toContain("size: expected a number >= 1, got 0");
    expect(message({ colour: "pink" })).toContain('colour: expected one of "red", "blue", got "pink"');
  });

  it("stays short whatever was sent", () => {
    expect(message({ colour: "x".repeat(100_000) }).length).toBeLessThan(1000);
    expect(message({ ["k".repeat(100_000)]: 1, colour: "red" }).length).toBeLessThan(1000);
  });
});
