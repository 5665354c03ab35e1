import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Region } from "../../../src/tools/files/patch/regions.js";
import { findMatch, STRATEGIES } from "../../../src/tools/files/patch/replace.js";
import * as strategies from "../../../src/tools/files/patch/strategies.js";

const cut = (text: string, regions: readonly Region[]) =>
  regions.map(({ start, end }) => text.slice(start, end));

describe("each strategy finds what it promises and nothing looser", () => {
  it("exact: every occurrence, overlapping ones too", () => {
    expect(strategies.exact("aaa", "aa")).toHaveLength(2);
    expect(strategies.exact("abc", "d")).toEqual([]);
  });

  it("line_trimmed: whole lines with other blanks at their ends", () => {
    const text = "if x:\n    call()  \nend\n";
    expect(cut(text, strategies.lineTrimmed(text, "call()\nend"))).toEqual(["    call()  \nend"]);
    expect(strategies.lineTrimmed(text, "cal()")).toEqual([]);
    expect(strategies.lineTrimmed(text, "all()")).toEqual([]);
  });

  it("line_trimmed: a final newline in the pattern takes the file's newline along", () => {
    const text = "  one\n  two\n";
    expect(cut(text, strategies.lineTrimmed(text, "one\n"))).toEqual(["  one\n"]);
  });

  it("whitespace_normalized: other runs of blanks inside a line", () => {
    const text = "const  a\t=  1;";
    expect(cut(text, strategies.whitespaceNormalized(text, "a = 1"))).toEqual(["a\t=  1"]);
    expect(strategies.whitespaceNormalized("ab", "a b")).toEqual([]);
  });

  it("indentation_flexible: any depth, and the last line may go on", () => {
    const text = "function f() {\n\t\treturn (\n\t\t\tone + two);\n}";
    expect(cut(text, strategies.indentationFlexible(text, "return (\n  one"))).toEqual([
      "return (\n\t\t\tone",
    ]);
    expect(cut(text, strategies.indentationFlexible(text, "  return (\n    one"))).toEqual([
      "\t\treturn (\n\t\t\tone",
    ]);
  });

  it("indentation_flexible: indentation in the pattern never matches inside a line", () => {
    expect(strategies.indentationFlexible("xfoo()", "  foo()")).toEqual([]);
  });

  it("escape_normalized: \\n and \\t sent as two characters", () => {
    const text = "one\n\ttwo";
    expect(cut(text, strategies.escapeNormalized(text, "one\\n\\ttwo"))).toEqual([text]);
    expect(strategies.escapeNormalized(text, "one")).toEqual([]);
  });

  it("trimmed_boundary: extra blank lines around a block that fills its lines", () => {
    const text = "a\n  b\nc\n";
    expect(cut(text, strategies.trimmedBoundary(text, "\n\nb\n\n"))).toEqual(["  b"]);
    expect(strategies.trimmedBoundary("abc", " b ")).toEqual([]);
  });

  it("unicode_normalized: curly quotes, dashes, ellipsis, special blanks, composed letters", () => {
    const text = "say “hi” — it’s\u00a0cafe\u0301…";
    expect(cut(text, strategies.unicodeNormalized(text, 'say "hi" - it\'s café...'))).toEqual([text]);
    expect(strategies.unicodeNormalized("a…", "a..")).toEqual([]);
  });

  it("block_anchor: first and last line agree, the middle is half the same", () => {
    const text = "def f(a):\n    total = a + 1\n    log(total)\n    return total\n";
    const close = "def f(a):\n    total = a + 2\n    log(total, a)\n    return total";
    const far = "def f(a):\n    xxxxxxx\n    yyyyyyyyy\n    return total";
    expect(cut(text, strategies.blockAnchor(text, close))).toEqual([text.trimEnd()]);
    expect(strategies.blockAnchor(text, far)).toEqual([]);
    expect(strategies.blockAnchor("a\nb\n", "a\nb")).toEqual([]);
  });

  it("context_aware: every line close, never a single line", () => {
    const text = "const width = compute(first);\nconst height = compute(second);\n";
    const typo = "const width = compute(frist);\nconst height = compute(second);";
    expect(cut(text, strategies.contextAware(text, typo))).toEqual([text.trimEnd()]);
    expect(strategies.contextAware(text, "const width = compute(frist);")).toEqual([]);
    expect(strategies.contextAware(text, "const width = compute(first);\nsomething else entirely;")).toEqual(
      [],
    );
    expect(strategies.contextAware("x = 1\ny = 2\n", "x = 1\ny = 3")).toEqual([]);
  });
});

describe("the order of strategies", () => {
  it("is the documented one", () => {
    expect(STRATEGIES.map(([name]) => name)).toEqual([
      "exact",
      "line_trimmed",
      "whitespace_normalized",
      "indentation_flexible",
      "escape_normalized",
      "trimmed_boundary",
      "unicode_normalized",
      "block_anchor",
      "context_aware",
    ]);
  });

  it("lets an exact match win over anything looser", () => {
    expect(findMatch("  a b\na b\n", "a b")).toMatchObject({
      strategy: "exact",
      regions: [{ start: 2 }, { start: 6 }],
    });
  });
});

const line = fc.string({
  unit: fc.constantFrom("a", "b", " ", "\t", "(", "“", "…", "\\", "n"),
  maxLength: 12,
});
const block = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join("\n"));

describe("laws of all strategies", () => {
  it.each(STRATEGIES.map(([name, find]) => ({ name, find })))(
    "$name: regions lie inside the text, in order, and are never empty",
    ({ find }) => {
      fc.assert(
        fc.property(block, block, (text, pattern) => {
          fc.pre(pattern.trim() !== "");
          let previous = -1;
          for (const { start, end } of find(text, pattern)) {
            expect(start).toBeGreaterThan(previous);
            expect(end).toBeGreaterThan(start);
            expect(end).toBeLessThanOrEqual(text.length);
            previous = start;
          }
        }),
        { numRuns: 300 },
      );
    },
  );
});
