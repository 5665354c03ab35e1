import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { names, ON, open, serverTool } from "./fixtures/bridge-session.js";

describe("when tools are hidden", () => {
  it("shows three stand-ins in place of servers' tools, and core tools as ever", async () => {
    const { session } = await open({ flags: ON });
    expect(await names(session)).toEqual(["terminal", "tool_call", "tool_describe", "tool_search"]);
    const [, , , search] = await session.definitions();
    expect(search?.function.description).toContain("among the 2 that are not listed here (mcp-git 2)");
  });

  it("is a plain list below the threshold, when switched off, and when there is nothing to hide", async () => {
    const all = ["mcp_git_close_issue", "mcp_git_create_issue", "terminal"];
    expect(await names((await open()).session)).toEqual(all);
    expect(await names((await open({ flags: { "tools.tool_search.enabled": "off" } })).session)).toEqual(all);
    const { session } = await open({ flags: ON, session: { toolsets: ["terminal"] } });
    expect(await names(session)).toEqual(["terminal"]);
  });

  it("hides them in auto mode from the share of the context window that is set", async () => {
    const { session } = await open({ more: 20 });
    const { tokens } = await session.assembly();
    const window = tokens.deferrable * 10;
    const hides = async (contextTokens: number) =>
      (await (await open({ more: 20, session: { contextTokens } })).session.assembly()).active;
    expect(await hides(window)).toBe(true);
    expect(await hides(window + 10)).toBe(false);
    const unknown = (await open({ more: 20 })).session;
    expect((await unknown.assembly()).tokens.threshold).toBe(20_000);
  });

  it("takes settings that make no sense as the standard ones", async () => {
    const { session } = await open({
      flags: { ...ON, "tools.tool_search.search_name": "same", "tools.tool_search.call_name": "same" },
    });
    expect(await names(session)).toEqual(["terminal", "tool_call", "tool_describe", "tool_search"]);
  });

  it("gives the stand-ins other names when asked to", async () => {
    const { session } = await open({
      flags: {
        ...ON,
        "tools.tool_search.search_name": "find_tools",
        "tools.tool_search.describe_name": "about_tool",
        "tools.tool_search.call_name": "use_tool",
      },
    });
    expect(await names(session)).toEqual(["about_tool", "find_tools", "terminal", "use_tool"]);
    const result = await session.call({
      name: "use_tool",
      arguments: { name: "mcp_git_close_issue", arguments: { title: "x" } },
    });
    expect(result).toMatchObject({ ok: true, name: "mcp_git_close_issue", called_as: "use_tool" });
  });

  it("gives the same bytes each time it is put together", async () => {
    const { runtime, session } = await open({ flags: ON, more: 5 });
    const again = await runtime.openSession();
    expect(JSON.stringify(await again.definitions())).toBe(JSON.stringify(await session.definitions()));
    expect(JSON.stringify(await runtime.getToolDefinitions())).toBe(
      JSON.stringify(await session.definitions()),
    );
  });
});

describe("searching", () => {
  it("finds a tool by what it does, with a signature to call it by", async () => {
    const { session } = await open({ flags: ON, more: 3 });
    const { structured } = await session.call({
      name: "tool_search",
      arguments: { query: "create a new issue" },
    });
    expect(structured).toMatchObject({ query: "create a new issue", total_available: 5 });
    const [first] = (structured as { matches: { name: string; source: string; signature: string }[] })
      .matches;
    expect(first).toMatchObject({ name: "mcp_git_create_issue", source: "mcp-git" });
    expect(first?.signature).toBe(
      "mcp_git_create_issue(args: { /** What it is about */ title: string; count?: number })",
    );
  });

  it("answers several questions at once, each within the limits", async () => {
    const { session } = await open({ flags: { ...ON, "tools.tool_search.max_search_limit": 2 }, more: 9 });
    const { structured } = await session.call({
      name: "tool_search",
      arguments: { queries: ["close issue", "act"], limit: 50 },
    });
    const { results } = structured as { results: { query: string; matches: { name: string }[] }[] };
    expect(results.map(({ query }) => query)).toEqual(["close issue", "act"]);
    expect(results[0]?.matches[0]?.name).toBe("mcp_git_close_issue");
    expect(results.map(({ matches }) => matches.length <= 2)).toEqual([true, true]);
  });

  it("says where tools come from when nothing fits", async () => {
    const { session } = await open({ flags: ON });
    const { structured } = await session.call({ name: "tool_search", arguments: { query: "qqqq zzzz" } });
    expect(structured).toMatchObject({ matches: [], available_sources: [{ source: "mcp-git", tools: 2 }] });
  });

  it("tells a whole definition, and suggests names", async () => {
    const { session } = await open({ flags: ON });
    const told = await session.call({ name: "tool_describe", arguments: { name: "mcp_git_create_issue" } });
    expect(told.structured).toMatchObject({
      name: "mcp_git_create_issue",
      parameters: { required: ["title"] },
    });
    const wrong = await session.call({ name: "tool_describe", arguments: { name: "mcp_git_create_isue" } });
    expect(wrong.error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("mcp_git_create_issue"),
    });
  });
});

