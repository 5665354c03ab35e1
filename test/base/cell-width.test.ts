import { expect, it } from "vitest";
import { cellWidth, cutToWidth, graphemesOf } from "../../src/base/cell-width.js";

it.for([
  ["abc", 3],
  ["日本語", 6],
  ["한국", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["🇨🇭", 2],
  ["⚠️", 2],
  ["✓✗⚠", 3],
  ["ＡＢ", 4],
  ["\u001b[1mbold\u001b[22m", 4],
  ["", 0],
] as const)("%s takes %i columns", ([text, columns]) => {
  expect(cellWidth(text)).toBe(columns);
});

it("takes what a person sees as one character for one", () => {
  expect(graphemesOf("ae\u0301👩‍👩‍👧")).toEqual(["a", "e\u0301", "👩‍👩‍👧"]);
});

it("cuts between characters, never through one, and ends colours", () => {
  expect(cutToWidth("日本語", 5)).toBe("日本…");
  expect(cutToWidth("日本語", 4)).toBe("日…");
  expect(cutToWidth("日本語", 6)).toBe("日本語");
  expect(cutToWidth("\u001b[31mred words\u001b[39m", 4)).toBe("\u001b[31mred…\u001b[0m");
});

it("takes texts that nothing joins apart as the tables of Unicode do", () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const text of ["☁️ cloud", "📊 system_info", "é…→│", "✉️📧", "naïve ─ ½", "⚡ terminal"])
    expect(graphemesOf(text)).toEqual(Array.from(segmenter.segment(text), ({ segment }) => segment));
});
