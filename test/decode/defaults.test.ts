import { describe, expect, it } from "vitest";
import { createDecoder } from "../../src/tool/decode.js";
import type { JsonSchema } from "../../src/tool/json-schema.js";

function decode(parameters: JsonSchema, args: unknown): unknown {
  const decoded = createDecoder({ name: "t", parameters }).decode(args);
  if (!decoded.ok) throw new Error(decoded.failure.message);
  return decoded.args;
}

describe("defaults", () => {
  it("fill in what is absent and leave what is given", () => {
    const parameters = { properties: { a: { default: 1 }, b: { default: false }, c: { default: null } } };
    expect(decode(parameters, { a: 0 })).toEqual({ a: 0, b: false, c: null });
    expect(decode(parameters, { a: undefined })).toEqual({ a: 1, b: false, c: null });
  });

  it("reach into nested objects, list items, references and parts of allOf", () => {
    const parameters = {
      definitions: { point: { type: "object", properties: { y: { type: "integer", default: 7 } } } },
      properties: {
        nested: { type: "object", properties: { x: { default: 1 } } },
        list: { type: "array", items: { $ref: "#/definitions/point" } },
        one: { $ref: "#/definitions/point" },
        both: { allOf: [{ properties: { p: { default: 1 } } }, { properties: { q: { default: 2 } } }] },
        absent: { type: "object", properties: { z: { default: 1 } } },
      },
    };
    expect(decode(parameters, { nested: {}, list: [{}, { y: 1 }], one: {}, both: {} })).toEqual({
      nested: { x: 1 },
      list: [{ y: 7 }, { y: 1 }],
      one: { y: 7 },
      both: { p: 1, q: 2 },
    });
  });

  it("follow recursive schemas as far as the value goes", () => {
    const parameters = {
      definitions: {
        node: { type: "object", properties: { size: { default: 1 }, child: { $ref: "#/definitions/node" } } },
      },
      properties: { root: { $ref: "#/definitions/node" } },
    };
    expect(decode(parameters, { root: { child: { child: {} } } })).toEqual({
      root: { size: 1, child: { size: 1, child: { size: 1 } } },
    });
  });

  it("are never shared between calls or with the schema", () => {
    const parameters = { properties: { tags: { type: "array", default: ["a"] } } };
    const decoder = createDecoder({ name: "t", parameters });
    const first = decoder.decode({});
    if (first.ok) (first.args.tags as string[]).push("b");
    expect(decoder.decode({})).toMatchObject({ args: { tags: ["a"] } });
    expect(parameters.properties.tags.default).toEqual(["a"]);
  });

  it("are left out when their own schema refuses them", () => {
    expect(decode({ properties: { a: { type: "string", default: null }, b: { default: 2 } } }, {})).toEqual({
      b: 2,
    });
    const parameters = {
      $defs: { n: { type: "integer" } },
      properties: { a: { $ref: "#/$defs/n", default: 3 } },
    };
    expect(decode(parameters, {})).toEqual({ a: 3 });
  });

  it("are left out when together they would make a valid call invalid", () => {
    const parameters = { maxProperties: 1, properties: { a: { default: 1 }, b: {} } };
    expect(decode(parameters, { b: 2 })).toEqual({ b: 2 });
    expect(decode(parameters, {})).toEqual({ a: 1 });
  });

  it("work for names that every object inherits", () => {
    expect(decode({ properties: { valueOf: { type: "string", default: "v" } } }, {})).toEqual({
      valueOf: "v",
    });
  });
});
