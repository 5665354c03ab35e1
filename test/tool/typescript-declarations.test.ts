import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NestedTool } from "../../src/tool/tool.js";
import { compactSignature, declarationsOf } from "../../src/tool/typescript-declarations.js";

const ts = createRequire(import.meta.url)("typescript6") as typeof import("typescript6");

function parsed(text: string) {
  const file = ts.createSourceFile("tools.d.ts", text, ts.ScriptTarget.Latest);
  const { parseDiagnostics } = file as unknown as { parseDiagnostics: readonly { messageText: unknown }[] };
  return {
    statements: file.statements.length,
    errors: parseDiagnostics.map(({ messageText }) => JSON.stringify(messageText)),
  };
}

const VALID = { statements: 1, errors: [] };

const tool = (parameters: unknown, more: Partial<NestedTool> = {}): NestedTool => ({
  name: "tool",
  description: "",
  parameters: parameters as NestedTool["parameters"],
  ...more,
});

/** The type of the arguments alone. */
function typeOf(schema: unknown): string {
  const text = declarationsOf([tool(schema)]);
  return /args\??: (.*)\): Promise<any>;/.exec(text)?.[1] ?? text;
}

/** An object whose one member has this schema. */
const member = (schema: unknown, more: object = {}) => ({
  type: "object",
  properties: { a: schema },
  ...more,
});

