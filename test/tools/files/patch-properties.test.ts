import fc from "fast-check";
import { expect, it } from "vitest";
import { replaceText } from "../../../src/tools/files/patch/replace.js";
import { applyHunks } from "../../../src/tools/files/patch/v4a-hunks.js";
import type { HunkLine } from "../../../src/tools/files/patch/v4a-parse.js";

const RUNS = process.env.HERMES_FAULTS === "full" ? 20_000 : 600;

/** A line of a made-up program: how deep it stands, and what it says. */
interface CodeLine {
  readonly depth: number;
  readonly body: string;
}

interface Edit {
  readonly file: readonly CodeLine[];
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  /** What becomes of each line of the snippet. */
  readonly steps: readonly { readonly op: "keep" | "change" | "remove"; readonly added: readonly string[] }[];
  readonly ending: "\n" | "\r\n";
  readonly finalNewline: boolean;
}

const closing = fc.constantFrom("}", "end", "break;", "return;");
const telling = fc.tuple(
  fc.constantFrom("alpha", "bravo", "charlie", "delta"),
  fc.constantFrom("(“x”, 1)", "  =  2", "…", " = [a, b];", "{ y: 'z' }"),
);

/** Lines that stand once and lines that stand everywhere, nested like code. */
const codeFile = fc
  .array(fc.record({ step: fc.integer({ min: -2, max: 1 }), text: fc.oneof(closing, telling) }), {
    minLength: 3,
    maxLength: 24,
  })
  .map((lines) => {
    let depth = 0;
    return lines.map(({ step, text }, index): CodeLine => {
      depth = Math.max(0, depth + step);
      return { depth, body: typeof text === "string" ? text : `${text[0]}${index}${text[1]}` };
    });
  });

const edit: fc.Arbitrary<Edit> = codeFile.chain((file) =>
  fc
    .tuple(fc.nat(file.length - 1), fc.integer({ min: 1, max: 6 }))
    .map(([from, length]) => ({ from, to: Math.min(file.length, from + length) }))
    .chain(({ from, to }) =>
      fc.record({
        file: fc.constant(file),
        unit: fc.constantFrom("\t", "  ", "    "),
        from: fc.constant(from),
        to: fc.constant(to),
        steps: fc.array(
          fc.record({
            op: fc.constantFrom("keep" as const, "keep" as const, "change" as const, "remove" as const),
            added: fc.array(fc.constantFrom("added(1);", "more = “2”;"), { maxLength: 2 }),
          }),
          { minLength: to - from, maxLength: to - from },
        ),
        ending: fc.constantFrom("\n" as const, "\r\n" as const),
        finalNewline: fc.boolean(),
      }),
    ),
);

type Respell = (lines: readonly CodeLine[], unit: string) => readonly string[];

const written = (line: CodeLine, unit: string) => unit.repeat(line.depth) + line.body;
const otherUnit = (unit: string) => (unit === "\t" ? "    " : "\t");
const plain = (text: string) => text.replace(/[“”]/g, '"').replaceAll("…", "...");

/** Ways in which a model spells lines that it has read; each is tolerated somewhere. */
const SPELLINGS: Readonly<Record<string, Respell>> = {
  exact: (lines, unit) => lines.map((line) => written(line, unit)),
  dedented: (lines, unit) => {
    const common = Math.min(...lines.map(({ depth }) => depth));
    return lines.map((line) => written({ ...line, depth: line.depth - common }, unit));
  },
  shifted: (lines, unit) => lines.map((line) => unit + written(line, unit)),
  otherUnit: (lines, unit) => lines.map((line) => written(line, otherUnit(unit))),
  narrow: (lines) => lines.map((line) => written(line, "   ")),
  flat: (lines) => lines.map((line) => line.body),
  collapsed: (lines, unit) =>
    lines.map(({ depth, body }) => written({ depth, body: body.replace(/ +/g, " ") }, unit)),
  plain: (lines, unit) => lines.map((line) => plain(written(line, unit))),
  plainAndOtherUnit: (lines, unit) => lines.map((line) => plain(written(line, otherUnit(unit)))),
  slip: (lines, unit) => lines.map((line) => written(line, unit).replace("charlie", "chralie")),
};

