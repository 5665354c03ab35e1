import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { longestBlockOf, tool } from "./support.js";

/** Patterns that take a backtracking engine longer than the universe on the text beside them. */
const BOMBS: [pattern: string, text: string][] = [
  ["^(a+)+$", `${"a".repeat(50)}!`],
  ["^(a|aa)+$", `${"a".repeat(60)}!`],
  ["(x+x+)+y", "x".repeat(60)],
  ["^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$", `${"a".repeat(60)}!`],
  ["(.*){1,30}[bc]", `${"a".repeat(80)}`],
  ["^(?:a?){40}a{40}$", "a".repeat(39)],
  ["^(((a{30}){30}){30}){30}$", "a".repeat(1_000)],
  ["^(?:[\\w.+-]{1,900}){900}$", "a".repeat(1_000)],
  ["(a+)\\1+b", "a".repeat(5_000)],
  ["^(?=(a+)+$)", `${"a".repeat(60)}!`],
];

describe("lesson 23: a foreign pattern cannot hang the validator", () => {
  it.each(BOMBS)("%s", async (pattern, value) => {
    const registry = new ToolRegistry();
    const schemas = [
      { type: "object", properties: { x: { type: "string", pattern } }, required: ["x"] },
      { type: "object", patternProperties: { [pattern]: { type: "string" } }, additionalProperties: false },
      { type: "object", propertyNames: { pattern }, minProperties: 1 },
    ];
    for (const [index, parameters] of schemas.entries()) {
      const foreign = tool(`foreign_${index}`, () => "ran", { toolset: "mcp-bad", parameters });
      try {
        registry.add(foreign, { provenance: { kind: "mcp", source: "bad" } });
      } catch (error) {
        // Some places cannot take a linear engine; there the schema is refused as a whole.
        expect((error as Error).message).toContain("only simple patterns are accepted from outside");
      }
    }
    const { runtime } = await testRuntime([], { registry });
    const session = await runtime.openSession();
    for (const [index, args] of [{ x: value }, { [value]: "v" }, { [value]: "v" }].entries()) {
      const call = { name: `foreign_${index}`, arguments: args };
      await session.call(call);
      const block = await longestBlockOf(() => session.call(call));
      expect(block).toBeLessThan(250);
    }
  });

  it("a schema that is refused leaves the tools beside it alone", async () => {
    const registry = new ToolRegistry();
    const add = (name: string, parameters: Record<string, unknown>) =>
      registry.add(
        tool(name, () => "ran", { toolset: "mcp-bad", parameters }),
        { provenance: { kind: "mcp" } },
      );
    expect(() => add("bad", { type: "object", patternProperties: { "^(a+)+$": {} } })).toThrow(/bad/);
    add("fine", { type: "object", properties: { x: { type: "string", pattern: "^a+$" } } });
    const { runtime } = await testRuntime([], { registry });
    const session = await runtime.openSession();
    expect((await session.call({ name: "fine", arguments: { x: "aaa" } })).ok).toBe(true);
    expect((await session.call({ name: "fine", arguments: { x: "b" } })).error?.code).toBe(
      "invalid_arguments",
    );
    expect((await session.definitions()).map((each) => each.function.name)).toEqual(["fine"]);
  });
});
