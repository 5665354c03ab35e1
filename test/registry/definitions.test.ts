import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool, ToolRegistry } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

const tool = (name: string, extra: object = {}) =>
  defineTool({
    name,
    toolset: "t",
    description: `does ${name}`,
    parameters: { type: "object", properties: { x: { type: "string" } } },
    handler: () => name,
    ...extra,
  });

describe("definitions", () => {
  it("law 10: one view has the same bytes however often and in whatever order it is built", async () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(names, fc.infiniteStream(fc.nat()), async (list, random) => {
        const shuffled = list
          .map((name) => [random.next().value, name] as const)
          .sort((a, b) => a[0] - b[0])
          .map(([, name]) => name);
        const { runtime: one } = await testRuntime(list.map((name) => tool(name)));
        const { runtime: two } = await testRuntime(shuffled.map((name) => tool(name)));
        const first = JSON.stringify(await one.getToolDefinitions());
        expect(JSON.stringify(await two.getToolDefinitions())).toBe(first);
        expect(JSON.stringify(await (await two.openSession()).definitions())).toBe(first);
        expect(JSON.stringify(await one.getToolDefinitions())).toBe(first);
      }),
      { numRuns: 25 },
    );
  });

  it("are remembered until the registry changes, and nobody can change what others got", async () => {
    const { runtime, registry } = await testRuntime([tool("a")]);
    const first = await runtime.getToolDefinitions();
    expect(await runtime.getToolDefinitions()).toBe(first);
    expect(() => (first as unknown[]).push("mine")).toThrow(TypeError);
    registry.add(tool("b"));
    expect((await runtime.getToolDefinitions()).map((definition) => definition.function.name)).toEqual([
      "a",
      "b",
    ]);
    expect(first).toHaveLength(1);
  });

  it("are patched against the tools really present; a patch that throws leaves the static schema", async () => {
    const script = tool("execute_code", {
      dynamicSchemaOverrides: (view: { has(name: string): boolean }) => ({
        description: `can call: ${["read_file", "web_search"].filter((name) => view.has(name)).join(", ")}`,
      }),
    });
    const navigate = tool("browser_navigate", {
      dynamicSchemaOverrides: () => {
        throw new Error("no");
      },
    });
    const { runtime, logged } = await testRuntime([
      script,
      navigate,
      tool("read_file"),
      tool("web_search", { checkFn: () => false }),
    ]);
    const definitions = await runtime.getToolDefinitions();
    const descriptions = Object.fromEntries(
      definitions.map((d) => [d.function.name, d.function.description]),
    );
    expect(descriptions.execute_code).toBe("can call: read_file");
    expect(descriptions.browser_navigate).toBe("does browser_navigate");
    expect(logged.join()).toContain("browser_navigate");
    const bare = await runtime.getToolDefinitions({ enabled: ["execute_code"] });
    expect(bare[0]?.function.description).toBe("can call: ");
  });

  it("show the book's spelling when asked to, and both spellings can be called", async () => {
    const { runtime } = await testRuntime([tool("read_file"), tool("terminal")], {
      flags: { "tools.vocabulary": "book" },
    });
    const names = (await runtime.getToolDefinitions()).map((definition) => definition.function.name);
    expect(names).toEqual(["file_read", "terminal"]);
    const session = await runtime.openSession();
    for (const name of ["read_file", "file_read"]) {
      expect(await session.call({ name })).toMatchObject({ ok: true, name: "read_file", called_as: name });
    }
  });

  it("unknown toolsets are an error with a suggestion", async () => {
    const { runtime } = await testRuntime([tool("a")], { registry: new ToolRegistry() });
    await expect(runtime.getToolDefinitions({ enabled: ["termnal"], quiet: true })).rejects.toThrow(
      /terminal/,
    );
  });
});
