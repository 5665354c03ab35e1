import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
    ]);
    expect(program.ok).toBe(true);
    expect(program.findings.every(({ level }) => level === "ok")).toBe(true);
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

  it("reports a journal that cannot be opened", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "state.db"));
    const done = await hermesJson<Diagnosis>(["doctor"], { home });
    expect(done.findings.find(({ group }) => group === "Journal")).toMatchObject({ level: "error" });
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
