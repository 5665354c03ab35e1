import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reindenting } from "../../../src/tools/files/patch/indentation.js";
import { replaceText } from "../../../src/tools/files/patch/replace.js";
import { RewrittenText } from "../../../src/tools/files/patch/rewritten-text.js";
import { isWithinEdits, similarityTo } from "../../../src/tools/files/patch/similarity.js";
import { plainText } from "../../../src/tools/files/patch/unicode.js";

const spaced = fc.string({ unit: fc.constantFrom("a", " ", "\t", "\n", "…", "“", "e\u0301"), maxLength: 30 });

describe("rewritten text", () => {
  const rewriters: [string, (text: string) => RewrittenText][] = [
    ["blanks collapsed", (text) => new RewrittenText(text, /[ \t]{2,}|\t/g, () => " ")],
    ["indentation dropped", (text) => new RewrittenText(text, /(?<=^|\n)[ \t]+/g, () => "")],
    ["typography plain", plainText],
  ];

  it.each(rewriters)("%s: what is found leads back to text that rewrites to it", (_, rewrite) => {
    fc.assert(
      fc.property(spaced, fc.nat(40), fc.nat(40), (original, first, second) => {
        const rewritten = rewrite(original);
        const start = Math.min(first, second, rewritten.text.length);
        const end = Math.min(Math.max(first, second), rewritten.text.length);
        fc.pre(start < end);
        const origin = rewritten.originOf({ start, end });
        if (origin === undefined) return;
        const before = original.slice(0, origin.start);
        // Context decides what counts as indentation, so the slice is rewritten where it stands.
        const through = rewrite(original.slice(0, origin.end)).text;
        expect(through.endsWith(rewritten.text.slice(start, end))).toBe(true);
        expect(rewrite(before).text.length).toBeLessThanOrEqual(start);
      }),
      { numRuns: 500 },
    );
  });

  it.each(rewriters)("%s: positions lead there and back", (_, rewrite) => {
    fc.assert(
      fc.property(spaced, fc.nat(30), (original, at) => {
        const rewritten = rewrite(original);
        const position = rewritten.positionOf(Math.min(at, original.length));
        if (position === undefined || position >= rewritten.text.length) return;
        const back = rewritten.originOf({ start: position, end: rewritten.text.length });
        expect(back === undefined || back.start >= Math.min(at, original.length)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("similarity", () => {
  function editDistance(left: string, right: string): number {
    if (left === "" || right === "") return left.length + right.length;
    return Math.min(
      editDistance(left.slice(1), right) + 1,
      editDistance(left, right.slice(1)) + 1,
      editDistance(left.slice(1), right.slice(1)) + (left[0] === right[0] ? 0 : 1),
    );
  }
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });

  it("isWithinEdits agrees with the plain definition of edit distance", () => {
    fc.assert(
      fc.property(word, word, fc.constantFrom(0, 0.2, 0.34, 0.5, 1), (left, right, share) => {
        const allowed = Math.floor(Math.max(left.length, right.length) * share);
        expect(isWithinEdits(left, right, share)).toBe(editDistance(left, right) <= allowed);
      }),
      { numRuns: 1000 },
    );
  });

  it("similarityTo is symmetric, between 0 and 1, and can be asked again", () => {
    fc.assert(
      fc.property(word, word, (left, right) => {
        const compare = similarityTo(left);
        const value = compare(right);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(compare(right)).toBe(value);
        expect(similarityTo(right)(left)).toBe(value);
        expect(compare(left)).toBe(1);
      }),
    );
  });
});

describe("indentation", () => {
  function reindent(wanted: readonly string[], pair: { sent: readonly string[]; found: readonly string[] }) {
    const indent = reindenting({ ...pair, wanted, unit: undefined, insideLine: false });
    return wanted.map((line, at) => {
      const blanks = indent(at);
      return blanks === undefined ? undefined : blanks + line.trimStart();
    });
  }

  it("is left alone when it already agrees", () => {
    const lines = ["  a", "\tb", "c", ""];
    expect(reindent(lines, { sent: ["  x", "    y"], found: ["  x", "    y"] })).toEqual(lines);
  });

  it("steps out as well as in", () => {
    const pair = { sent: ["    b"], found: ["\t\tb"] };
    expect(reindent(["if (x) {", "    b", "        c", "}"], pair)).toEqual([
      "\tif (x) {",
      "\t\tb",
      "\t\t\tc",
      "\t}",
    ]);
  });

  it("a first line that was sent without its indentation does not count for the others", () => {
    const pair = { sent: ["if x:", "        a()"], found: ["\tif x:", "\t\ta()"] };
    expect(reindent(["if x:", "        b()", "    done()"], pair)).toEqual([
      "\tif x:",
      "\t\tb()",
      "\tdone()",
    ]);
  });

  it("is unclear when one sent depth stands for several in the file", () => {
    const pair = { sent: ["if x:", "a()", "b()"], found: ["if x:", "    a()", "b()"] };
    expect(reindent(["if x:", "c()"], pair)).toEqual([undefined, undefined]);
  });

  it("is unclear rather than negative", () => {
    const pair = { sent: ["        a", "            b"], found: ["a", "    b"] };
    expect(reindent(["    a", "        b"], pair)).toEqual([undefined, "b"]);
  });
});

describe("very large input", () => {
  it("a pattern of a hundred thousand characters is compared, not compiled", () => {
    const oldText = `a ${" ".repeat(50_000)}${"(".repeat(50_000)} b`;
    expect(replaceText({ text: "short\n", oldText, newText: "x", replaceAll: false }).kind).toBe("refused");
    const text = `x\n${oldText.replace(/ {2,}/, " ")}\ny\n`;
    expect(replaceText({ text, oldText, newText: "z", replaceAll: false })).toMatchObject({
      kind: "replaced",
      strategy: "whitespace_normalized",
      text: "x\nz\ny\n",
    });
  });
});
