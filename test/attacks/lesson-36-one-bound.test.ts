import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeResults, parseRequest, ToolRegistry, ToolResult, textOf } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

const PER_RESULT = 100_000;
const PER_TURN = 200_000;
const MCP = 50_000;

describe("lesson 36: one bound holds for every result, whatever made it and whatever shape it has", () => {
  const shapes: [string, (size: number) => unknown][] = [
    ["text", (size) => "x".repeat(size)],
    ["lines", (size) => "line\n".repeat(size / 5)],
    ["an object", (size) => ({ rows: Array.from({ length: size / 10 }, () => "abcdefg") })],
    ["JSON text", (size) => JSON.stringify({ big: "x".repeat(size) })],
    [
      "content parts",
      (size) =>
        new ToolResult({
          success: true,
          content: Array.from({ length: 10 }, () => ({ type: "text" as const, text: "x".repeat(size / 10) })),
        }),
    ],
    [
      "a resource",
      (size) =>
        new ToolResult({
          success: true,
          content: [{ type: "resource", uri: "x://y", text: "x".repeat(size) }],
        }),
    ],
    [
      "a resource address",
      (size) =>
        new ToolResult({ success: true, content: [{ type: "resource", uri: `x://${"y".repeat(size)}` }] }),
    ],
    [
      "a small text with a large output",
      (size) =>
        new ToolResult({
          success: true,
          content: [{ type: "text", text: "small" }],
          output: { big: "x".repeat(size) },
        }),
    ],
    [
      "an error",
      (size) => {
        throw new Error("e".repeat(size));
      },
    ],
    [
      "a failed result",
      (size) =>
        new ToolResult({ success: false, error: "e".repeat(size), output: { big: "x".repeat(size) } }),
    ],
    [
      "a multimodal envelope",
      (size) => ({ _multimodal: true, content: [{ type: "text", text: "x".repeat(size) }] }),
    ],
    [
      "a stream",
      (size) =>
        (async function* () {
          yield { chunk: "x" };
          yield "x".repeat(size);
        })(),
    ],
  ];

  it.each(shapes)("%s, of a built-in and of an MCP server, in every wire format", async (_what, make) => {
    const registry = new ToolRegistry();
    registry.add(tool("own", () => make(400_000) as string));
    registry.add(
      tool("foreign", () => make(400_000) as string, { toolset: "mcp-big", maxResultSizeChars: 1e9 }),
      {
        provenance: { kind: "mcp" },
      },
    );
    const { runtime } = await testRuntime([], { registry });
    const session = await runtime.openSession();
    const requests = ["own", "foreign"].flatMap((name) => [
      { tool_calls: [{ id: "1", name, arguments: {} }] },
      { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name, arguments: "{}" } }] },
      { role: "assistant", content: [{ type: "tool_use", id: "1", name, input: {} }] },
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } },
    ]);
    for (const wire of requests) {
      const request = parseRequest(wire);
      if ("code" in request) throw new Error(request.message);
      const results = await session.callAll(request.calls);
      const limit = request.calls[0]?.name === "foreign" ? MCP : PER_RESULT;
      expect(textOf(results[0]?.content ?? []).length).toBeLessThanOrEqual(limit);
      expect(JSON.stringify(encodeResults(request, results)).length).toBeLessThan(limit * 1.3);
    }
  });

  it("what is cut is whole in a file, and the file says the same as the result would have", async () => {
    const whole = `first line\n${"middle ünï 𝒳\n".repeat(20_000)}last line`;
    const { runtime } = await testRuntime([tool("big", () => whole)]);
    const session = await runtime.openSession();
    const result = await session.call({ id: "../../escape\0me", name: "big" });
    expect(result.truncated).toBe(true);
    expect(readFileSync(result.spilled_to ?? "", "utf8")).toBe(whole);
    expect(result.spilled_to).toContain(runtime.config.paths.cache);
  });

  it("a batch together stays within its turn, whatever the sizes", async () => {
    const sized = tool("sized", (args) => "z".repeat((args as { x: number }).x));
    const { runtime } = await testRuntime([sized]);
    const session = await runtime.openSession();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 150_000 }), { maxLength: 12 }), async (sizes) => {
        const results = await session.callAll(sizes.map((x) => ({ name: "sized", arguments: { x } })));
        const total = results.reduce((sum, result) => sum + textOf(result.content).length, 0);
        expect(total).toBeLessThanOrEqual(PER_TURN);
        for (const [index, result] of results.entries()) {
          if (result.spilled_to === undefined) expect(textOf(result.content).length).toBe(sizes[index]);
          else expect(existsSync(result.spilled_to)).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("a limit that a tool declares can lower the bound, never raise it; nonsense counts as none", async () => {
    for (const declared of [5_000, 1e12, -1, 0, Number.NaN, "9" as never]) {
      const { runtime } = await testRuntime([
        tool("big", () => "x".repeat(120_000), { maxResultSizeChars: declared }),
      ]);
      const session = await runtime.openSession();
      const result = await session.call({ name: "big" });
      expect([declared, result.truncated]).toEqual([declared, true]);
    }
  });
});
