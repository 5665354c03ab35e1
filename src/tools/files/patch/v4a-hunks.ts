import { similarLines } from "./did-you-mean.js";
import { type Refusal, refuseEscapeDrift } from "./guards.js";
import { indentationUnit } from "./indentation.js";
import { scriptOf } from "./line-script.js";
import { mergeLines } from "./merge-lines.js";
import type { WindowTest } from "./regions.js";
import { closeLines, type StrategyName } from "./strategies.js";
import { plainText } from "./unicode.js";
import type { Hunk, HunkLine } from "./v4a-parse.js";

interface FileLine {
  readonly text: string;
  readonly ending: string;
}

export type HunkOutcome =
  | { readonly ok: true; readonly text: string; readonly strategies: readonly StrategyName[] }
  | ({ readonly ok: false } & Refusal);

type Compare = readonly [StrategyName, (wanted: readonly string[]) => WindowTest];

const COMPARISONS: readonly Compare[] = [
  ["exact", equalBy((line) => line)],
  ["line_trimmed", equalBy((line) => line.trim())],
  ["whitespace_normalized", equalBy((line) => line.trim().replace(/[ \t]+/g, " "))],
  ["unicode_normalized", equalBy((line) => plainText(line).text.trim())],
  ["context_aware", (wanted) => (wanted.length < 3 ? () => false : closeLines(wanted))],
];

/** Applies hunks to a file's text, one after the other; all of them or none. */
export function applyHunks(text: string, hunks: readonly Hunk[]): HunkOutcome {
  let lines = fileLines(text);
  let cursor = 0;
  const strategies: StrategyName[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const placed = placeHunk(lines, hunk, cursor);
    if (!placed.ok) {
      return {
        ok: false,
        message: `Hunk ${index + 1} of ${hunks.length}: ${placed.message}`,
        hint: placed.hint,
      };
    }
    lines = [...lines.slice(0, placed.from), ...placed.lines, ...lines.slice(placed.to)];
    cursor = placed.from + placed.lines.length;
    strategies.push(placed.strategy);
  }
  return { ok: true, text: joinLines(lines, text), strategies };
}

type Placed =
  | {
      readonly ok: true;
      readonly from: number;
      readonly to: number;
      readonly lines: readonly FileLine[];
      readonly strategy: StrategyName;
    }
  | ({ readonly ok: false } & Refusal);

function placeHunk(lines: readonly FileLine[], hunk: Hunk, cursor: number): Placed {
  const texts = lines.map((line) => line.text);
  const starts = startsBehind(texts, hunk.anchors, cursor);
  if ("ok" in starts) return starts;
  if (hunk.lines.every((line) => line.op === "+")) return addedLines({ lines, hunk, starts });
  const found = findBlock(texts, hunk, starts) ?? findBlock(texts, withoutBlankTail(hunk), starts);
  if (found === undefined) return alreadyApplied(texts, hunk) ?? notFound(texts, hunk);
  if (found.places.length > 1) return ambiguous(found.places);
  const [from = 0] = found.places;
  const applied = found.strategy === "exact" ? undefined : alreadyApplied(texts, hunk, from);
  if (applied !== undefined) return applied;
  return rewritten({ lines, hunk: found.hunk, from, strategy: found.strategy });
}

/** Without a line to hold on to, new lines go behind the @@ line or to the end of the file. */
function addedLines(edit: { lines: readonly FileLine[]; hunk: Hunk; starts: readonly number[] }): Placed {
  const { lines, hunk, starts } = edit;
  const anchored = hunk.anchors.length > 0 && !hunk.atEnd;
  if (anchored && starts.length > 1) return ambiguous(starts.map((start) => start - 1));
  const at = anchored ? (starts[0] ?? lines.length) : lines.length;
  const ending = lines[Math.max(0, at - 1)]?.ending || lines[0]?.ending || "\n";
  const added = hunk.lines.map((line) => ({ text: line.text, ending }));
  return { ok: true, from: at, to: at, lines: added, strategy: "exact" };
}

