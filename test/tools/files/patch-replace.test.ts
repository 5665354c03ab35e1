import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ReplaceOutcome, replaceText } from "../../../src/tools/files/patch/replace.js";

function replace(text: string, oldText: string, newText: string, replaceAll = false): ReplaceOutcome {
  return replaceText({ text, oldText, newText, replaceAll });
}

function replaced(text: string, oldText: string, newText: string, replaceAll = false): string {
  const outcome = replace(text, oldText, newText, replaceAll);
  if (outcome.kind !== "replaced") throw new Error(JSON.stringify(outcome));
  return outcome.text;
}

function refusal(text: string, oldText: string, newText: string, replaceAll = false): string {
  const outcome = replace(text, oldText, newText, replaceAll);
  if (outcome.kind !== "refused") throw new Error(JSON.stringify(outcome));
  return `${outcome.message} ${outcome.hint}`;
}

describe("guards", () => {
  it("refuses an empty or blank old_string, and an edit that changes nothing", () => {
    expect(refusal("text", "", "x")).toContain("empty");
    expect(refusal("text", " \n\t", "x")).toContain("blanks");
    expect(refusal("text", "text", "text")).toContain("same");
  });

  it("names count and the first five lines of an ambiguous match", () => {
    const text = "x\n".repeat(7);
    expect(refusal(text, "x", "y")).toContain("7 places (lines 1, 2, 3, 4, 5, …)");
    expect(replaced(text, "x", "y", true)).toBe("y\n".repeat(7));
  });

  it("counts overlapping matches as ambiguous", () => {
    expect(refusal("aaa", "aa", "b")).toContain("2 places");
  });

  it("refuses replace_all where text only resembles old_string", () => {
    const text = "const width = compute(first);\nconst height = compute(second);\n";
    expect(refusal(text, text.replace("first", "frist"), "gone\nforever\n", true)).toContain("resembles");
  });

  it("refuses quotes that were escaped in both texts but not in the file", () => {
    const text = 'print("hello there, world")\nprint("second line here")\n';
    const old = 'print(\\"hello there, world\\")\nprint(\\"second line here\\")';
    expect(refusal(text, old, old.replace("hello", "goodbye"))).toContain("escaped once too often");
  });

  it("keeps escaped quotes that the file really has", () => {
    expect(replaced(String.raw`say("a \"b\" c")`, String.raw`\"b\"`, String.raw`\"d\"`)).toBe(
      String.raw`say("a \"d\" c")`,
    );
  });

  it("refuses deeper indentation when nothing opens a block", () => {
    const text = "\tone()\n\ttwo()\n";
    expect(refusal(text, "    two()", "        two(1)")).toContain("indented deeper");
    expect(replaced("\tif (x) {\n\ttwo()\n", "    two()", "        two(1)")).toContain("two(1)");
  });

  it("says what was meant, with line numbers", () => {
    const message = refusal("alpha\nconst total = sum(list);\nomega\n", "const totals = summing(lists)", "x");
    expect(message).toContain("2| const total = sum(list);");
  });
});

describe("adapting the new text", () => {
  it("gives it the file's indentation, in the file's own unit", () => {
    const text = "class A {\n\t\trun() {\n\t\t\tgo();\n\t\t}\n}\n";
    const old = "  run() {\n    go();\n  }";
    const wanted = "  run() {\n    if (x) {\n      go();\n    }\n  }";
    expect(replaced(text, old, wanted)).toBe(
      "class A {\n\t\trun() {\n\t\t\tif (x) {\n\t\t\t\tgo();\n\t\t\t}\n\t\t}\n}\n",
    );
  });

  it("turns \\t into a tab only where the matched text has tabs, and never \\n", () => {
    expect(replaced("a\tb", "a\\tb", "a\\tc")).toBe("a\tc");
    expect(refusal("a\nb", "a\\nb", "a\\nc")).toContain("line breaks");
    expect(replaced("one\ntwo", "one\\ntwo", "three\\tfour")).toBe("three\\tfour");
  });

  it("keeps typographic characters where the text is unchanged", () => {
    const text = "He said “hello” — and it’s fine…";
    const outcome = replaced(
      text,
      'He said "hello" - and it\'s fine...',
      'He said "goodbye" - and it\'s fine...',
    );
    expect(outcome).toContain("goodbye");
    expect(outcome).toContain("— and it’s fine…");
  });

  it("drops the blank lines that surround both texts", () => {
    expect(replaced("a\n  b\nc\n", "\n\nb\n", "\n\nB\n")).toBe("a\n  B\nc\n");
  });
});

