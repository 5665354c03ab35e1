import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { JournalRow } from "../../src/call/journal.js";
import { createPolicy } from "../../src/policy/engine.js";
import { simulate } from "../../src/policy/profiles/simulate.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import { testRuntime } from "../support/runtime.js";
import { rulesBench } from "./support.js";

beforeAll(() => loadAnalysis());

async function replay(yaml: string, profile: string, rows: readonly Partial<JournalRow>[]) {
  const { table, home, cwd } = await rulesBench(yaml);
  const whole = rows.map((row, index) => ({
    seq: index,
    call_id: `call_${index}`,
    session_id: "s",
    tool: "write_file",
    called_as: "write_file",
    door: "library",
    args: "{}",
    effects: "[]",
    decision: "allow",
    rule: "profile:default/*",
    environment: "local",
    started_at: 0,
    status: "ok" as const,
    owner: "",
    ...row,
  }));
  const policy = createPolicy({ hermesHome: home, permissions: table, anyFolder: true });
  return simulate({ rows: whole, profile, permissions: table, policy, cwd, home: "/home/nobody" });
}

const touching = (action: string, resource: string, mode: string) =>
  JSON.stringify([{ action, resource, mode }]);
const write = touching("file:write", "/srv/a", "write");
const read = touching("file:read", "/srv/a", "read");

describe("replaying the journal against another profile", () => {
  it("says what would be denied, asked and allowed, grouped by rule", async () => {
    const result = await replay("", "readonly_research", [
      { effects: write },
      { effects: write },
      { effects: read, tool: "read_file" },
      { effects: touching("terminal:execute", "ls", "execute"), tool: "terminal" },
    ]);
    expect(result).toMatchObject({ calls: 4, unchanged: 1, newly_asked: [], newly_allowed: [] });
    expect(result.newly_denied).toMatchObject([
      {
        tool: "write_file",
        calls: 2,
        rule: "profile:readonly_research/file:write",
        example: { call_id: "call_0" },
      },
      { tool: "terminal", calls: 1, rule: "profile:readonly_research/terminal:execute" },
    ]);
  });

  it("what another profile denied may be allowed or asked, what was dangerous stays so", async () => {
    const yaml = "profiles: {p: {allow: ['*'], approval_required: ['docker:*']}}";
    const denied = { decision: "deny", rule: "profile:readonly_research/default" };
    const result = await replay(yaml, "p", [
      { ...denied, effects: read },
      { ...denied, effects: touching("docker:run", "x", "execute"), tool: "docker" },
      {
        decision: "ask:once",
        rule: "recursive-delete.folder",
        effects: touching("terminal:execute", "rm -rf build", "execute"),
        tool: "terminal",
      },
      { decision: "ask:deny", rule: "file.write-outside", effects: write },
    ]);
    expect(result.newly_allowed).toMatchObject([{ tool: "write_file", calls: 1 }]);
    expect(result.newly_asked).toMatchObject([{ tool: "docker", calls: 1 }]);
    expect(result.newly_denied).toEqual([]);
    expect(result.unchanged).toBe(2);
  });

  it("names the rules that no call met, with their lines", async () => {
    const yaml = [
      "profiles:",
      "  p:",
      "    allow: ['*']",
      "    deny:",
      "      - env:write",
      "      - file:write",
      "    restrictions:",
      "      network:*:",
      "        denied_hosts: [evil.org]",
      "    tools:",
      "      other_tool: deny",
    ].join("\n");
    const { never_fired } = await replay(yaml, "p", [{ effects: write }]);
    expect(never_fired).toMatchObject([
      { rule: "profile:p/env:write", list: "deny", line: 5 },
      { rule: "profile:p/restrictions.network:*.denied_hosts", list: "denied_hosts", line: 8 },
      { rule: "profile:p/tools.other_tool", list: "tools", line: 11 },
    ]);
  });

  it("what the journal cut or damaged is unknown, what was never decided is told apart", async () => {
    const result = await replay("", "readonly_research", [
      { effects: write, args: '{"content":"x', args_bytes: 100_000 },
      { effects: '[{"action":' },
      { effects: write, damaged: true },
      { effects: "[]", decision: "none", rule: "" },
    ]);
    expect(result).toMatchObject({ unknown: 3, undecided: 1, newly_denied: [] });
  });

  it("reads the calls of a real journal", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true, journal: true });
    const session = await runtime.openSession();
    writeFileSync(join(cwd, "a.txt"), "a");
    await session.call({ name: "read_file", arguments: { path: "a.txt" } });
    await session.call({ name: "write_file", arguments: { path: "b.txt", content: "b" } });
    const { table, home } = await rulesBench("");
    const result = await simulate({
      rows: await (await runtime.journal()).recent({ limit: 10 }),
      profile: "readonly_research",
      permissions: table,
      policy: createPolicy({ hermesHome: home, permissions: table, anyFolder: true }),
      cwd,
      home,
    });
    expect(result).toMatchObject({ calls: 2, unchanged: 1 });
    expect(result.newly_denied).toMatchObject([{ tool: "write_file", calls: 1 }]);
  });
});
