import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../../src/registry/registry.js";
import type { AnyTool } from "../../src/tool/tool.js";

function tool(name: string, toolset = "mcp-here", description = name): AnyTool {
  return {
    name,
    toolset,
    description,
    parameters: { type: "object", properties: {} },
    permissions: [],
    handler: () => description,
  };
}

const provenance = { kind: "mcp", source: "here" } as const;

describe("what a source brings", () => {
  it("takes the place of what it brought before, in one step", () => {
    const registry = new ToolRegistry();
    registry.swap({ source: "mcp:here", provenance, tools: [tool("a"), tool("b")] });
    const generations: number[] = [];
    registry.onChange((generation) => {
      generations.push(generation);
      expect([...registry.snapshot().entries.keys()]).toEqual(["b", "c"]);
    });
    const report = registry.swap({
      source: "mcp:here",
      provenance,
      tools: [tool("b", "mcp-here", "new"), tool("c")],
    });
    expect(report).toEqual({ added: ["c"], changed: ["b"], removed: ["a"], rejected: [] });
    expect(generations).toHaveLength(1);
    expect(registry.get("b")?.description).toBe("new");
  });

  it("leaves an unchanged tool and its version alone", () => {
    const registry = new ToolRegistry();
    const same = tool("a");
    registry.swap({ source: "mcp:here", provenance, tools: [same] });
    const [entry, { generation }] = [registry.get("a"), registry];
    expect(registry.swap({ source: "mcp:here", provenance, tools: [same] })).toEqual({
      added: [],
      changed: [],
      removed: [],
      rejected: [],
    });
    expect(registry.get("a")).toBe(entry);
    expect(registry.generation).toBe(generation);
  });

  it("cannot take a built-in's name unless it may, and gives it back when it goes", () => {
    const registry = new ToolRegistry();
    registry.add(tool("terminal", "terminal", "built in"), { provenance: { kind: "builtin" } });
    const refused = registry.swap({
      source: "plugin:p",
      provenance,
      tools: [tool("terminal"), tool("other")],
    });
    expect(refused.rejected).toEqual([
      { name: "terminal", reason: "toolset terminal already owns that name" },
    ]);
    expect(refused.added).toEqual(["other"]);
    const overrides = new Set(["terminal"]);
    registry.swap({ source: "plugin:p", provenance, tools: [tool("terminal", "x", "first")], overrides });
    registry.swap({ source: "plugin:p", provenance, tools: [tool("terminal", "x", "second")], overrides });
    expect(registry.get("terminal")?.description).toBe("second");
    registry.swap({ source: "plugin:p", provenance, tools: [] });
    expect(registry.get("terminal")?.description).toBe("built in");
  });

  it("leaves out a tool that cannot be registered and one that comes twice, and takes the others", () => {
    const registry = new ToolRegistry();
    const report = registry.swap({
      source: "mcp:here",
      provenance,
      tools: [tool("bad name"), tool("good"), tool("good")],
    });
    expect(report.added).toEqual(["good"]);
    expect(report.rejected.map(({ name }) => name)).toEqual(["bad name", "good"]);
  });

  it("brings and takes its toolset's other name, which never covers one that is taken", () => {
    const registry = new ToolRegistry();
    registry.aliasToolset("taken", "web");
    const toolsetAliases = { here: "mcp-here", taken: "mcp-here" };
    registry.swap({ source: "mcp:here", provenance, tools: [tool("a")], toolsetAliases });
    expect(Object.fromEntries(registry.snapshot().toolsetAliases)).toEqual({
      taken: "web",
      here: "mcp-here",
    });
    registry.swap({ source: "mcp:here", provenance, tools: [] });
    expect(Object.fromEntries(registry.snapshot().toolsetAliases)).toEqual({ taken: "web" });
  });

  it("frees a replaced version only after the calls that run it", async () => {
    const registry = new ToolRegistry();
    let freed = 0;
    const held = {
      ...tool("a"),
      dispose: () => {
        freed += 1;
      },
    };
    registry.swap({ source: "mcp:here", provenance, tools: [held] });
    const entry = registry.get("a");
    entry?.pin();
    registry.swap({ source: "mcp:here", provenance, tools: [tool("a")] });
    expect(freed).toBe(0);
    entry?.unpin();
    expect(freed).toBe(1);
  });

  it("after any series of changes the registry holds what the sources brought last, first come first served", () => {
    const change = fc.record({
      source: fc.constantFrom("one", "two"),
      names: fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d")),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const registry = new ToolRegistry();
        const model = new Map<string, string>();
        for (const { source, names } of changes) {
          registry.swap({
            source,
            provenance: { kind: "yaml" },
            tools: names.map((name) => tool(name, source)),
          });
          for (const [name, owner] of model)
            if (owner === source && !names.includes(name)) model.delete(name);
          for (const name of names) if (!model.has(name)) model.set(name, source);
        }
        const held = [...registry.snapshot().entries].map(([name, { toolset }]) => [name, toolset]);
        expect(Object.fromEntries(held)).toEqual(Object.fromEntries(model));
      }),
    );
  });
});
