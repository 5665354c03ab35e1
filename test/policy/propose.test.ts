import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { JournalRow } from "../../src/call/journal.js";
import { createPolicy } from "../../src/policy/engine.js";
import { loadPermissions } from "../../src/policy/profiles/load.js";
import type { PermissionTable } from "../../src/policy/profiles/permission-table.js";
import { propose } from "../../src/policy/profiles/propose.js";
import { saveProfile } from "../../src/policy/profiles/save-profile.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import type { Effect } from "../../src/tool/effects.js";
import { tempDir } from "../support/runtime.js";
import { rulesBench } from "./support.js";

beforeAll(() => loadAnalysis());

const HOME = "/home/nobody";

interface Recorded {
  readonly effects: readonly Effect[];
  readonly decision?: string;
  readonly rule?: string;
  readonly state?: "not_started" | "done";
  readonly args?: string;
  readonly args_bytes?: number;
}

async function proposed(rows: readonly Recorded[], { yaml = "", profile = "default" } = {}) {
  const { home, cwd, table } = await rulesBench(yaml);
  const policyFor = (permissions: PermissionTable) =>
    createPolicy({ hermesHome: home, permissions, anyFolder: true });
  const proposal = await propose({
    name: "as_used",
    rows: rows.map((row, index) => rowOf(row, index)),
    profile,
    permissions: table,
    policyFor,
    tableWith: (text) => loadPermissions({ home, systemDir: join(home, "none") }, text),
    cwd,
    home: HOME,
  });
  const saved = await saveProfile({ home, name: "as_used", yaml: proposal.yaml });
  expect(saved).toMatchObject({ ok: true });
  const written = await loadPermissions({ home, systemDir: join(home, "none") });
  expect(written.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  const policy = createPolicy({ hermesHome: home, permissions: written });
  const decide = (effect: Effect, under = "as_used") =>
    policy.decide({
      entry: { name: "some_tool" },
      args: {},
      effects: [effect],
      session: { id: "s", profile: under, cwd, workspace: cwd },
      environment: "local",
      environmentKind: "local",
      home: HOME,
    });
  return { proposal, decide, cwd, home };
}

function rowOf({ effects, ...row }: Recorded, seq: number): JournalRow {
  return {
    seq,
    call_id: `call_${seq}`,
    session_id: "s",
    tool: "some_tool",
    called_as: "some_tool",
    door: "library",
    args: "{}",
    decision: "allow",
    rule: "profile:default/*",
    environment: "local",
    started_at: 0,
    status: "ok",
    state: "done",
    owner: "",
    ...row,
    effects: JSON.stringify(effects),
  };
}

const reads = (resource: string): Effect => ({ action: "file:read", resource, mode: "read" });
const writes = (resource: string): Effect => ({ action: "file:write", resource, mode: "write" });
const runs = (resource: string): Effect => ({ action: "terminal:execute", resource, mode: "execute" });
const fetches = (resource: string): Effect => ({ action: "network:fetch", resource, mode: "read" });

describe("a profile proposed from recorded use", () => {
  it("allows what was used and nothing else", async () => {
    const { proposal, decide } = await proposed([
      { effects: [reads("/srv/app/a.txt")] },
      { effects: [runs("git status --short")] },
      { effects: [runs("ls -l src | wc -l")] },
      { effects: [fetches("https://api.example.com/v1")] },
    ]);
    expect(proposal).toMatchObject({ name: "as_used", calls: 4, covered: 4, notes: [] });
    expect(decide(reads("/srv/app/b.txt")).verdict).toBe("allow");
    expect(decide(reads("/srv/other/b.txt")).verdict).toBe("deny");
    expect(decide(runs("git status -v")).verdict).toBe("allow");
    expect(decide(runs("ls /")).verdict).toBe("allow");
    expect(decide(runs("git log")).verdict).toBe("deny");
    expect(decide(runs("hostname")).verdict).toBe("deny");
    expect(decide(fetches("https://api.example.com/v2")).verdict).toBe("allow");
    expect(decide(fetches("https://example.com/")).verdict).toBe("deny");
    expect(decide(writes("/srv/app/a.txt")).verdict).toBe("deny");
    const unneeded = proposal.never_used.map(({ rule, permission }) => `${rule} ${permission}`);
    expect(unneeded).toContain("profile:default/* file:write");
    expect(unneeded).not.toContain("profile:default/* file:read");
  });

  it("cannot allow what the profile in force denies, and says which of its rules nothing met", async () => {
    const yaml = `profiles:
  team:
    allow: [file:read, git:read]
    deny: [file:delete]
    restrictions:
      file:read: { allowed_paths: [/srv/**], denied_paths: ["**/*.pem"] }
`;
    const { proposal, decide } = await proposed(
      [{ effects: [reads("/srv/app/a.txt")] }, { effects: [reads("/etc/hostname")] }],
      { yaml, profile: "team" },
    );
    expect(proposal).toMatchObject({ calls: 1, covered: 1, within: "team" });
    expect(proposal.notes).toContain("1 calls that today's rules refuse are left aside");
    expect(decide(reads("/srv/app/key.pem")).verdict).toBe("deny");
    expect(proposal.never_used).toMatchObject([
      { rule: "profile:team/file:delete", list: "deny", line: 4 },
      { rule: "profile:team/git:read", list: "allow", line: 3 },
      { rule: "profile:team/restrictions.file:read.allowed_paths" },
      { rule: "profile:team/restrictions.file:read.denied_paths" },
    ]);
  });

  it("leaves asked about what was asked about", async () => {
    const mail: Effect = {
      action: "message:send",
      resource: "mailto:a@example.com",
      mode: "write",
      ask: { reason: "a mail cannot be taken back", unlessNamed: true },
    };
    const { proposal, decide } = await proposed([
      { effects: [mail], decision: "ask:once", rule: "tool.asks" },
      { effects: [runs("rm -rf build")], decision: "ask:once", rule: "recursive-delete.folder" },
      { effects: [writes("/srv/out/a.txt")], decision: "ask:session", rule: "file.write-outside" },
    ]);
    expect(proposal).toMatchObject({ calls: 3, covered: 3 });
    expect(decide(mail).verdict).toBe("ask");
    expect(decide(runs("rm -rf build")).verdict).toBe("ask");
    expect(decide(runs("rm -rf src")).verdict).toBe("deny");
    // Naming a folder in a profile opens it; naming it in a proposal must not.
    expect(decide(writes("/srv/out/a.txt"))).toMatchObject({ verdict: "ask", rule: "file.write-outside" });
    expect(decide(writes("/srv/out/b.txt")).verdict).toBe("deny");
  });

  it("counts no call that was refused, and reads what a long call touched", async () => {
    const { proposal, decide } = await proposed([
      { effects: [runs("rm -rf /srv")], decision: "ask:deny", state: "not_started" },
      { effects: [runs("shutdown now")], decision: "deny", state: "not_started" },
      {
        effects: [writes("/srv/out/big.txt")],
        args: '{"content":"x… (99999 characters)"}',
        args_bytes: 99_999,
      },
    ]);
    expect(proposal).toMatchObject({ calls: 1, covered: 1 });
    expect(decide(runs("ls")).verdict).toBe("deny");
  });

  it("joins folders that lie side by side, and never takes a whole home or a folder of the system", async () => {
    const { proposal } = await proposed([
      ...["a", "b", "c"].map((name) => ({ effects: [reads(`/srv/app/${name}/x.txt`)] })),
      { effects: [reads(`${HOME}/notes.txt`)] },
      { effects: [reads(`${HOME}/.config/tool/settings.json`)] },
      { effects: [reads("/etc/hostname")] },
      { effects: [reads("/srv/odd/[x]/{y}.txt")] },
    ]);
    expect(proposal.covered).toBe(7);
    const listed = [...proposal.yaml.matchAll(/^ +- (.*)$/gm)].map(([, entry = ""]) => entry);
    expect(listed).toEqual([
      "/etc/hostname",
      '"/srv/app/**"',
      '"/srv/odd/\\\\[x\\\\]/**"',
      "~/.config/tool/settings.json",
      "~/notes.txt",
    ]);
  });

  it("covers a place behind a link, and a command that writes a file", async () => {
    const folder = tempDir();
    const inside = join(folder, "deep", "real");
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, "a.txt"), "x");
    symlinkSync(inside, join(folder, "link"));
    const { proposal } = await proposed([
      { effects: [reads(join(folder, "link", "a.txt"))] },
      { effects: [writes("/srv/app/a.txt")] },
      { effects: [runs("cp x /srv/elsewhere/b.txt")] },
    ]);
    expect(proposal).toMatchObject({ calls: 3, covered: 3 });
    expect(proposal.yaml).toContain("/srv/elsewhere/**");
  });

  it("a line with a redirection is listed whole, and the other commands by their words", async () => {
    const { proposal, decide } = await proposed([
      { effects: [runs("npm test > /srv/out/test.log 2>&1")] },
      { effects: [runs("CI=1 npm run lint | tee /srv/out/lint.log")] },
      { effects: [runs("git status --short")] },
    ]);
    expect(proposal).toMatchObject({ calls: 3, covered: 3, notes: [] });
    expect(proposal.yaml).toContain('"npm test > /srv/out/test.log 2>&1"');
    expect(decide(runs("npm test > /srv/out/test.log 2>&1")).verdict).toBe("allow");
    expect(decide(runs("git status")).verdict).toBe("allow");
    for (const other of [
      "npm test > /srv/out/other.log 2>&1",
      "npm test",
      "git status > /srv/out/test.log",
      "npm test > /srv/out/test.log 2>&1; hostname",
    ])
      expect(decide(runs(other)).verdict, other).toBe("deny");
  });

  it("a line whose words only the running shell knows is not covered by standing in the list", async () => {
    const { proposal } = await proposed([{ effects: [runs('cat "$SECRET_FILE" > /srv/out/x')] }]);
    expect(proposal.notes).toEqual([expect.stringContaining("terminal:execute is not limited")]);
  });

  it("does not limit what no list can describe, and says so", async () => {
    const { proposal, decide } = await proposed([
      { effects: [runs("python3 - <<'X'\nprint(1)\nX")] },
      { effects: [{ action: "network:search", resource: "how to knit", mode: "read" }] },
    ]);
    expect(proposal).toMatchObject({ calls: 2, covered: 2 });
    expect(proposal.notes).toEqual([
      "network:search is not limited: some calls did not name a host",
      `terminal:execute is not limited: no list of commands describes "python3 - <<'X'…"`,
    ]);
    expect(decide(runs("hostname")).verdict).toBe("allow");
    expect(decide(fetches("https://example.com")).verdict).toBe("deny");
  });

  it("a profile within another one has to name one that is there, and not itself", async () => {
    for (const [within, why] of [
      ["nowhere", "there is no such profile"],
      ["p", "that is the profile itself"],
    ]) {
      const { table } = await rulesBench(`profiles: {p: {allow: ["*"], within: ${within}}}`);
      expect(table.problems.map(({ message }) => message)).toContain(
        `profile p cannot lie within ${within}: ${why}`,
      );
      expect(table.authorityOf("p")).toBeUndefined();
    }
  });

  it("is added to a file of permissions without disturbing it", async () => {
    const home = tempDir();
    const file = join(home, "hermes_permissions.yaml");
    writeFileSync(file, "# mine\nprofiles:\n  p:\n    # keep\n    allow: [file:read]\n");
    const yaml = "profiles:\n  q:\n    within: [default]\n    allow: [file:read]\n";
    await saveProfile({ home, name: "q", yaml });
    expect(readFileSync(file, "utf8")).toBe(
      "# mine\nprofiles:\n  p:\n    # keep\n    allow: [file:read]\n  q:\n    within: [default]\n    allow: [file:read]\n",
    );
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
