import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";
import { findingsOf, levelOf, simple } from "./build.js";
import { rowsOf } from "./rows.js";

const SIMPLE = rowsOf("simple-commands.tsv");

describe("rules on one simple command", () => {
  it.each(SIMPLE)("%s: %s", (level, line) => {
    const command = simple(line);
    expect(levelOf(command), JSON.stringify(findingsOf(command))).toBe(level);
  });
});

describe("the whole judgement of a line", () => {
  it.each([...SIMPLE, ...rowsOf("whole-lines.tsv")])("%s: %s", (level, line) => {
    const verdict = judgeCommand(line);
    expect(verdict.verdict, verdict.rule).toBe(level);
  });
});

describe("commands run for each of many operands", () => {
  it("deleting names from an unknown listing needs a yes", () => {
    expect(levelOf(simple("rm $LISTED", { repeated: true }))).toBe("danger");
  });

  it("deleting every file a pattern matches, one by one, needs a yes", () => {
    expect(levelOf(simple("rm *.bak", { repeated: true }))).toBe("danger");
  });

  it("emptying every file of a loop needs a yes", () => {
    expect(levelOf(simple(": > $FILE", { repeated: true }))).toBe("danger");
  });

  it("killing every process of a listing needs a yes", () => {
    expect(levelOf(simple("kill $PID", { repeated: true }))).toBe("danger");
  });

  it("reading each of many files does not", () => {
    expect(levelOf(simple("grep -n 'rm(' $FILE", { repeated: true }))).toBe("safe");
  });
});

describe("findings", () => {
  it("name the word that decided", () => {
    const line = "rm -rf out logs ~/";
    expect(judgeCommand(line).span).toEqual([line.indexOf("~/"), line.length]);
  });

  it("have an id of family and kind, and a reason that continues 'this command'", () => {
    const found = SIMPLE.flatMap(([, line]) => findingsOf(simple(line)));
    expect(found.length).toBeGreaterThan(500);
    for (const { rule, reason } of found) {
      expect(rule).toMatch(/^[a-z]+(?:-[a-z]+)*\.[a-z0-9]+(?:[-_.][a-z0-9]+)*$/);
      expect(reason).toMatch(/^[a-z].*[a-zA-Z_]$/);
    }
  });
});
