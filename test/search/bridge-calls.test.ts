import { describe, expect, it } from "vitest";
import type { Session } from "../../src/runtime/session.js";
import { annotationsOf } from "../../src/server/mcp/tool-list.js";
import { testRuntime } from "../support/runtime.js";
import { ON, open, serverTool } from "./fixtures/bridge-session.js";

const NAME = "mcp_git_create_issue";

async function argumentsThatArrive(session: Session, given: unknown) {
  const result = await session.call({ name: "tool_call", arguments: given });
  return result.ok ? (result.structured as { args: unknown }).args : result.error;
}

describe("arguments of tool_call", () => {
  it("that stand beside the name are not lost", async () => {
    const { session } = await open({ flags: ON });
    const given = { name: NAME, title: "t", count: 2 };
    expect(await argumentsThatArrive(session, given)).toEqual({ title: "t", count: 2 });
    expect(await argumentsThatArrive(session, { ...given, arguments: null })).toEqual({
      title: "t",
      count: 2,
    });
    expect(await argumentsThatArrive(session, { ...given, arguments: " " })).toEqual({
      title: "t",
      count: 2,
    });
  });

  it("are refused when they stand in two places", async () => {
    const { session } = await open({ flags: ON });
    expect(
      await argumentsThatArrive(session, { name: NAME, arguments: { title: "t" }, count: 2 }),
    ).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("count must stand inside arguments"),
    });
    expect(
      await argumentsThatArrive(session, { name: NAME, arguments: { title: "t" }, args: { title: "u" } }),
    ).toMatchObject({ code: "invalid_arguments" });
  });

  it("that cannot be read end in a result, as everywhere", async () => {
    const { session } = await open({ flags: ON });
    const broken = {
      get name(): string {
        throw new Error("not today");
      },
    };
    const call = { name: "tool_call", arguments: broken };
    expect((await session.call(call)).error).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("not today"),
    });
    expect((await session.callAll([call])).map(({ ok }) => ok)).toEqual([false]);
    expect((await session.explainCall(call)).ok).toBe(false);
  });
});

describe("a name that tool_call or tool_describe cannot use", () => {
  it("is answered with what to do instead, by words of the session alone", async () => {
    const { session } = await open({ flags: ON });
    const problem = async (stand_in: string, name: string) =>
      (await session.call({ name: stand_in, arguments: { name } })).error;
    for (const standIn of ["tool_call", "tool_describe"]) {
      expect(await problem(standIn, "no_such_thing_at_all")).toMatchObject({
        code: "not_found",
        hint: "tool_search finds names.",
      });
      expect(await problem(standIn, "mcp_git_creat_issue")).toMatchObject({
        code: "not_found",
        hint: "Did you mean mcp_git_create_issue? tool_search finds names.",
      });
      expect(await problem(standIn, "terminal")).toMatchObject({
        code: "bad_request",
        hint: expect.stringContaining("call terminal directly"),
      });
      expect(await problem(standIn, "toolSearch")).toMatchObject({
        code: "bad_request",
        hint: "Call tool_search directly.",
      });
    }
  });

  it("takes nothing away from the others that are described", async () => {
    const { session } = await open({ flags: ON });
    const { structured } = await session.call({
      name: "tool_describe",
      arguments: { names: ["mcp__git__create_issue", "functions.mcp_git_close_issue", "nothing"] },
    });
    expect(structured).toMatchObject({
      tools: [
        { name: NAME, parameters: { required: ["title"] } },
        { name: "mcp_git_close_issue" },
        { name: "nothing", error: "Unknown tool: nothing", hint: "tool_search finds names." },
      ],
    });
  });

  it("is not described when the tool cannot be used here", async () => {
    const { registry, runtime } = await open({ flags: ON });
    const asleep = serverTool("git", "sleep", { checkFn: () => false });
    registry.swap({ source: "mcp:more", provenance: { kind: "mcp" }, tools: [asleep] });
    const session = await runtime.openSession();
    for (const name of ["tool_describe", "tool_call"]) {
      const { error } = await session.call({
        name,
        arguments: { name: asleep.name, arguments: { title: "t" } },
      });
      expect(error?.code, name).toBe("unavailable");
    }
  });
});

