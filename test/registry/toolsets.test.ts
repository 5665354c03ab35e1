import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool, ToolRegistry } from "../../src/index.js";
import { CORE_TOOLS, STATIC_TOOLSETS } from "../../src/registry/toolset-table.js";
import {
  type CustomToolset,
  type KnownToolsets,
  resolveToolset,
  selectTools,
} from "../../src/registry/toolsets.js";
import { testRuntime } from "../support/runtime.js";

const tool = (name: string, toolset: string) =>
  defineTool({
    name,
    toolset,
    description: name,
    parameters: { type: "object", properties: {} },
    handler: () => name,
  });

function known(
  tools: readonly [string, string][] = [],
  custom: Record<string, CustomToolset> = {},
): KnownToolsets {
  const registry = new ToolRegistry();
  for (const [name, toolset] of tools) registry.add(tool(name, toolset));
  return { registry: registry.snapshot(), custom: new Map(Object.entries(custom)) };
}

describe("static toolsets", () => {
  it("know the domains of the book with 8, 9, 7, 6, 6 and 8 tools", () => {
    const sizes = ["system", "network", "files", "code", "multimedia", "platform"].map(
      (name) => resolveToolset(name, known())?.length,
    );
    expect(sizes).toEqual([8, 9, 7, 6, 6, 8]);
  });

  it("resolve composites, presets and older names", () => {
    expect(resolveToolset("debugging", known())).toEqual([
      "patch",
      "process",
      "read_file",
      "search_files",
      "terminal",
      "web_extract",
      "web_search",
      "write_file",
    ]);
    expect(resolveToolset("safe", known())).toEqual([
      "image_generate",
      "vision_analyze",
      "web_extract",
      "web_search",
    ]);
    expect(resolveToolset("hermes-cli", known())).toEqual([...CORE_TOOLS].sort());
    expect(resolveToolset("hermes-webhook", known())).toEqual([
      "clarify",
      "vision_analyze",
      "web_extract",
      "web_search",
    ]);
    expect(resolveToolset("file_tools", known())).toEqual([
      "patch",
      "read_file",
      "search_files",
      "write_file",
    ]);
    expect(resolveToolset("browser_tools", known())).toHaveLength(10);
    expect(resolveToolset("hermes-gateway", known())).toEqual(
      expect.arrayContaining(["discord", "matrix_read", "terminal", "yb_send_dm"]),
    );
  });

  it("name only toolsets that exist in their includes", () => {
    for (const [name, definition] of STATIC_TOOLSETS) {
      for (const include of definition.includes ?? []) {
        expect(STATIC_TOOLSETS.has(include), `${name} includes ${include}`).toBe(true);
      }
    }
  });

  it("all means every toolset but the ones that must be named", () => {
    expect(resolveToolset("all", known())).toContain("terminal");
    expect(resolveToolset("*", known())).not.toContain("kanban_show");
  });
});

describe("dynamic and custom toolsets", () => {
  it("a connected server is a toolset with its bare name as an alias", () => {
    const registry = new ToolRegistry();
    registry.add(tool("mcp_github_issue", "mcp-github"));
    registry.aliasToolset("github", "mcp-github");
    const dynamic = { registry: registry.snapshot(), custom: new Map() };
    expect(resolveToolset("mcp-github", dynamic)).toEqual(["mcp_github_issue"]);
    expect(resolveToolset("github", dynamic)).toEqual(["mcp_github_issue"]);
  });

  it("tools registered into a built-in toolset are part of it", () => {
    expect(resolveToolset("web", known([["my_search", "web"]]))).toEqual([
      "my_search",
      "web_extract",
      "web_search",
    ]);
  });

  it("aliases inside lists mean the canonical tool", () => {
    expect(resolveToolset("mine", known([], { mine: { tools: ["file_read", "todo_list"] } }))).toEqual([
      "read_file",
      "todo",
    ]);
  });

  it("cycles and diamonds end, and give the union of what they reach", () => {
    const names = ["s0", "s1", "s2", "s3", "s4"];
    const graph = fc.dictionary(
      fc.constantFrom(...names),
      fc.array(fc.constantFrom(...names), { maxLength: 4 }),
    );
    fc.assert(
      fc.property(graph, (edges) => {
        const custom = Object.fromEntries(
          names.map((name) => [name, { tools: [`t_${name}`], includes: edges[name] ?? [] }]),
        );
        for (const start of names) {
          const reached = new Set([start]);
          for (const node of reached) for (const next of edges[node] ?? []) reached.add(next);
          expect(resolveToolset(start, known([], custom))).toEqual(
            [...reached].map((name) => `t_${name}`).sort(),
          );
        }
      }),
    );
  });

  it("made at run time, they show up in the next session", async () => {
    const { runtime } = await testRuntime([tool("a", "x"), tool("b", "y")]);
    runtime.createToolset("pair", { tools: ["a"], includes: ["y"] });
    const names = (await runtime.getToolDefinitions({ enabled: ["pair"] })).map(
      (definition) => definition.function.name,
    );
    expect(names).toEqual(["a", "b"]);
  });
});

