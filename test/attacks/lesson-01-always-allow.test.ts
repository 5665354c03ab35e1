import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { decisionOn, run, withPerson } from "../grants/asking.js";

const LINE = "ls -la && rm -rf ./tmp";

describe('lesson 1: "always" remembers exactly what was asked, and shows it before', () => {
  it("of a compound line only the dangerous part, letter by letter", async () => {
    const { cwd, home, asked, session, open } = await withPerson("always");
    mkdirSync(join(cwd, "tmp"));
    expect((await run(session, LINE)).ok).toBe(true);
    expect(existsSync(join(cwd, "tmp"))).toBe(false);
    expect(asked[0]?.remember).toEqual(["rm -rf ./tmp"]);
    const saved = parse(readFileSync(join(home, "config.yaml"), "utf8"));
    expect(saved.command_allowlist).toMatchObject([{ command: "rm -rf ./tmp", scope: cwd }]);
    expect(saved.command_allowlist).toHaveLength(1);

    const later = await open();
    for (const covered of ["rm -rf ./tmp", LINE, "true; rm -rf ./tmp"]) {
      expect(await decisionOn(later, covered), covered).toBe("allow");
    }
    for (const other of [
      "rm -rf ./tmp2",
      "rm -rf ./tmp ./src",
      "rm -rf ./tmp/../src",
      "rm -rf ./tmp && rm -rf ./src",
      "rm -rf src; rm -rf ./tmp",
      "cd .. && rm -rf ./tmp",
      "find . -name x -exec rm -rf {} +",
    ]) {
      expect(await decisionOn(later, other), other).not.toBe("allow");
    }
    expect(asked).toHaveLength(1);
  });

  it("widening to the kind of danger is a choice of its own", async () => {
    const { home, session, open } = await withPerson({ answer: "always", widen: true });
    await run(session, "rm -rf ./tmp");
    const [entry] = parse(readFileSync(join(home, "config.yaml"), "utf8")).command_allowlist;
    expect(Object.keys(entry)).toContain("rule");
    const later = await open();
    expect(await decisionOn(later, "rm -rf ./other")).toBe("allow");
    expect(await decisionOn(later, "rm -rf /")).toBe("deny");
    expect(await decisionOn(later, "git push --force origin main")).toBe("ask");
  });

  it("once and session write nothing", async () => {
    for (const answer of ["once", "session"] as const) {
      const { home, session } = await withPerson(answer);
      expect((await run(session, "rm -rf ./tmp")).ok).toBe(true);
      expect(existsSync(join(home, "config.yaml"))).toBe(false);
    }
  });
});