describe("calling through the stand-in", () => {
  it("gives the same as calling the tool itself, under its own name", async () => {
    const { session } = await open({ flags: ON });
    const inner = { name: "mcp_git_create_issue", arguments: { title: "t", count: 2 } };
    const direct = await session.call({ id: "1", ...inner });
    const bridged = await session.call({ id: "1", name: "tool_call", arguments: inner });
    const { duration_ms: _a, called_as: _b, ...left } = direct;
    const { duration_ms: _c, called_as: _d, ...right } = bridged;
    expect(right).toEqual(left);
  });

  it.each([
    ["JSON text inside", { name: "mcp_git_create_issue", arguments: '{"title":"t"}' }],
    ["JSON text as a whole", '{"name":"mcp_git_create_issue","arguments":{"title":"t"}}'],
    ["another word for arguments", { name: "mcp_git_create_issue", args: { title: "t" } }],
    ["the other spelling of a server's tool", { name: "mcp__git__create_issue", arguments: { title: "t" } }],
  ])("accepts %s", async (_, given) => {
    const { session } = await open({ flags: ON });
    const result = await session.call({ name: "functions.tool_call", arguments: given });
    expect(result).toMatchObject({ ok: true, structured: { from: "create_issue", args: { title: "t" } } });
  });

  it.each([
    ["itself", { name: "tool_call", arguments: {} }, "bad_request"],
    ["another stand-in", { name: "tool_search", arguments: { query: "x" } }, "bad_request"],
    ["a core tool", { name: "terminal", arguments: { command: "ls" } }, "bad_request"],
    ["nothing", {}, "invalid_arguments"],
    ["no JSON", { name: "mcp_git_create_issue", arguments: "]]" }, "invalid_arguments"],
    ["a list", { name: "mcp_git_create_issue", arguments: [1] }, "invalid_arguments"],
    ["what there is not", { name: "mcp_git_nothing", arguments: {} }, "not_found"],
    ["arguments that do not fit", { name: "mcp_git_create_issue", arguments: {} }, "invalid_arguments"],
  ])("refuses %s", async (_, given, code) => {
    const { session } = await open({ flags: ON });
    const result = await session.call({ name: "tool_call", arguments: given });
    expect(result).toMatchObject({ ok: false, error: { code } });
  });

  it("shows hooks, approvals and events the tool that is meant", async () => {
    const registry = new ToolRegistry();
    const asking = serverTool("git", "drop", {
      effects: () => [
        { action: "mcp:git", resource: "drop", mode: "write", ask: { reason: "it cannot be undone" } },
      ],
    });
    registry.swap({ source: "mcp:git", provenance: { kind: "mcp" }, tools: [asking] });
    const { runtime } = await testRuntime([], { registry, flags: ON });
    const seen: string[] = [];
    runtime.hooks.on(
      "pre_tool_call",
      ({ tool, args }) => void seen.push(`hook ${tool} ${JSON.stringify(args)}`),
    );
    runtime.events.on((event) => {
      if (event.type === "call.started") seen.push(`event ${event.name}`);
    });
    const session = await runtime.openSession({
      approver: {
        async ask(request) {
          seen.push(`approval ${request.tool}: ${request.reason}`);
          return "once";
        },
      },
    });
    const result = await session.call({
      name: "tool_call",
      arguments: { name: "mcp_git_drop", arguments: { title: "t" } },
    });
    expect(result.ok).toBe(true);
    expect(seen).toEqual([
      "event mcp_git_drop",
      'hook mcp_git_drop {"title":"t"}',
      "approval mcp_git_drop: it cannot be undone",
    ]);
  });

  it("works by the tool's own name too, hidden or not", async () => {
    const { session } = await open({ flags: ON });
    const result = await session.call({ name: "mcp_git_close_issue", arguments: { title: "t" } });
    expect(result.ok).toBe(true);
  });
});

describe("scope", () => {
  it("neither finds, describes nor calls what the session was not given", async () => {
    const { session } = await open({ flags: ON, more: 26, session: { toolsets: ["git"] } });
    const found = await session.call({ name: "tool_search", arguments: { query: "act desk" } });
    expect(found.structured).toMatchObject({ total_available: 2 });
    expect(JSON.stringify(found.structured)).not.toContain("mcp_desk");
    for (const name of ["tool_describe", "tool_call"]) {
      const outside = await session.call({
        name,
        arguments: { name: "mcp_desk_act_1", arguments: { title: "t" } },
      });
      expect(outside).toMatchObject({ ok: false, error: { message: "Unknown tool: mcp_desk_act_1" } });
    }
  });

  it("a child's search is narrower than its parent's, never wider", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(["mcp_git_create_issue", "mcp_git_close_issue", "terminal"]),
        async (tools) => {
          const { session } = await open({ flags: ON, more: 2 });
          const child = session.openChild({ tools });
          const hidden = tools.filter((name) => name !== "terminal");
          const { structured } = await child.call({ name: "tool_search", arguments: { query: "issue act" } });
          expect(structured).toMatchObject({ total_available: hidden.length });
          for (const name of ["mcp_git_create_issue", "mcp_git_close_issue", "mcp_desk_act_0"]) {
            const result = await child.call({
              name: "tool_call",
              arguments: { name, arguments: { title: "t" } },
            });
            expect(result.ok).toBe(hidden.includes(name));
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  it("keeps its names: a server's tool of the same name is not reached", async () => {
    const registry = new ToolRegistry();
    const impostor = { ...serverTool("git", "x"), name: "tool_call", handler: () => "impostor" };
    registry.swap({
      source: "mcp:git",
      provenance: { kind: "mcp" },
      tools: [impostor, serverTool("git", "y")],
    });
    const { runtime } = await testRuntime([], { registry, flags: ON });
    const session = await runtime.openSession();
    const shown = await names(session);
    expect(shown).toEqual(["tool_call", "tool_describe", "tool_search"]);
    const result = await session.call({
      name: "tool_call",
      arguments: { name: "mcp_git_y", arguments: { title: "t" } },
    });
    expect(result).toMatchObject({ ok: true, name: "mcp_git_y" });
  });
});