function ambiguous(places: readonly number[]): Placed {
  const lines = places.slice(0, 5).map((place) => place + 1);
  return {
    ok: false,
    message: `its lines fit ${places.length} places (lines ${lines.join(", ")}${places.length > 5 ? ", …" : ""}).`,
    hint: "Add context lines, or an @@ line that names the enclosing function or class.",
  };
}

interface Block {
  readonly hunk: Hunk;
  readonly places: readonly number[];
  readonly strategy: StrategyName;
}

function findBlock(texts: readonly string[], hunk: Hunk, starts: readonly number[]): Block | undefined {
  const wanted = hunk.lines.filter((line) => line.op !== "+").map((line) => line.text);
  if (wanted.length === 0) return undefined;
  for (const [strategy, testFor] of COMPARISONS) {
    const accepts = testFor(wanted);
    const fits: number[] = [];
    for (let at = 0; at + wanted.length <= texts.length; at++) if (accepts(texts, at)) fits.push(at);
    const places = hunk.anchors.length > 0 ? behindAnchor(fits, starts) : inOrder(fits, starts[0] ?? 0);
    const last = places.at(-1);
    if (last === undefined) continue;
    const isAtEnd = hunk.atEnd && last + wanted.length === texts.length;
    return { hunk, places: isAtEnd ? [last] : places, strategy };
  }
  return undefined;
}

/** Hunks are usually, but not always, in the order of the file. */
function inOrder(fits: readonly number[], cursor: number): readonly number[] {
  const ahead = fits.filter((place) => place >= cursor);
  return ahead.length > 0 ? ahead : fits;
}

/** An @@ line names the place: the first fit behind it is meant, and nothing in front of it. */
function behindAnchor(fits: readonly number[], starts: readonly number[]): readonly number[] {
  const first = starts.flatMap((start) => {
    // Some repeat the line after @@ as the first context line, so one line before counts as behind.
    const place = fits.find((fit) => fit >= start - 1);
    return place === undefined ? [] : [place];
  });
  return [...new Set(first)];
}

function rewritten(edit: {
  lines: readonly FileLine[];
  hunk: Hunk;
  from: number;
  strategy: StrategyName;
}): Placed {
  const { lines, hunk, from, strategy } = edit;
  const sent = hunk.lines.filter((line) => line.op !== "+").map((line) => line.text);
  const block = lines.slice(from, from + sent.length);
  const found = block.map((line) => line.text);
  const added = hunk.lines.filter((line) => line.op === "+").map((line) => line.text);
  const drift = refuseEscapeDrift({
    found: found.join("\n"),
    oldText: sent.join("\n"),
    newText: added.join("\n"),
  });
  if (drift !== undefined) return { ok: false, ...drift };
  const texts = lines.map((line) => line.text);
  const merged = mergeLines({
    sent,
    found,
    wanted: hunk.lines.filter((line) => line.op !== "-").map((line) => line.text),
    steps: scriptOf(hunk.lines),
    file: texts,
    unit: indentationUnit(texts),
    insideLine: false,
  });
  if (!merged.ok) return merged;
  const ending = block.find((line) => line.ending !== "")?.ending ?? (lines[0]?.ending || "\n");
  const result = merged.lines.map(
    ({ text, old }): FileLine => ({ text, ending: (old === undefined ? "" : block[old]?.ending) || ending }),
  );
  return { ok: true, from, to: from + sent.length, lines: result, strategy };
}

