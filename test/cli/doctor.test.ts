import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { examineCompiledParts } from "../../src/runtime/compiled-parts.js";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { hermes, hermesJson, linesOf, tempFolder } from "./hermes.js";

interface Diagnosis {
  readonly ok: boolean;
  readonly findings: readonly { readonly level: string; readonly group: string; readonly what: string }[];
  readonly mended: readonly string[];
}

describe("hermes doctor", () => {
  it("finds a sound installation sound, group by group", async () => {
    const home = tempFolder();
    const [people, program] = await Promise.all([
      hermes(["doctor"], { home }),
      hermesJson<Diagnosis>(["doctor"], { home }),
    ]);
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(linesOf(people.stdout).filter((line) => !line.startsWith(" "))).toEqual([
      "Runtime",
      "Config",
      "Tools",
      "Environments",
      "Journal",
      "Storage",
    ]);
    expect(program.ok).toBe(true);
    expect(program.findings.filter(({ level }) => level !== "ok" && level !== "note")).toEqual([]);
    expect(program.findings.map(({ what }) => what)).toContainEqual(
      expect.stringMatching(/^compiled parts load: SQLite \(.*\), terminals \(.*\), search in files \(.*\)$/),
    );
  });

  it("lesson 119: names a compiled part that does not fit this Node, and what still loads", async () => {
    const findings = await examineCompiledParts({
      SQLite: async () => "node:sqlite",
      terminals: async () => process.dlopen({ exports: {} }, import.meta.filename) as never,
    });
    expect(findings).toMatchObject([
      { level: "ok", what: "compiled parts load: SQLite (node:sqlite)" },
      {
        level: "warning",
        what: expect.stringMatching(/^terminals: .*doctor\.test\.ts/),
        fix: expect.stringContaining("anew"),
      },
    ]);
  });

  it("names once what several tools wait for", async () => {
    const { findings } = await hermesJson<Diagnosis>(["doctor"], { home: tempFolder() });
    expect(findings.filter(({ what }) => what.includes("HASS_TOKEN"))).toEqual([
      {
        group: "Tools",
        level: "note",
        what: "ha_call_service, ha_get_state, ha_list_entities, ha_list_services: HASS_TOKEN is not set",
        fix: "HASS_TOKEN=...",
      },
    ]);
  });

  it("names the file and line of a module that throws; the other tools still work", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "tools"));
    writeFileSync(
      join(home, "tools", "throws.mjs"),
      `import { defineTool } from "hermes-tools";\n\nthrow new Error("not today");\nexport default defineTool({});\n`,
    );
    const done = await hermes(["doctor", "--json"], { home });
    expect(done.code).toBe(1);
    const { ok, findings } = JSON.parse(done.stdout) as Diagnosis;
    expect(ok).toBe(false);
    const finding = findings.find(({ level }) => level === "error");
    expect(finding?.what).toContain(`${join(home, "tools", "throws.mjs")}:3`);
    expect(finding?.what).toContain("not today");
    expect((await hermes(["call", "sleep", "seconds=0"], { home })).code).toBe(0);
  });

  it("reports a broken configuration with its line", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "config.yaml"), "log:\n  level: [\n");
    const done = await hermes(["doctor"], { home });
    expect(done.code).toBe(1);
    expect(done.stdout).toMatch(/config\.yaml:\d+/);
  });

  it("reports what is wrong with the permissions, with its line; so does config check", async () => {
    const home = tempFolder();
    const file = join(home, "hermes_permissions.yaml");
    writeFileSync(file, "global:\n  tools: { termnal: deny }\n  deny: [file:wirte]\n");
    const [doubtful, checked] = await Promise.all([
      hermesJson<Diagnosis>(["doctor"], { home }),
      hermesJson<{ problems: unknown[]; files: unknown[] }>(["config", "check"], { home }),
    ]);
    expect(doubtful.ok).toBe(true);
    for (const place of [`${file}:2`, `${file}:3`]) {
      expect(doubtful.findings).toContainEqual(
        expect.objectContaining({ group: "Config", level: "warning", what: expect.stringContaining(place) }),
      );
    }
    expect(checked.problems).toMatchObject([{ severity: "warning", file, line: 3 }]);
    expect(checked.files).toMatchObject([{ path: file, state: "read" }]);

    const other = tempFolder();
    writeFileSync(join(other, "hermes_permissions.yaml"), "global:\n  deny: [file:Write]\n");
    const [sick, refused] = await Promise.all([
      hermes(["doctor"], { home: other }),
      hermes(["config", "check"], { home: other }),
    ]);
    expect([sick.code, refused.code]).toEqual([1, 2]);
    for (const { stdout } of [sick, refused])
      expect(stdout).toMatch(/hermes_permissions\.yaml:2.*file:Write/);
    expect(refused.stdout).toContain("hermes_permissions.yaml (broken)");
  });

  it("reports an environment that cannot be used, and what it lacks", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "config.yaml"), "terminal:\n  env: ssh\n");
    const done = await hermes(["doctor", "--json"], { home });
    expect(done.code).not.toBe(0);
    const { findings } = JSON.parse(done.stdout) as { findings: readonly object[] };
    expect(findings).toContainEqual({
      group: "Environments",
      level: "error",
      what: "ssh: no host is set",
      fix: "hermes config set terminal.ssh_host HOST",
    });
  });

  it("reports a journal that cannot be opened", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "state.db"));
    const done = await hermesJson<Diagnosis>(["doctor"], { home });
    expect(done.findings.find(({ group }) => group === "Journal")).toMatchObject({ level: "error" });
  });

  it("says what to do about databases of a newer version, which is nothing about the disk", async () => {
    const home = tempFolder();
    for (const name of ["state.db", "sessions.db"]) {
      const db = openDatabase(join(home, name));
      db.exec("PRAGMA user_version = 999");
      db.close();
    }
    const { stdout } = await hermes(["doctor", "--json"], { home });
    const { findings } = JSON.parse(stdout) as { findings: { group: string; what: string; fix: string }[] };
    for (const group of ["Journal", "Conversations"]) {
      const found = findings.find((one) => one.group === group);
      expect(found?.what).toMatch(/has format 999.*newer version$/);
      expect(found?.fix).toMatch(/^Update hermes-tools/);
    }
  });

  it("does not praise the boundary of commands that cannot run", async () => {
    const programs = tempFolder();
    symlinkSync(process.execPath, join(programs, "node"));
    const { findings } = await hermesJson<Diagnosis>(["doctor"], {
      home: tempFolder(),
      env: { PATH: programs },
    });
    expect(findings.filter(({ group }) => group === "Environments")).toEqual([
      {
        group: "Environments",
        level: "warning",
        what: "local: no command runs, bash is not on PATH",
        fix: expect.stringContaining("bash"),
      },
    ]);
  });

  it("--fix makes the home and closes what others could read", async () => {
    const home = join(tempFolder(), "new-home");
    const made = await hermesJson<Diagnosis>(["doctor", "--fix"], { home, cwd: tempFolder() });
    expect(made.mended).toEqual([expect.stringContaining(home)]);
    expect(existsSync(home)).toBe(true);
    writeFileSync(join(home, ".env"), "A=b\n");
    for (const path of [home, join(home, ".env")]) chmodSync(path, 0o777);
    const mended = await hermes(["doctor", "--fix"], { home });
    expect(mended.code).toBe(0);
    for (const path of [home, join(home, ".env")]) expect(statSync(path).mode & 0o077).toBe(0);
  });
});
