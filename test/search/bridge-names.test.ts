import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../../src/index.js";
import type { Provenance } from "../../src/registry/entry.js";
import { testRuntime } from "../support/runtime.js";
import { names, ON, open, serverTool } from "./fixtures/bridge-session.js";

const SPARE = ["hermes_tool_call", "hermes_tool_describe", "hermes_tool_search"];

/** A server's tool to hide, and others under the given names. */
async function openBeside(others: Readonly<Record<string, Provenance["kind"]>>, flags: object = ON) {
  const registry = new ToolRegistry();
  registry.swap({ source: "mcp:git", provenance: { kind: "mcp" }, tools: [serverTool("git", "merge")] });
  for (const [name, kind] of Object.entries(others)) {
    const tool = { ...serverTool("own", name), name, toolset: "own", handler: () => `ran ${name}` };
    registry.add(tool, { provenance: { kind } });
  }
  const { runtime, logged } = await testRuntime([], { registry, flags: { ...flags } });
  return { runtime, logged, session: await runtime.openSession() };
}

describe("names of the stand-ins", () => {
  it("that a built-in tool has are not used, in any of its spellings", async () => {
    for (const taken of ["terminal", "read_file", "file_read", "send_message"]) {
      const flags = { ...ON, "tools.tool_search.search_name": taken };
      const { session, logged } = await openBeside({ terminal: "builtin", read_file: "builtin" }, flags);
      const shown = await names(session);
      expect(shown).toEqual(["read_file", "terminal", "tool_call", "tool_describe", "tool_search"]);
      expect((await session.call({ name: "terminal", arguments: { title: "x" } })).structured).toBe(
        undefined,
      );
      expect((await session.call({ name: "terminal", arguments: { title: "x" } })).content).toEqual([
        { type: "text", text: "ran terminal" },
      ]);
      expect(logged.filter((line) => line.includes("other tools have them"))).toHaveLength(1);
    }
  });

  it("give way to the person's own tools of the standard names", async () => {
    const { runtime, session } = await openBeside({ tool_search: "home" });
    expect(await names(session)).toEqual([...SPARE, "tool_search"]);
    expect(JSON.stringify(await runtime.getToolDefinitions())).toBe(
      JSON.stringify(await session.definitions()),
    );
    expect((await session.call({ name: "tool_search", arguments: { title: "x" } })).content).toEqual([
      { type: "text", text: "ran tool_search" },
    ]);
    const inner = { name: "mcp_git_merge", arguments: { title: "t" } };
    expect(await session.call({ name: "hermes_tool_call", arguments: inner })).toMatchObject({ ok: true });
  });

  it("leave the tools of others alone when the search is switched off", async () => {
    const { session } = await openBeside({ tool_search: "plugin" }, { "tools.tool_search.enabled": "off" });
    expect(await names(session)).toEqual(["mcp_git_merge", "tool_search"]);
    expect((await session.call({ name: "tool_search", arguments: { title: "x" } })).ok).toBe(true);
  });

  it("are kept against a plugin, which is told in the log", async () => {
    const { session, logged } = await openBeside({ tool_call: "plugin" });
    expect(await names(session)).toEqual(["tool_call", "tool_describe", "tool_search"]);
    await session.openChild().call({ name: "tool_search", arguments: { query: "merge" } });
    expect(logged.filter((line) => line.includes("tool tool_call of own is not offered"))).toHaveLength(1);
  });
});

describe("what can be hidden", () => {
  it("is no core tool, whoever brings it", async () => {
    const { session } = await openBeside({
      send_message: "plugin",
      web_search: "mcp",
      browser_click: "yaml",
    });
    expect(await names(session)).toEqual([
      "browser_click",
      "send_message",
      "tool_call",
      "tool_describe",
      "tool_search",
      "web_search",
    ]);
  });

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])(
    "is not decided by a context window of %s tokens",
    async (contextTokens) => {
      const { runtime } = await open();
      const { tokens, active } = await (await runtime.openSession({ contextTokens })).assembly();
      expect({ threshold: tokens.threshold, active }).toEqual({ threshold: 20_000, active: false });
      const listed = await runtime.getToolDefinitions({ contextTokens });
      expect(listed.map((definition) => definition.function.name)).toContain("mcp_git_close_issue");
    },
  );
});
