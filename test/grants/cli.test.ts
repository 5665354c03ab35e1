import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, tempFolder } from "../cli/hermes.js";

interface Row {
  readonly id: string;
  readonly what: string;
  readonly scope: string | null;
  readonly state: string;
  readonly file: string;
  readonly line: number;
}

const CONFIG = `# kept
command_allowlist:   # approved
  - git push *
  # the build
  - { command: rm -rf build, scope: /srv/app, added: 2030-01-01, expires: 2999-01-01, max_uses: 9, origin: me }
log: { level:  error }
`;

function homeWith(text: string): { home: string; file: string } {
  const home = tempFolder();
  const file = join(home, "config.yaml");
  writeFileSync(file, text);
  return { home, file };
}

describe("hermes approvals grants and revoke", () => {
  it("lists each grant with its limits and place; revoke removes one and leaves every other byte", async () => {
    const { home, file } = homeWith(CONFIG);
    const rows = await hermesJson<Row[]>(["approvals", "grants"], { home });
    expect(rows).toMatchObject([
      { what: "git push *", scope: null, added: null, uses: 0, state: "in force", file, line: 3 },
      {
        kind: "command",
        what: "rm -rf build",
        scope: "/srv/app",
        added: "2030-01-01",
        expires: "2999-01-01",
        max_uses: 9,
        origin: "me",
        file,
        line: 5,
      },
    ]);
    const text = await hermes(["approvals", "grants"], { home });
    for (const part of [rows[1]?.id, "rm -rf build", "/srv/app", "0 of 9", `${file}:5`]) {
      expect(text.stdout).toContain(part);
    }
    const done = await hermes(["approvals", "revoke", rows[1]?.id ?? ""], { home });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(rows[1]?.id ?? "") });
    const cut = CONFIG.split("\n").filter((line) => !line.includes("srv"));
    expect(readFileSync(file, "utf8")).toBe(cut.join("\n"));
    expect(await hermesJson<Row[]>(["approvals", "grants"], { home })).toMatchObject([rows[0]]);
  });

  it("says what could not be read, instead of showing an empty list", async () => {
    const { home, file } = homeWith("command_allowlist: [\n");
    expect((await hermes(["approvals", "grants"], { home })).stderr).toContain(`${file}:`);
    const other = homeWith(CONFIG);
    writeFileSync(join(other.home, "grants.json"), "{");
    expect((await hermes(["approvals", "grants"], { home: other.home })).stderr).toContain("grants.json");
  });

  it("an id that is not there is a mistake of the caller, and nothing is written", async () => {
    const { home, file } = homeWith(CONFIG);
    const outcome = await hermes(["approvals", "revoke", "00000000", "--json"], { home });
    expect(outcome.code).toBe(2);
    expect(errorLine(outcome)).toMatchObject({ code: "not_found", hint: expect.stringContaining("grants") });
    expect(readFileSync(file, "utf8")).toBe(CONFIG);
  });

  it("no grants, and grants with invisible characters, are shown for what they are", async () => {
    expect((await hermes(["approvals", "grants"], { home: tempFolder() })).stdout).toContain(
      "No permanent grants",
    );
    const { home } = homeWith('command_allowlist: ["rm -rf \\u202etxt.a"]\n');
    const { stdout } = await hermes(["approvals", "grants"], { home });
    expect(stdout).toContain("rm -rf \\u{202e}txt.a");
    expect(stdout).not.toContain("\u202e");
  });
});
