import { describe, expect, it } from "vitest";
import { defineTool, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const order = defineTool({
  name: "place_order",
  description: "orders things",
  parameters: {
    type: "object",
    properties: {
      items: { type: "array", items: { type: "string" }, minItems: 1 },
      amount: { type: "integer", minimum: 1 },
      note: { type: "string" },
      express: { type: "boolean", default: false },
    },
    required: ["items", "amount"],
    additionalProperties: false,
  },
  handler: (args) => JSON.stringify(args),
});

async function send(args: unknown, name = "place_order") {
  const { runtime } = await testRuntime([order as AnyTool]);
  const session = await runtime.openSession();
  return session.call({ name, arguments: args });
}

const good = { items: ["tea"], amount: 3, express: false };

describe("lesson 18: what models send wrongly is mended where it fails, or refused with the signature", () => {
  it.each<[string, unknown, string?]>([
    ["a list as JSON text", { items: '["tea"]', amount: 3 }],
    ["a single value for a list", { items: "tea", amount: 3 }],
    ["a number as text", { items: ["tea"], amount: "3" }],
    ["everything as text", '{"items":"[\\"tea\\"]","amount":"3","express":"false"}'],
    ["text within text", JSON.stringify(JSON.stringify({ items: ["tea"], amount: 3 }))],
    ["a wrapper", { arguments: { items: ["tea"], amount: 3 } }],
    ["a wrapper of text", { args: '{"items":["tea"],"amount":3}' }],
    ["a trailing comma", '{"items":["tea"],"amount":3,}'],
    ["Python words", "{'items': ['tea'], 'amount': 3, 'express': False}"],
    ["a fence", '```json\n{"items":["tea"],"amount":3}\n```'],
    ["a doubled name", { items: ["tea"], amount: 3 }, "place_orderplace_order"],
    ["a prefixed name", { items: ["tea"], amount: 3 }, "functions.place_order"],
    ["another case", { items: ["tea"], amount: 3 }, "PlaceOrder"],
    ["a suffix", { items: ["tea"], amount: 3 }, "place_order_tool"],
  ])("%s", async (_what, args, name) => {
    const result = await send(args, name);
    expect(result.error).toBeUndefined();
    expect(JSON.parse(textOf(result.content))).toEqual(good);
  });

  it("what fits is not touched: text that looks like JSON stays text", async () => {
    const result = await send({ items: ['["a"]', "7", "true", "null"], amount: 1, note: "[1,2]" });
    expect(JSON.parse(textOf(result.content))).toMatchObject({
      items: ['["a"]', "7", "true", "null"],
      note: "[1,2]",
    });
  });

  it.each<[string, unknown]>([
    ["nothing at all", ""],
    ["an empty object", {}],
    ["half a sentence", '{"items":["tea'],
    ["two objects", '{"items":["tea"],"amount":1}{"items":["milk"],"amount":2}'],
    ["a fraction for a whole number", { items: ["tea"], amount: "3.5" }],
    ["infinity", { items: ["tea"], amount: "Infinity" }],
    ["a wrapper of nothing", { arguments: "{}" }],
    ["a list of the arguments", [["tea"], 3]],
    ["prose", "three teas, please"],
    ["an unknown key", { items: ["tea"], amount: 3, amuont: 4 }],
  ])("%s is refused with the signature and never run with an invented {}", async (_what, args) => {
    const result = await send(args);
    expect(result.error?.code).toBe("invalid_arguments");
    expect(textOf(result.content)).toContain("place_order(items: string[], amount: integer");
  });

  it("a repair is recorded", async () => {
    const { runtime } = await testRuntime([order as AnyTool], { journal: true });
    const session = await runtime.openSession();
    await session.call({ name: "place_order", arguments: { items: "tea", amount: "3" } });
    const [row] = await (await runtime.journal()).recent({ limit: 1 });
    expect(row?.repairs).toMatch(/amount/);
  });
});
