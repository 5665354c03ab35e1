import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";
import { rowsOf } from "./rows.js";

const FIXTURES = [
  "git",
  "containers",
  "cloud",
  "data",
  "code",
  "mixed",
  "own",
  "carried",
  "project-files",
  "fetched",
  "families",
  "wholesale",
  "callbacks",
  "variables",
  "git-programs",
  "given-code",
  "documents",
  "runners",
  "any-program",
  "strangers",
  "inversions",
  "unlisted",
];

describe.each(FIXTURES)("command lines of %s.tsv", (name) => {
  it.each(rowsOf(`${name}.tsv`))("%s: %s", (level, line) => {
    const verdict = judgeCommand(line.replaceAll("⏎", "\n"));
    expect(verdict.verdict, verdict.rule).toBe(level);
  });
});
