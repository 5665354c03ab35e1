import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";
import { RULES as accounts } from "../../src/shell/rules/accounts.js";
import { RULES as disks } from "../../src/shell/rules/disks.js";
import { RULES as files } from "../../src/shell/rules/files.js";
import { RULES as history } from "../../src/shell/rules/history.js";
import { RULES as permissions } from "../../src/shell/rules/permissions.js";
import { RULES as persistence } from "../../src/shell/rules/persistence.js";
import { RULES as processes } from "../../src/shell/rules/processes.js";
import { RULES as services } from "../../src/shell/rules/services.js";
import { RULES as system } from "../../src/shell/rules/system.js";
import { findingsOf, levelOf, simple } from "./build.js";
import { rowsOf } from "./rows.js";

const SETS = [files, disks, system, services, processes, permissions, accounts, persistence, history];
const SIMPLE = rowsOf("simple-commands.tsv");

describe("rules on one simple command", () => {
  it.each(SIMPLE)("%s: %s", (level, line) => {
    const command = simple(line);
    expect(levelOf(command, SETS), JSON.stringify(findingsOf(command, SETS))).toBe(level);
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
    expect(levelOf(simple("rm $LISTED", { repeated: true }), SETS)).toBe("danger");
  });

  it("deleting every file a pattern matches, one by one, needs a yes", () => {
    expect(levelOf(simple("rm *.bak", { repeated: true }), SETS)).toBe("danger");
  });

  it("emptying every file of a loop needs a yes", () => {
    expect(levelOf(simple(": > $FILE", { repeated: true }), SETS)).toBe("danger");
  });

  it("killing every process of a listing needs a yes", () => {
    expect(levelOf(simple("kill $PID", { repeated: true }), SETS)).toBe("danger");
  });

  it("reading each of many files does not", () => {
    expect(levelOf(simple("grep -n 'rm(' $FILE", { repeated: true }), SETS)).toBe("safe");
  });
});

describe("findings", () => {
  it("name the word that decided", () => {
    const line = "rm -rf out logs ~/";
    expect(judgeCommand(line).span).toEqual([line.indexOf("~/"), line.length]);
  });

  it("have an id of family and kind, and a reason that continues 'this command'", () => {
    const found = SIMPLE.flatMap(([, line]) => findingsOf(simple(line), SETS));
    expect(found.length).toBeGreaterThan(500);
    for (const { rule, reason } of found) {
      expect(rule).toMatch(/^[a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*$/);
      expect(reason).toMatch(/^[a-z].*[a-z]$/);
    }
  });
});
