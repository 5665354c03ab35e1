import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../../src/tool/decode.js";
import type { JsonSchema } from "../../src/tool/json-schema.js";
import { compileValidator } from "../../src/tool/validate.js";

const scalar: fc.Arbitrary<JsonSchema> = fc.constantFrom<JsonSchema>(
  { type: "string" },
  { type: "integer", minimum: 0, default: 3 },
  { type: "number" },
  { type: "boolean", default: true },
  { type: ["integer", "null"] },
  { enum: ["a", "b", 1], default: "a" },
  { anyOf: [{ type: "integer" }, { type: "array", items: { type: "string" } }] },
  { type: "string", default: null },
  {},
);

const property: fc.Arbitrary<JsonSchema> = fc.oneof(
  scalar,
  scalar.map((items) => ({ type: "array", items })),
  scalar.map((inner) => ({ type: "object", properties: { inner }, default: {} })),
  scalar.map((rest) => ({ type: "object", additionalProperties: rest })),
);

const NAMES = ["alpha", "beta_two", "Gamma", "toString"] as const;

const parameters: fc.Arbitrary<JsonSchema> = fc
  .record({
    properties: fc.record(Object.fromEntries(NAMES.map((name) => [name, property])), { requiredKeys: [] }),
    required: fc.subarray([...NAMES]),
    additionalProperties: fc.constantFrom<unknown>(true, false, { type: "integer" }),
    maxProperties: fc.constantFrom(2, 10),
  })
  .map((schema) => ({ type: "object", ...schema }));

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>("1", "true", "null", "[1]", '{"inner":"2"}', " 7 ", "a", null, 0, -1, []),
);
const args = fc.dictionary(
  fc.oneof(fc.constantFrom(...NAMES, "Alpha", "betaTwo", "arguments"), fc.string()),
  value,
  { maxKeys: 5 },
);

/** Text that is JSON, nearly JSON, or nothing of the kind. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  args.map((given) => JSON.stringify(given)),
  fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", '"', "{", "}", ",", "\\", "'", "NaN", "\n", "\u0000"))
    .map(([json, position, piece]) => {
      const at = position % (json.length + 1);
      return json.slice(0, at) + piece + json.slice(at + piece.length);
    }),
);

/** JSON has one zero; everything else in the arguments must survive being written down. */
function withoutNegativeZero(given: unknown): unknown {
  if (Object.is(given, -0)) return 0;
  if (Array.isArray(given)) return given.map(withoutNegativeZero);
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, withoutNegativeZero(inner)]));
}

describe("decode, for any schema and any input", () => {
  it("never throws, never changes what it is given, and answers with arguments that are valid", () => {
    fc.assert(
      fc.property(
        parameters,
        fc.oneof(args, text, fc.jsonValue(), fc.anything({ withBigInt: true })),
        (schema, raw) => {
          const before = typeof raw === "object" ? fc.stringify(raw) : raw;
          const decoded = createDecoder({ name: "t", parameters: schema }).decode(raw);
          if (typeof raw === "object") expect(fc.stringify(raw)).toBe(before);
          if (decoded.ok) {
            expect(compileValidator(schema).check(decoded.args)).toBe(true);
            expect(JSON.parse(JSON.stringify(decoded.args))).toEqual(withoutNegativeZero(decoded.args));
          } else {
            expect(decoded.failure.code).toBe("invalid_arguments");
            expect(decoded.failure.message.length).toBeLessThan(4000);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("gives valid arguments back unchanged, apart from defaults, and without a repair", () => {
    fc.assert(
      fc.property(parameters, args, (schema, raw) => {
        fc.pre(compileValidator(schema).check(raw) && !Object.hasOwn(raw, "__proto__"));
        const decoder = createDecoder({ name: "t", parameters: schema });
        const decoded = decoder.decode(raw);
        if (!decoded.ok) throw new Error(decoded.failure.message);
        expect(decoded.repairs).toEqual([]);
        expect(decoded.args).toMatchObject(raw);
        const added = Object.keys(decoded.args).filter((key) => !Object.hasOwn(raw, key));
        expect(Object.keys((schema.properties ?? {}) as object)).toEqual(expect.arrayContaining(added));
        expect(decoder.decode(decoded.args)).toEqual(decoded);
      }),
      { numRuns: 300 },
    );
  });

  it("reads an object and its JSON text alike", () => {
    fc.assert(
      fc.property(parameters, args, (schema, raw) => {
        const decoder = createDecoder({ name: "t", parameters: schema });
        expect(decoder.decode(JSON.stringify(raw))).toEqual(decoder.decode(JSON.parse(JSON.stringify(raw))));
      }),
      { numRuns: 500 },
    );
  });

  it("repairs to arguments that need no further repair", () => {
    fc.assert(
      fc.property(parameters, args, (schema, raw) => {
        const decoder = createDecoder({ name: "t", parameters: schema });
        const decoded = decoder.decode(raw);
        if (decoded.ok) expect(decoder.decode(decoded.args)).toMatchObject({ ok: true, repairs: [] });
      }),
      { numRuns: 500 },
    );
  });
});