describe("an edit that was made before", () => {
  it("is a success that changes nothing", () => {
    expect(replace("first\nconst answer = 42;\n", "const answer = 41;", "const answer = 42;")).toMatchObject({
      kind: "already_applied",
      line: 2,
    });
  });

  it("is not assumed for short texts", () => {
    expect(replace("abc", "zzz", "abc").kind).toBe("refused");
  });
});

describe("line endings", () => {
  it("a pattern with plain newlines fits a CRLF file and the new text gets CRLF", () => {
    expect(replaced("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz")).toBe("x\r\ny\r\nz\r\nc\r\n");
  });

  it("a CRLF pattern fits a file with plain newlines", () => {
    expect(replaced("a\nb\n", "a\r\nb", "x\r\ny")).toBe("x\ny\n");
  });

  it("mixed files keep every ending outside the edit", () => {
    expect(replaced("a\r\nb\nc\r\nd\n", "b", "B")).toBe("a\r\nB\nc\r\nd\n");
  });

  it("an edit of the endings themselves is possible", () => {
    expect(replaced("a\r\nb\r\n", "a\r\nb", "a\nb")).toBe("a\nb\r\n");
  });
});

const anyText = fc.string({ unit: "binary", maxLength: 60 });
const codeLine = fc.string({ unit: fc.constantFrom(..."abc xyz(){};=\t\\\"'“…1\r"), maxLength: 20 });
const codeText = fc.array(codeLine, { maxLength: 12 }).map((lines) => lines.join("\n"));

describe("laws", () => {
  it("replacing unique text is the same as replacing in a string", () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (before, middle, after, newText) => {
        const text = before + middle + after;
        fc.pre(middle.trim() !== "" && middle !== newText && !text.includes("\r") && !newText.includes("\r"));
        fc.pre(text.indexOf(middle) === text.lastIndexOf(middle));
        expect(replaced(text, middle, newText)).toBe(before + newText + after);
      }),
    );
  });

  it("replace_all with an exact match is the same as String.replaceAll", () => {
    const small = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 40 }),
        small,
        anyText,
        (text, old, by) => {
          fc.pre(old.trim() !== "" && text.includes(old) && old !== by && !by.includes("\r"));
          expect(replaced(text, old, by, true)).toBe(text.replaceAll(old, () => by));
        },
      ),
    );
  });

  it("text outside the matched lines is never touched, whatever strategy matched", () => {
    const noise = fc.constantFrom<(block: string) => string>(
      (block) => block,
      (block) => block.replace(/^/gm, "  "),
      (block) => block.replace(/^[ \t]+/gm, ""),
      (block) => block.replace(/ /g, "  "),
      (block) => block.replaceAll("“", '"').replaceAll("…", "..."),
      (block) => `\n\n${block}\n\n`,
      (block) => block.replace(/x/, "y"),
    );
    const strategiesSeen = new Set<string>();
    fc.assert(
      fc.property(codeText, codeText, codeText, codeText, noise, (head, target, tail, newText, spoil) => {
        const text = `${head}\n#HEAD#\n${target}\n#TAIL#\n${tail}`;
        const old = spoil(target);
        fc.pre(old.trim() !== "");
        const outcome = replace(text, old, newText);
        if (outcome.kind !== "replaced") return;
        strategiesSeen.add(outcome.strategy);
        const [region = { start: 0, end: 0 }] = outcome.regions;
        expect(outcome.regions).toHaveLength(1);
        expect(outcome.text.startsWith(text.slice(0, region.start))).toBe(true);
        expect(outcome.text.endsWith(text.slice(region.end))).toBe(true);
        // A loose match may take more blanks than were sent, never more text.
        const visible = (block: string) => block.replace(/\s|\\/g, "").length;
        expect(visible(text.slice(region.start, region.end))).toBeLessThanOrEqual(visible(old) * 3 + 8);
      }),
      { numRuns: 600 },
    );
    expect(strategiesSeen.size).toBeGreaterThan(3);
  });

  it("never throws, and a refusal carries a message and a hint", () => {
    fc.assert(
      fc.property(codeText, codeText, codeText, fc.boolean(), (text, old, by, all) => {
        const outcome = replace(text, old, by, all);
        if (outcome.kind === "refused") {
          expect(outcome.message).not.toBe("");
          expect(outcome.hint).not.toBe("");
        } else if (outcome.kind === "replaced") expect(outcome.text).not.toBe(text);
      }),
      { numRuns: 400 },
    );
  });
});
