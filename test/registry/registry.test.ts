import { describe, expect, it } from "vitest";
import { createLogger, defineTool, ToolRegistry } from "../../src/index.js";

const schema = { description: "d", parameters: { type: "object", properties: {} } };
const make = (name: string, toolset: string, answer = name) => ({
  name,
  toolset,
  schema,
  handler: () => answer,
});

function loggedRegistry() {
  const lines: string[] = [];
  return {
    registry: new ToolRegistry({
      logger: createLogger({ level: "debug", sink: (line) => void lines.push(line) }),
    }),
    lines,
  };
}

describe("name collisions", () => {
  it("the same toolset overwrites silently, as hot reload does", () => {
    const { registry, lines } = loggedRegistry();
    expect(registry.register(make("a", "one", "first"))).toBe(true);
    const before = registry.get("a");
    expect(registry.register(make("a", "one", "second"))).toBe(true);
    expect(registry.get("a")).not.toBe(before);
    expect(lines).toEqual([]);
  });

  it("another toolset is rejected with an error log, the standing tool stays, nothing is thrown", () => {
    const { registry, lines } = loggedRegistry();
    registry.register(make("a", "one"));
    const standing = registry.get("a");
    expect(registry.register(make("a", "two"))).toBe(false);
    expect(registry.get("a")).toBe(standing);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("error");
    expect(registry.conflicts).toMatchObject([
      { name: "a", kept: { toolset: "one" }, rejected: { toolset: "two" } },
    ]);
  });

  it("override replaces and says so", () => {
    const { registry, lines } = loggedRegistry();
    registry.register(make("a", "one"));
    expect(registry.register({ ...make("a", "two"), override: true })).toBe(true);
    expect(registry.get("a")?.toolset).toBe("two");
    expect(lines.join()).toContain("info");
  });

  it("one MCP toolset may take a name over from another", () => {
    const { registry } = loggedRegistry();
    registry.register(make("a", "mcp-x"));
    expect(registry.register(make("a", "mcp-y"))).toBe(true);
    expect(registry.get("a")?.toolset).toBe("mcp-y");
    expect(registry.register(make("a", "other"))).toBe(false);
  });
});

describe("what cannot be registered", () => {
  it.each([
    ["a string", "text"],
    ["null", null],
    ["an array", []],
    ["a number", 7],
  ])("a schema that is %s", (_kind, bad) => {
    const registry = new ToolRegistry();
    expect(() => registry.register({ ...make("a", "t"), schema: bad as never })).toThrow(/schema/);
    expect(registry.size).toBe(0);
  });

  it.each([["text"], [null], [[]], [{ type: "string" }]])("parameters that are %j", (bad) => {
    const registry = new ToolRegistry();
    expect(() =>
      registry.register({ ...make("a", "t"), schema: { description: "", parameters: bad as never } }),
    ).toThrow();
    expect(registry.size).toBe(0);
  });

  it.each(["", "a b", "__proto__\n", "x".repeat(65), "../x"])("the name %j", (name) => {
    expect(() => new ToolRegistry().register(make(name, "t"))).toThrow(/name/);
  });
});

describe("generation, snapshots, aliases", () => {
  it("every mutation raises the generation; reading does not", () => {
    const registry = new ToolRegistry();
    const seen: number[] = [registry.generation];
    const step = (act: () => unknown) => {
      act();
      seen.push(registry.generation);
    };
    step(() => registry.register(make("a", "t")));
    step(() => registry.aliasToolset("tee", "t"));
    step(() => registry.deregister("a"));
    expect(new Set(seen).size).toBe(seen.length);
    const after = registry.generation;
    registry.snapshot();
    registry.get("a");
    registry.deregister("a");
    expect(registry.generation).toBe(after);
  });

  it("a snapshot does not change under its reader", () => {
    const registry = new ToolRegistry();
    registry.register(make("a", "t"));
    const snapshot = registry.snapshot();
    for (const name of snapshot.entries.keys()) {
      registry.register(make(`${name}x`, "t"));
      registry.deregister(name);
    }
    expect([...snapshot.entries.keys()]).toEqual(["a"]);
    expect([...registry.snapshot().entries.keys()]).toEqual(["ax"]);
  });

  it("the last tool of a toolset takes the toolset's aliases with it", () => {
    const registry = new ToolRegistry();
    registry.register(make("a", "t"));
    registry.register(make("b", "t"));
    registry.aliasToolset("tee", "t");
    registry.deregister("a");
    expect(registry.snapshot().toolsetAliases.get("tee")).toBe("t");
    registry.deregister("b");
    expect(registry.snapshot().toolsetAliases.size).toBe(0);
  });

  it("a second meaning of a toolset alias replaces the first and warns", () => {
    const { registry, lines } = loggedRegistry();
    registry.aliasToolset("x", "one");
    registry.aliasToolset("x", "two");
    expect(registry.snapshot().toolsetAliases.get("x")).toBe("two");
    expect(lines.join()).toContain("warn");
  });
});

describe("scoped registration", () => {
  const value = (name: string, answer: string) =>
    defineTool({
      name,
      toolset: answer,
      description: answer,
      parameters: { type: "object" },
      handler: () => answer,
    });

  it("covers what was there and reveals it again, in any order of disposal", () => {
    const registry = new ToolRegistry();
    registry.add(value("a", "base"));
    const first = registry.scoped([value("a", "first"), value("b", "only")]);
    const second = registry.scoped([value("a", "second")]);
    expect(registry.get("a")?.description).toBe("second");
    first[Symbol.dispose]();
    expect(registry.get("a")?.description).toBe("second");
    expect(registry.get("b")).toBeUndefined();
    second[Symbol.dispose]();
    second[Symbol.dispose]();
    expect(registry.get("a")?.description).toBe("base");
  });
});