describe("enabled and disabled", () => {
  const tools: [string, string][] = [
    ["terminal", "terminal"],
    ["read_file", "file"],
    ["discord", "discord"],
    ["mine", "custom"],
  ];
  const pick = (request: Parameters<typeof selectTools>[0]) => {
    const { registry } = known(tools);
    const { selects, problems } = selectTools(request, known(tools));
    return { names: [...registry.entries.keys()].filter(selects), problems };
  };

  it("an enabled list means exactly those; none means all", () => {
    expect(pick({ enabled: ["file"] }).names).toEqual(["read_file"]);
    expect(pick({}).names).toEqual(["discord", "mine", "read_file", "terminal"]);
    expect(pick({ enabled: [] }).names).toEqual([]);
  });

  it("disabling is always subtracted at the end, also when enabled is given", () => {
    expect(pick({ enabled: ["file", "terminal"], disabled: ["terminal"] }).names).toEqual(["read_file"]);
    expect(pick({ disabled: ["custom", "file"] }).names).toEqual(["discord", "terminal"]);
  });

  it("disabling a bundle removes only what it adds to the core", () => {
    expect(pick({ disabled: ["hermes-discord"] }).names).toEqual(["mine", "read_file", "terminal"]);
    expect(pick({ disabled: ["coding"] }).names).toEqual(["discord", "mine", "read_file", "terminal"]);
  });

  it("unknown names are errors with suggestions, not silence", () => {
    const { problems } = pick({ enabled: ["termnal"], disabled: ["fil"] });
    expect(problems.map((problem) => problem.message)).toEqual([
      "Unknown toolset: termnal",
      "Unknown toolset: fil",
    ]);
    expect(problems[0]?.hint).toContain("terminal");
    expect(pick({ disabledTools: ["read_fil"] }).problems[0]?.hint).toContain("read_file");
  });

  it("every step explains itself", () => {
    const { explain } = selectTools({ enabled: ["file", "terminal"], disabled: ["terminal"] }, known(tools));
    expect(explain("terminal")).toEqual({
      tool: "terminal",
      selected: false,
      because: "toolset terminal is disabled",
    });
    expect(explain("read_file").because).toBe("toolset file is enabled");
  });
});

describe("configuration", () => {
  const names = async (runtime: Awaited<ReturnType<typeof testRuntime>>["runtime"]) =>
    (await runtime.getToolDefinitions()).map((definition) => definition.function.name);
  const tools = [tool("a", "x"), tool("b", "y"), tool("c", "z")];

  it("a platform's own list counts on that platform, a flag beats it, disabling beats everything", async () => {
    const { mkdirSync, writeFileSync } = await import("node:fs");
    const { tempDir } = await import("../support/runtime.js");
    const home = tempDir();
    mkdirSync(home, { recursive: true });
    writeFileSync(
      `${home}/config.yaml`,
      "toolsets: [x, y]\nplatform_toolsets:\n  cli: [y, z]\nagent:\n  disabled_toolsets: [z]\ncustom_toolsets:\n  mine:\n    tools: [a, c]\n",
    );
    expect(await names((await testRuntime(tools, { home })).runtime)).toEqual(["a", "b"]);
    expect(await names((await testRuntime(tools, { home, platform: "cli" })).runtime)).toEqual(["b"]);
    const flagged = await testRuntime(tools, { home, platform: "cli", flags: { toolsets: ["mine"] } });
    expect(await names(flagged.runtime)).toEqual(["a"]);
  });

  it("an unknown name in it is an error with a suggestion", async () => {
    const { runtime } = await testRuntime(tools, { flags: { toolsets: ["termnal"] } });
    await expect(names(runtime)).rejects.toThrow(/terminal/);
  });
});