describe("declarations of tools for scripts", () => {
  it.each([
    ["a required member", member({ type: "string" }, { required: ["a"] }), "{ a: string }"],
    [
      "optional ones",
      { type: "object", properties: { a: { type: "integer" }, b: { type: "boolean" } } },
      "{ a?: number; b?: boolean }",
    ],
    ["a name that is none", { type: "object", properties: { "a-b": { type: "null" } } }, '{ "a-b"?: null }'],
    ["choices", member({ enum: ["x", 1, null, true] }), '{ a?: "x" | 1 | null | true }'],
    ["one value", member({ const: "only" }), '{ a?: "only" }'],
    ["several types", member({ type: ["string", "null"] }), "{ a?: string | null }"],
    ["nullable", member({ type: "string", nullable: true }), "{ a?: string | null }"],
    ["lists", member({ type: "array", items: { type: "string" } }), "{ a?: string[] }"],
    [
      "lists of alternatives",
      member({ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }),
      "{ a?: (string | number)[] }",
    ],
    [
      "lists of fixed length",
      member({ type: "array", prefixItems: [{ type: "string" }], items: false }),
      "{ a?: [string] }",
    ],
    ["maps", { type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    ["nothing at all", { type: "object", properties: {}, additionalProperties: false }, "{}"],
    [
      "members and others",
      member({ type: "string" }, { additionalProperties: { type: "number" } }),
      "{ a?: string; [key: string]: unknown }",
    ],
    [
      "references",
      member({ $ref: "#/$defs/point" }, { $defs: { point: member({ type: "number" }) } }),
      "{ a?: { a?: number } }",
    ],
    [
      "all of several",
      { allOf: [member({ type: "string" }), { oneOf: [{ const: 1 }, { const: 2 }] }] },
      "{ a?: string } & (1 | 2)",
    ],
    ["references elsewhere", member({ $ref: "https://elsewhere.example/x" }), "{ a?: unknown }"],
    ["what nothing fits", member(false), "{ a?: never }"],
  ])("write %s", (_what, schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  it("say what a tool does, what its members mean, and what comes back", () => {
    const parameters = {
      type: "object",
      properties: {
        path: { type: "string", description: "Where it lies" },
        limit: { type: "integer", default: 10 },
      },
      required: ["path"],
    };
    const output = {
      type: "object",
      properties: { lines: { type: "array", items: { type: "string" } } },
      required: ["lines"],
    };
    const text = declarationsOf([
      tool(parameters, { name: "read_it", description: "Reads it.\nIn lines.", output }),
    ]);
    expect(text).toBe(`declare const tools: {
  /**
   * Reads it.
   * In lines.
   */
  read_it(args: { /** Where it lies */ path: string; /** default 10 */ limit?: number }): Promise<{ lines: string[] }>;
};
`);
  });

  it("come to an end with schemas that contain themselves", () => {
    const tree = {
      type: "object",
      properties: { next: { $ref: "#" }, all: { type: "array", items: { $ref: "#" } } },
    };
    const wide = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${index}`, { $ref: "#" }])),
    };
    const text = declarationsOf([tool(tree), tool(wide), tool({ $ref: "#" }, { name: "circle" })]);
    expect(parsed(text)).toEqual(VALID);
    expect(text.length).toBeLessThan(60_000);
  });

  it("stay valid whatever names and texts hold", () => {
    const nasty = "*/ }; evil(); /* \"'`$" + "{}\u2028\n//\\";
    const properties = { [nasty]: { type: "string", description: nasty, enum: [nasty] }, ["__proto__"]: {} };
    const text = declarationsOf([tool({ type: "object", properties }, { name: nasty, description: nasty })]);
    expect(parsed(text)).toEqual(VALID);
  });

  it("shorten long lists of choices without forbidding the rest", () => {
    const many = Array.from({ length: 500 }, (_, index) => `choice${index}`);
    expect(typeOf(member({ enum: many }))).toMatch(/"choice23" \| \(string & \{\}\) \}$/);
  });

  it("are names by group when there are too many tools, and sizes of groups when even these are", () => {
    const tools = Array.from({ length: 300 }, (_, index) =>
      tool(
        { type: "object", properties: {} },
        { name: `mcp_server${index % 3}_do_${index}`, description: "Does it" },
      ),
    );
    const names = declarationsOf(tools, { maxChars: 10_000 });
    expect(names.length).toBeLessThanOrEqual(10_000);
    expect(names).toContain("// mcp_server0: mcp_server0_do_0 mcp_server0_do_3");
    expect(names).toContain("searchTools");
    const sizes = declarationsOf(tools, { maxChars: 1_000 });
    expect(sizes.length).toBeLessThanOrEqual(1_000);
    expect(sizes).toContain("mcp_server2 (100)");
    for (const text of [names, sizes]) expect(parsed(text)).toEqual(VALID);
  });
});

const { schema } = fc.letrec((again) => {
  const key = fc.oneof(fc.string(), fc.constantFrom("a", "b", "__proto__", "*/", "a-b", "constructor"));
  const inner = again("schema");
  return {
    schema: fc.oneof(
      { depthSize: "small", maxDepth: 4 },
      fc.constantFrom<unknown>(true, false, null, 7, {}, { $ref: "#" }, { $ref: "#/properties/a" }),
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom<unknown>(
              "string",
              "number",
              "integer",
              "boolean",
              "null",
              "object",
              "array",
              "odd",
            ),
            fc.array(fc.constantFrom("string", "null", "object", "array"), { maxLength: 3 }),
          ),
          description: fc.string({ unit: "binary" }),
          default: fc.jsonValue(),
          nullable: fc.boolean(),
          enum: fc.array(fc.oneof(fc.jsonValue(), fc.double()), { maxLength: 40 }),
          const: fc.jsonValue(),
          items: fc.oneof(inner, fc.array(inner, { maxLength: 3 })),
          prefixItems: fc.array(inner, { maxLength: 3 }),
          properties: fc.dictionary(key, inner, { maxKeys: 4 }),
          required: fc.oneof(fc.array(key), fc.constant(7)),
          additionalProperties: inner,
          anyOf: fc.array(inner, { maxLength: 3 }),
          oneOf: fc.array(inner, { maxLength: 30 }),
          allOf: fc.array(inner, { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
    ),
  };
});

it("law: whatever the schema holds, the declaration parses and is one statement", () => {
  const made = fc.record({
    name: fc.string({ unit: "binary" }),
    description: fc.string({ unit: "binary" }),
    parameters: schema,
    output: schema,
  });
  fc.assert(
    fc.property(made, (given) => {
      expect(parsed(declarationsOf([given as NestedTool]))).toEqual(VALID);
    }),
    { numRuns: 300 },
  );
});

describe("one line to call a tool by", () => {
  const parameters = {
    type: "object",
    properties: {
      query: {
        type: "string",
        description: "What to look for, in as many words as it takes to say it well enough",
      },
      limit: { type: "integer", default: 5 },
      sort: { enum: ["new", "old"] },
    },
    required: ["query"],
  };

  it("tells types and as much about the parameters as there is room for", () => {
    const whole = compactSignature({ name: "find", parameters }, 600);
    expect(whole).toBe(
      "find(args: { /** What to look for, in as many words as it takes to say it well enough */ query: string; " +
        '/** default 5 */ limit?: number; sort?: "new" | "old" })',
    );
    expect(compactSignature({ name: "find", parameters }, 75)).toBe(
      'find(args: { query: string; limit?: number; sort?: "new" | "old" })',
    );
  });

  it("law: it is never longer than asked, whatever the schema holds", () => {
    fc.assert(
      fc.property(fc.string(), schema, fc.integer({ min: 20, max: 600 }), (name, given, maxChars) => {
        const line = compactSignature({ name, parameters: given } as NestedTool, maxChars);
        expect(line.length).toBeLessThanOrEqual(maxChars);
      }),
      { numRuns: 200 },
    );
  });
});
