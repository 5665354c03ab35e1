import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { errorLine, hermes, hermesJson, linesOf, tempFolder } from "./hermes.js";

const home = tempFolder();
const about = { source: "cli", model: "openai:m", cwd: "/work" };
let first = "";
let second = "";

beforeAll(async () => {
  const store = await openConversations({
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
  });
  first = (await store.create(about)).id;
  await store.append(first, [
    { role: "user", content: "Where does 数据库 live?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c1", name: "read_file", arguments: '{"path":"db.md"}' }],
    },
    { role: "tool", content: "```\nin /var\n```", toolCallId: "c1", name: "read_file" },
    { role: "assistant", content: "In /var \x1b[31mred" },
  ]);
  second = (await store.create({ ...about, parent: first, source: "subagent" })).id;
  await store.append(second, [{ role: "user", content: "child" }]);
  await store.begin(second);
  await store.close();
});

describe("hermes sessions", () => {
  it("lists conversations in columns that programs rely on", async () => {
    const rows = await hermesJson<Record<string, unknown>[]>(["sessions", "list"], { home });
    expect(rows).toEqual([
      expect.objectContaining({
        id: first,
        title: "Where does 数据库 live?",
        source: "cli",
        model: "openai:m",
        messages: 4,
        parent: null,
        state: "idle",
        started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        updated_at: expect.stringMatching(/Z$/),
      }),
    ]);
    const all = await hermesJson<Record<string, unknown>[]>(["sessions", "list", "--all"], { home });
    expect(all.map(({ id, parent, state }) => ({ id, parent, state }))).toEqual([
      { id: second, parent: first, state: "running" },
      { id: first, parent: null, state: "idle" },
    ]);
    expect((await hermes(["sessions"], { home })).stdout).toContain("Where does 数据库 live?");
  });

  it("raises a budget for a person, and never for a command that a tool started", async () => {
    const budget = (...args: string[]) => ["sessions", "budget", ...args];
    const env = { HERMES_MODEL_BUDGET_USD: "1", HERMES_MODEL_BUDGET_DAY_USD: "2" };
    const before = { session: first, spent_usd: 0, budget_usd: 1 };
    expect(await hermesJson(budget("last"), { home, env })).toEqual(before);
    const byTool = await hermes(budget(first, "5", "--json"), { home, env: { ...env, AI_AGENT: "hermes" } });
    expect(errorLine(byTool).message).toContain("A budget is raised by a person");
    expect(await hermesJson(budget(first), { home, env })).toEqual(before);
    expect(await hermesJson(budget(first, "$5"), { home, env })).toEqual({ ...before, budget_usd: 5 });
    expect(await hermesJson(budget("day", "7"), { home, env })).toMatchObject({
      session: null,
      budget_usd: 7,
    });
    const refused = async (amount: string) =>
      errorLine(await hermes(budget(first, amount, "--json"), { home, env })).message;
    expect(await refused("much")).toContain("not an amount");
    expect(await refused("3")).toContain("already");
  });

  it("shows messages with calls and their answers", async () => {
    const shown = await hermesJson<{ messages: Record<string, unknown>[] }>(["sessions", "show", first], {
      home,
    });
    expect(shown).toMatchObject({ id: first, state: "idle" });
    expect(shown.messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual([
      ["user", null],
      ["assistant", null],
      ["tool", "c1"],
      ["assistant", null],
    ]);
    expect(shown.messages[1]).toMatchObject({
      tool_calls: [{ id: "c1", name: "read_file", arguments: '{"path":"db.md"}' }],
    });
    const last = await hermesJson<{ messages: unknown[] }>(["sessions", "show", first, "--last", "1"], {
      home,
    });
    expect(last.messages).toMatchObject([{ content: "In /var \x1b[31mred" }]);
    const told = (await hermes(["sessions", "show", first], { home })).stdout;
    expect(told).toContain("read_file");
    expect(told, "what was said cannot steer the terminal").not.toContain("\x1b[31m");
  });

  it("finds words, exports lines and Markdown, and says what it cannot do", async () => {
    const found = await hermesJson<Record<string, unknown>[]>(["sessions", "search", "数据"], { home });
    expect(found).toEqual([
      expect.objectContaining({ session: first, role: "user", snippet: "Where does 数据库 live?" }),
    ]);
    expect(await hermesJson(["sessions", "search", "nothing-like-this"], { home })).toEqual([]);

    const lines = linesOf((await hermes(["sessions", "export", first], { home })).stdout).map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    expect(lines.map(({ type, role }) => role ?? type)).toEqual([
      "session",
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    const { stdout: markdown } = await hermes(["sessions", "export", first, "--format", "md"], { home });
    expect(markdown).toContain("# Where does 数据库 live?\n");
    expect(markdown, "a fence around fences is longer").toContain("````\n```\nin /var\n```\n````");

    const tape = linesOf(
      (await hermes(["sessions", "export", first, "--format", "tape"], { home })).stdout,
    ).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(tape.map(({ type }) => type)).toEqual([
      "tape",
      "message",
      "message",
      "call",
      "message",
      "message",
    ]);
    expect(tape[3]).toMatchObject({ id: "c1", arguments: { path: "db.md" }, result: "```\nin /var\n```" });
    const missing = await hermes(["sessions", "show", "nobody", "--json"], { home });
    expect(missing.code).toBe(2);
    expect(errorLine(missing)).toMatchObject({ code: "not_found" });
  });

  it("deletes; what is worked on stays", async () => {
    const refused = await hermes(["sessions", "delete", second], { home });
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    const store = await openConversations({
      sessionsDb: join(home, "sessions.db"),
      sessionsIndex: join(home, "sessions-index.db"),
    });
    const other = await store.create(about);
    await store.close();
    expect(await hermesJson(["sessions", "delete", other.id], { home })).toEqual({
      deleted: true,
      id: other.id,
    });
    expect((await hermes(["sessions", "delete", other.id], { home })).code).toBe(2);
  });

  it("doctor looks at every page and says how much room there is", async () => {
    const { findings } = await hermesJson<{ findings: { group: string; level: string; what: string }[] }>(
      ["doctor"],
      {
        home,
      },
    );
    const ours = findings.filter(({ group }) => group === "Conversations");
    expect(ours.map(({ level }) => level)).toEqual(["ok"]);
    expect(ours[0]?.what).toMatch(/^2 conversations: .* of 2000 MB/);
  });

  it("looking leaves nothing behind", async () => {
    const empty = tempFolder();
    expect(await hermesJson(["sessions", "list"], { home: empty })).toEqual([]);
    expect(await hermesJson(["sessions", "search", "x"], { home: empty })).toEqual([]);
    expect(existsSync(join(empty, "sessions.db"))).toBe(false);
  });
});
