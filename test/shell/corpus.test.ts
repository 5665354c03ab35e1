import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GeneratedRow, generateRows, wrapHandWrittenRows } from "./corpus/generate.js";
import { type LabelledRow, type Measure, measure } from "./corpus/measure.js";
import { seededRandom } from "./corpus/random.js";
import { reportText } from "./corpus/report.js";
import { handWrittenRows } from "./corpus/rows.js";

const generated = generateRows({ seed: 20_251_115, count: 2_000 });
const report: string[] = [];

afterAll(() => {
  const file = process.env.HERMES_CORPUS_REPORT;
  if (file === "-") console.log(report.join("\n"));
  else if (file !== undefined && file !== "") writeFileSync(file, report.join("\n"));
});

function measured(name: string, rows: readonly LabelledRow[], withMisses: boolean): Measure {
  const result = measure(rows);
  report.push(reportText(name, result, withMisses));
  return result;
}

describe("the rows", () => {
  test("are shell that bash accepts, unless they are look-alikes, broken on purpose or for Windows", () => {
    const random = seededRandom(7);
    const handWritten = [...handWrittenRows("dev"), ...handWrittenRows("heldout")].filter(
      ({ note }) => !/lookalike|windows|never closes|broken/.test(note ?? ""),
    );
    const sample = [...handWritten, ...generated.filter((row) => !row.lookalike)]
      .filter((row) => row.cmd.length < 10_000)
      .filter(() => random.chance(0.1));
    expect(sample.length).toBeGreaterThan(200);
    expect(sample.filter((row) => !isShell(row.cmd)).map((row) => row.cmd)).toEqual([]);
  });

  test("the same seed gives the same generated rows, another seed others", () => {
    const commands = (seed: number): string[] => generateRows({ seed, count: 50 }).map((row) => row.cmd);
    expect(commands(1)).toEqual(commands(1));
    expect(commands(1)).not.toEqual(commands(2));
  });

  test("the two hand-written sets share no row", () => {
    const dev = new Set(handWrittenRows("dev").map((row) => row.cmd));
    expect(handWrittenRows("heldout").filter((row) => dev.has(row.cmd))).toEqual([]);
  });
});

describe.each(["dev", "heldout"] as const)("the %s rows", (set) => {
  let result: Measure;
  beforeAll(() => {
    result = measured(set, handWrittenRows(set), set === "dev");
  });

  test("reach the recall asked for in each tier", () => {
    expect(result.byTier["tier 1"]?.recall.share).toBeGreaterThanOrEqual(0.99);
    expect(result.byTier["tier 2"]?.recall.share).toBeGreaterThanOrEqual(0.97);
    expect(result.byTier["tier 3"]?.recall.share).toBeGreaterThanOrEqual(0.9);
  });

  test("raise few false alarms", () => {
    expect(result.falseAlarms.share).toBeLessThanOrEqual(0.02);
  });

  test("hold the floor and refuse nothing a person may allow", () => {
    expect(result.floor.share).toBeGreaterThanOrEqual(0.99);
    expect(result.overBlocked.share).toBeLessThanOrEqual(0.003);
  });
});

describe("hand-written rows in wrappers", () => {
  let result: Measure;
  beforeAll(() => {
    const rows = wrapHandWrittenRows({ rows: handWrittenRows("dev"), seed: 5 });
    result = measured("wrapped dev", rows, true);
  });

  test("are judged as they are alone", () => {
    expect(result.byTier["tier 1"]?.recall.share).toBeGreaterThanOrEqual(0.99);
    expect(result.byTier["tier 2"]?.recall.share).toBeGreaterThanOrEqual(0.97);
    expect(result.byTier["tier 3"]?.recall.share).toBeGreaterThanOrEqual(0.9);
    expect(result.falseAlarms.share).toBeLessThanOrEqual(0.02);
    expect(result.floor.share).toBeGreaterThanOrEqual(0.99);
    expect(result.overBlocked.share).toBeLessThanOrEqual(0.003);
  });
});

describe("generated rows", () => {
  let result: Measure;
  beforeAll(() => {
    result = measured("generated", generated.map(withNote), true);
  });

  test("are recognised", () => {
    expect(result.recall.share).toBeGreaterThanOrEqual(0.99);
    expect(result.falseAlarms.share).toBeLessThanOrEqual(0.02);
  });

  test("hold the floor and refuse nothing a person may allow", () => {
    expect(result.floor.share).toBeGreaterThanOrEqual(0.99);
    expect(result.overBlocked.share).toBeLessThanOrEqual(0.003);
  });
});

function withNote(row: GeneratedRow): LabelledRow {
  return row.lookalike ? { ...row, note: "lookalike" } : row;
}

/** `-n` reads the text and runs nothing. */
function isShell(command: string): boolean {
  return spawnSync("bash", ["-n"], { input: command, timeout: 5_000 }).status === 0;
}