/** The file, the edit as sent, and the file as it must be afterwards. */
function prepare({ file, unit, from, to, steps, ending, finalNewline }: Edit, spelling: string) {
  const respell = SPELLINGS[spelling] ?? (() => []);
  const lines = file.slice(from, to);
  const hunk: { readonly op: HunkLine["op"]; readonly line: CodeLine }[] = [];
  for (const [index, line] of lines.entries()) {
    const { op, added } = steps[index] ?? { op: "keep", added: [] };
    hunk.push({ op: op === "keep" ? " " : "-", line });
    if (op === "change") hunk.push({ op: "+", line: { ...line, body: `changed${from + index}(2);` } });
    for (const body of added) hunk.push({ op: "+", line: { depth: line.depth, body } });
  }
  const texts = respell(
    hunk.map(({ line }) => line),
    unit,
  );
  const sent = hunk.map(({ op }, index): HunkLine => ({ op, text: texts[index] ?? "" }));
  const part = (without: HunkLine["op"]) => sent.filter(({ op }) => op !== without).map(({ text }) => text);
  const whole = (all: readonly CodeLine[]) =>
    all.map((line) => written(line, unit)).join(ending) + (finalNewline ? ending : "");
  const wanted = hunk.filter(({ op }) => op !== "-").map(({ line }) => line);
  return {
    before: whole(file),
    after: whole([...file.slice(0, from), ...wanted, ...file.slice(to)]),
    sent,
    oldText: part("+").join("\n"),
    newText: part("-").join("\n"),
    /** Lines whose words stand nowhere else identify the place; without one of them any answer is a guess. */
    telling: lines.some(({ body }) => /\d/.test(body)),
    /** Added lines are sent with plain quotes, and no file tells how they should look. */
    addsQuotes: hunk.some(({ op, line }) => op === "+" && /[“]/.test(line.body)) && /plain/.test(spelling),
    emptied: wanted.length === 0 || (from === 0 && to === file.length),
  };
}

const anySpelling = fc.constantFrom(...Object.keys(SPELLINGS));

it("mode replace changes exactly the lines that are meant, or nothing", () => {
  const seen: Record<string, { made: number; refused: number }> = {};
  fc.assert(
    fc.property(edit, anySpelling, (made, spelling) => {
      const {
        before,
        after,
        oldText,
        newText,
        telling: isTelling,
        addsQuotes,
        emptied,
      } = prepare(made, spelling);
      fc.pre(isTelling && !addsQuotes && !emptied && oldText !== newText && oldText.trim() !== "");
      const outcome = replaceText({ text: before, oldText, newText, replaceAll: false });
      const { made: done, refused } = seen[spelling] ?? { made: 0, refused: 0 };
      const isRefused = outcome.kind === "refused";
      seen[spelling] = { made: done + Number(!isRefused), refused: refused + Number(isRefused) };
      // What stands in the file as sent is replaced as sent, also where its first line was sent without blanks.
      const literal = before.replaceAll("\r\n", "\n").split(oldText);
      const wanted = literal.length === 2 ? literal.join(newText).replaceAll("\n", made.ending) : after;
      if (outcome.kind === "replaced") expect(outcome.text).toBe(wanted);
      if (outcome.kind === "already_applied") expect(before.replaceAll("\r\n", "\n")).toContain(newText);
    }),
    { numRuns: RUNS },
  );
  console.info("mode replace", JSON.stringify(seen));
  // Not vacuous: all but the hopeless spellings are mostly understood.
  for (const name of ["exact", "dedented", "otherUnit", "plain"]) {
    const { made = 0, refused = 0 } = seen[name] ?? {};
    expect(made).toBeGreaterThan(refused);
  }
});

it("a hunk changes exactly the lines that are meant, or nothing", () => {
  let applied = 0;
  fc.assert(
    fc.property(edit, anySpelling, (made, spelling) => {
      const { before, after, sent, telling: isTelling, addsQuotes, emptied } = prepare(made, spelling);
      fc.pre(isTelling && !addsQuotes && !emptied && sent.some(({ op }) => op !== " "));
      const outcome = applyHunks(before, [{ anchors: [], lines: sent, atEnd: false }]);
      if (!outcome.ok || outcome.text === before) return;
      applied++;
      expect(outcome.text).toBe(after);
    }),
    { numRuns: RUNS },
  );
  expect(applied).toBeGreaterThan(RUNS / 3);
});
