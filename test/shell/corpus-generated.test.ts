import { beforeAll, describe, expect, test } from "vitest";
import { type GeneratedRow, generateRows, wrapHandWrittenRows } from "./corpus/generate.js";
import type { LabelledRow, Measure } from "./corpus/measure.js";
import { measured } from "./corpus/measured.js";
import { handWrittenRows } from "./corpus/rows.js";

const generated = generateRows({ seed: 20_251_115, count: 2_000 });

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
