import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { generateRows } from "./corpus/generate.js";
import type { Measure } from "./corpus/measure.js";
import { measured } from "./corpus/measured.js";
import { seededRandom } from "./corpus/random.js";
import { handWrittenRows } from "./corpus/rows.js";

const generated = generateRows({ seed: 20_251_115, count: 2_000 });

describe("the rows", () => {
  test("are shell that bash accepts, unless they are look-alikes, broken on purpose or for Windows", () => {
    const random = seededRandom(7);
    const handWritten = [...handWrittenRows("dev"), ...handWrittenRows("heldout")].filter(
      ({ note }) => !/lookalike|windows|never closes|broken/.test(note ?? ""),
    );
    const sample = [...handWritten, ...generated.filter((row) => !row.lookalike)]
      .filter((row) => row.cmd.length < 10_000)
      .filter(() => random.chance(0.05));
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

/** `-n` reads the text and runs nothing. */
function isShell(command: string): boolean {
  return spawnSync("bash", ["-n"], { input: command, timeout: 5_000 }).status === 0;
}
