import type { Refusal } from "./guards.js";
import { indentOf, type Reindent, reindenting } from "./indentation.js";
import { type Likeness, likenessOf, normalised, wordsOf } from "./likeness.js";
import type { LineRange, Step } from "./line-script.js";
import { mergeWords } from "./merge-words.js";

/** An edit, and the lines of the file that its old lines were found to be. */
export interface LineEdit {
  readonly sent: readonly string[];
  readonly found: readonly string[];
  readonly wanted: readonly string[];
  readonly steps: readonly Step[];
  /** All lines of the file. */
  readonly file: readonly string[];
  readonly unit: string | undefined;
  readonly insideLine: boolean;
}

export interface MergedLine {
  readonly text: string;
  /** The old line that it is, or whose place it takes. */
  readonly old?: number;
}

export type Merged =
  | { readonly ok: true; readonly lines: readonly MergedLine[] }
  | ({ readonly ok: false } & Refusal);

/**
 * The new lines as they must stand in a file that has the old ones in another spelling. Lines that the edit does
 * not change stay exactly as the file has them; changed ones get the file's indentation and, where they resemble
 * what they replace, its spelling. An edit whose own lines differ from the file in substance is refused.
 */
export function mergeLines(edit: LineEdit): Merged {
  const likeness = lineLikeness(edit);
  const reindent = reindenting(edit);
  const lines: MergedLine[] = [];
  for (const step of edit.steps) {
    if (step.kind === "keep") {
      lines.push({ text: edit.found[step.old] ?? "", old: step.old });
      continue;
    }
    const unlike = [step.old.from - 1, ...numbers(step.old), step.old.to].find(
      (at) => likeness(at) === "different",
    );
    if (unlike !== undefined) return conflict(edit, unlike);
    const bodies = changedBodies(edit, step.old, step.wanted);
    if (bodies === undefined) return conflict(edit, step.old.from);
    for (const [index, at] of numbers(step.wanted).entries()) {
      const indent = indentFor({ edit, reindent, step, index });
      if (indent === undefined) return unclearIndentation(edit.wanted[at] ?? "");
      const old = step.old.from + index;
      lines.push({ text: indent + (bodies[index] ?? ""), ...(old < step.old.to && { old }) });
    }
  }
  const broken = brokenOrder(edit, lines);
  return broken === undefined ? { ok: true, lines } : unclearIndentation(broken);
}

function numbers({ from, to }: LineRange): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

function lineLikeness({ sent, found, file }: LineEdit): (at: number) => Likeness {
  let words: ReadonlySet<string> | undefined;
  return (at) => {
    const [mine, theirs] = [sent[at], found[at]];
    if (mine === undefined || theirs === undefined || mine.trim() === theirs.trim()) return "same";
    words ??= wordsOf(file);
    return likenessOf({ sent: mine, found: theirs, words });
  };
}

/** Changed lines without their indentation; undefined when the edit and the file changed the same words. */
function changedBodies(edit: LineEdit, old: LineRange, wanted: LineRange): readonly string[] | undefined {
  const bodies = (lines: readonly string[], { from, to }: LineRange) =>
    lines.slice(from, to).map((line) => line.slice(indentOf(line).length));
  const theirs = bodies(edit.wanted, wanted);
  const blanksOnly = numbers(old).every((at) => inBlanksOnly(edit.sent[at] ?? "", edit.found[at] ?? ""));
  if (blanksOnly) return theirs;
  const ours = edit.found.slice(old.from, old.to).map((line) => line.trim());
  const base = edit.sent.slice(old.from, old.to).map((line) => line.trim());
  const merged = mergeWords({
    base: base.join("\n"),
    ours: ours.join("\n"),
    theirs: theirs.join("\n"),
  })?.split("\n");
  return merged?.length === theirs.length || (theirs.length === 0 && merged?.join("") === "")
    ? merged
    : undefined;
}

function inBlanksOnly(sent: string, found: string): boolean {
  const collapsed = (line: string) => line.trim().replace(/[ \t]+/g, " ");
  return collapsed(sent) === collapsed(found);
}

function indentFor(line: {
  edit: LineEdit;
  reindent: Reindent;
  step: Extract<Step, { kind: "change" }>;
  /** Among the new lines of this step. */
  index: number;
}): string | undefined {
  const { old, wanted } = line.step;
  const paired = old.to - old.from === wanted.to - wanted.from;
  return line.reindent(wanted.from + line.index, paired ? old.from + line.index : undefined);
}

/**
 * Line for line the old lines show how deep the new ones belong. Where lines come or go, one depth must stand for
 * one depth, and deeper lines must stay deeper. Answers with a line for which that is not so.
 */
function brokenOrder({ sent, found, wanted, steps, insideLine }: LineEdit, lines: readonly MergedLine[]) {
  const lineForLine = steps.every(
    (step) => step.kind === "keep" || step.old.to - step.old.from === step.wanted.to - step.wanted.from,
  );
  if (lineForLine) return undefined;
  const depths = new Map<number, { readonly width: number; readonly line: string }>();
  const skipFirst = insideLine || isStripped(sent[0], found[0]);
  const seen = [
    ...sent.map((line, at) => ({ at, line, written: found[at] ?? "" })),
    ...wanted.map((line, at) => ({ at, line, written: lines[at]?.text ?? "" })),
  ];
  for (const { at, line, written } of seen) {
    if (line.trim() === "" || (at === 0 && skipFirst)) continue;
    const [width, depth] = [indentOf(line).length, indentOf(written).length];
    const known = depths.get(width);
    if (known !== undefined && known.width !== depth) return line;
    depths.set(width, { width: depth, line });
  }
  const ordered = [...depths].sort(([left], [right]) => left - right);
  return ordered.find(
    ([, { width }], index) => index > 0 && width <= (ordered[index - 1]?.[1].width ?? -1),
  )?.[1].line;
}

function isStripped(sent: string | undefined, found: string | undefined): boolean {
  return indentOf(sent ?? "") === "" && indentOf(found ?? "") !== "";
}

function conflict({ found, sent }: LineEdit, at: number): Merged {
  const there = (found[at] ?? "").trim().slice(0, 160);
  const thought = (sent[at] ?? "").trim().slice(0, 160);
  return {
    ok: false,
    message:
      normalised(there) === normalised(thought)
        ? "The place is found, but what the edit changes there differs from what was sent."
        : `The place is found, but the file has "${there}" where "${thought}" was sent, and the edit touches that.`,
    hint: "Read these lines and send them exactly as the file has them.",
  };
}

function unclearIndentation(line: string): Merged {
  return {
    ok: false,
    message: `The text was sent with another indentation than the file has, and it is unclear how deep "${line.trim().slice(0, 80)}" belongs.`,
    hint: "Read these lines and send both texts with the file's own indentation.",
  };
}