describe("limits of a search", () => {
  it("are 5 matches, at most 20, and at least one", async () => {
    const { session } = await open({ flags: ON, more: 40 });
    const count = async (limit?: number) => {
      const { structured } = await session.call({
        name: "tool_search",
        arguments: { query: "act with desk", ...(limit !== undefined && { limit }) },
      });
      return (structured as { matches: unknown[] }).matches.length;
    };
    expect([await count(), await count(12), await count(1_000), await count(0), await count(-3)]).toEqual([
      5, 12, 20, 1, 1,
    ]);
  });

  it("a question of any length keeps its answer", async () => {
    const { session } = await open({ flags: ON });
    const query = "issue ".repeat(50_000);
    const { structured } = await session.call({ name: "tool_search", arguments: { query } });
    expect(structured).toMatchObject({ matches: [{ source: "mcp-git" }, { source: "mcp-git" }] });
  });

  it("a search where nothing is hidden says so", async () => {
    const { session } = await open({ flags: ON, session: { toolsets: ["terminal"] } });
    const { structured } = await session.call({ name: "tool_search", arguments: { query: "issue" } });
    expect(structured).toMatchObject({ matches: [], hint: expect.stringContaining("No tools are hidden") });
    expect(structured).not.toHaveProperty("available_sources");
  });
});

describe("tools that change while a session is open", () => {
  it("are found, described and called as they are now; what the model was told stays", async () => {
    const { session, registry } = await open({ flags: ON });
    const told = JSON.stringify(await session.definitions());
    const search = async () => {
      const { structured } = await session.call({ name: "tool_search", arguments: { query: "issue" } });
      return structured as { total_available: number; matches: { name: string; signature: string }[] };
    };
    expect((await search()).total_available).toBe(2);
    const parameters = { type: "object", properties: { subject: { type: "string" } }, required: ["subject"] };
    registry.swap({
      source: "mcp:git",
      provenance: { kind: "mcp", source: "git" },
      tools: [serverTool("git", "create_issue", { parameters })],
    });
    const after = await search();
    expect(after.total_available).toBe(1);
    expect(after.matches.map(({ signature }) => signature)).toEqual([`${NAME}(args: { subject: string })`]);
    const described = await session.call({ name: "tool_describe", arguments: { name: NAME } });
    expect(described.structured).toMatchObject({ parameters });
    expect(
      (await session.call({ name: "tool_call", arguments: { name: NAME, arguments: { subject: "s" } } })).ok,
    ).toBe(true);
    const gone = { name: "tool_call", arguments: { name: "mcp_git_close_issue", arguments: { title: "t" } } };
    expect((await session.call(gone)).error?.code).toBe("unavailable");
    expect(JSON.stringify(await session.definitions())).toBe(told);
  });
});

describe("what else sees the tool that is meant", () => {
  it("guards, hooks after the call and the journal do", async () => {
    const { registry } = await open();
    const { runtime } = await testRuntime([], { registry, flags: ON, journal: true });
    const observed: string[] = [];
    runtime.hooks.on(
      "post_tool_call",
      ({ tool, result }) => void observed.push(`${tool} as ${result.called_as}`),
    );
    const session = await runtime.openSession({ guardrails: "warn" });
    const through = { name: "tool_call", arguments: { name: NAME, arguments: { title: "t" } } };
    const direct = { name: NAME, arguments: { title: "t" } };
    await session.call({ id: "a", ...through });
    await session.call({ id: "b", ...direct });
    const third = await session.call({ id: "c", ...through });
    expect(third.notices).toContain("The same call was made 3 times in this turn.");
    expect(observed).toEqual([`${NAME} as tool_call`, `${NAME} as ${NAME}`, `${NAME} as tool_call`]);
    const rows = await (await runtime.journal()).recent({ limit: 10 });
    expect(rows.map(({ tool }) => tool)).toEqual([NAME, NAME, NAME]);
  });

  it("a client is not told that calling through the stand-in is harmless", async () => {
    const { session } = await open({ flags: ON });
    const hints = (name: string) => {
      const found = session.scope.bridge?.find(name);
      return found && annotationsOf(found.entry);
    };
    expect(hints("tool_call")).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
    expect(hints("tool_search")).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });
});