/** Where a hunk may begin: behind its @@ lines. Several answers when the first @@ line stands in several places. */
function startsBehind(
  texts: readonly string[],
  anchors: readonly string[],
  cursor: number,
): readonly number[] | ({ readonly ok: false } & Refusal) {
  const [first, ...inner] = anchors;
  if (first === undefined) return [cursor];
  const starts = linesLike(texts, first, cursor).flatMap((line) => {
    let position: number | undefined = line + 1;
    for (const anchor of inner) {
      const next: number | undefined =
        position === undefined ? undefined : linesLike(texts.slice(position), anchor, 0)[0];
      position = position === undefined || next === undefined ? undefined : position + next + 1;
    }
    return position === undefined ? [] : [position];
  });
  if (starts.length > 0) return starts;
  const missing = anchors.find((anchor) => linesLike(texts, anchor, 0).length === 0) ?? first;
  const similar = similarLines(texts.join("\n"), missing);
  return {
    ok: false,
    message: `the line after @@ ("${missing.slice(0, 80)}") is not in the file, or not where it should be.`,
    hint: similar.length > 0 ? `Did you mean:\n${similar.join("\n")}` : "Read the file again.",
  };
}

/** Lines that are the anchor, or else those that hold it; from the cursor on, or else anywhere. */
function linesLike(texts: readonly string[], anchor: string, cursor: number): readonly number[] {
  const numbers = (test: (line: string) => boolean) =>
    texts.flatMap((line, index) => (test(line) ? [index] : []));
  const equal = numbers((line) => line.trim() === anchor);
  const all = equal.length > 0 ? equal : numbers((line) => line.includes(anchor));
  const ahead = all.filter((line) => line >= cursor);
  return ahead.length > 0 ? ahead : all;
}

/** Shorter blocks occur by chance, so finding one proves nothing. */
const MIN_ALREADY_APPLIED_CHARS = 8;

/** With `near`, only where it covers the place that resembles the old lines. */
function alreadyApplied(texts: readonly string[], hunk: Hunk, near?: number): Placed | undefined {
  const after = hunk.lines.filter((line) => line.op !== "-").map((line) => line.text);
  if (after.join("").trim().length < MIN_ALREADY_APPLIED_CHARS) return undefined;
  const length = hunk.lines.filter((line) => line.op !== "+").length;
  const accepts = equalBy((line) => line)(after);
  const at = texts.findIndex((_, index) => {
    const covers = near === undefined || (index < near + length && near < index + after.length);
    return covers && index + after.length <= texts.length && accepts(texts, index);
  });
  if (at === -1) return undefined;
  return { ok: true, from: at + after.length, to: at + after.length, lines: [], strategy: "exact" };
}

function notFound(texts: readonly string[], hunk: Hunk): Placed {
  const wanted = hunk.lines.filter((line) => line.op !== "+").map((line) => line.text);
  const similar = similarLines(texts.join("\n"), wanted.join("\n"));
  return {
    ok: false,
    message: "its context and removed lines are not in the file.",
    hint:
      similar.length > 0
        ? `Did you mean:\n${similar.join("\n")}\nRead the file and send these lines as they stand there.`
        : "Read the file and send these lines as they stand there.",
  };
}

function withoutBlankTail(hunk: Hunk): Hunk {
  const lines: HunkLine[] = [...hunk.lines];
  while (lines.at(-1)?.op === " " && lines.at(-1)?.text.trim() === "") lines.pop();
  return { ...hunk, lines };
}

function equalBy(normalise: (line: string) => string): (wanted: readonly string[]) => WindowTest {
  return (wanted) => {
    const normalised = wanted.map(normalise);
    return (lines, from) =>
      normalised.every((line, index) => {
        const candidate = lines[from + index];
        return candidate !== undefined && normalise(candidate) === line;
      });
  };
}

function fileLines(text: string): FileLine[] {
  return [...text.matchAll(/([^\n]*?)(\r?\n|$)/g)]
    .map(([, line = "", ending = ""]) => ({ text: line, ending }))
    .filter((line) => line.text !== "" || line.ending !== "");
}

/** A file keeps its last newline, or keeps having none. */
function joinLines(lines: readonly FileLine[], original: string): string {
  const usual = lines.find((line) => line.ending !== "")?.ending ?? "\n";
  const closed = original === "" || original.endsWith("\n");
  return lines
    .map((line, index) => {
      const last = index === lines.length - 1;
      return line.text + (last ? (closed ? line.ending || usual : "") : line.ending || usual);
    })
    .join("");
}
