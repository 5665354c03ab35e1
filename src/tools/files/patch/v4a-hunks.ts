import { similarLines } from "./did-you-mean.js";
import { type Refusal, refuseEscapeDrift } from "./guards.js";
import type { WindowTest } from "./regions.js";
import { reindent } from "./reindent.js";
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
  const start = behindAnchors(texts, hunk.anchors, cursor);
  if (typeof start !== "number") return start;
  const ending = lines[Math.max(0, start - 1)]?.ending || lines[0]?.ending || "\n";
  const old = hunk.lines.filter((line) => line.op !== "+");
  if (old.length === 0) {
    const at = hunk.anchors.length > 0 ? start : lines.length;
    const added = hunk.lines.map((line) => ({ text: line.text, ending }));
    return { ok: true, from: at, to: at, lines: added, strategy: "exact" };
  }
  const found = findBlock(texts, hunk, start) ?? findBlock(texts, withoutBlankTail(hunk), start);
  if (found === undefined) return alreadyApplied(texts, hunk) ?? notFound(texts, hunk);
  if (found.places.length > 1) {
    const places = found.places.slice(0, 5).map((place) => place + 1);
    return {
      ok: false,
      message: `its lines fit ${found.places.length} places (lines ${places.join(", ")}).`,
      hint: "Add context lines, or an @@ line that names the enclosing function or class.",
    };
  }
  const [from = 0] = found.places;
  return rewritten({ lines, hunk: found.hunk, from, strategy: found.strategy });
}

interface Block {
  readonly hunk: Hunk;
  readonly places: readonly number[];
  readonly strategy: StrategyName;
}

/** Looks behind `start` first, then anywhere: hunks are usually, but not always, in order. */
function findBlock(texts: readonly string[], hunk: Hunk, start: number): Block | undefined {
  const wanted = hunk.lines.filter((line) => line.op !== "+").map((line) => line.text);
  if (wanted.length === 0) return undefined;
  for (const [strategy, testFor] of COMPARISONS) {
    const accepts = testFor(wanted);
    const places: number[] = [];
    for (let at = 0; at + wanted.length <= texts.length; at++) if (accepts(texts, at)) places.push(at);
    if (places.length === 0) continue;
    // Some repeat the line after @@ as the first context line, so one line before counts as behind.
    const first = hunk.anchors.length > 0 ? start - 1 : start;
    const ahead = places.filter((place) => place >= first);
    const pool = ahead.length > 0 ? ahead : places;
    const last = pool.at(-1);
    if (hunk.atEnd && last !== undefined && last + wanted.length === texts.length) {
      return { hunk, places: [last], strategy };
    }
    // An anchor names the place: the first fit behind it is meant.
    return { hunk, places: hunk.anchors.length > 0 ? pool.slice(0, 1) : pool, strategy };
  }
  return undefined;
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
  const fitted = strategy === "exact" ? added : reindent(added, { sent, found });
  const ending = block.find((line) => line.ending !== "")?.ending ?? lines[0]?.ending ?? "\n";
  const result: FileLine[] = [];
  let old = 0;
  let next = 0;
  for (const { op } of hunk.lines) {
    if (op === "+") result.push({ text: fitted[next++] ?? "", ending: ending || "\n" });
    else {
      const kept = block[old++];
      // Context lines stay as the file has them, however loosely they matched.
      if (op === " " && kept !== undefined) result.push(kept);
    }
  }
  return { ok: true, from, to: from + sent.length, lines: result, strategy };
}

function behindAnchors(
  texts: readonly string[],
  anchors: readonly string[],
  cursor: number,
): number | ({ readonly ok: false } & Refusal) {
  let position = cursor;
  for (const anchor of anchors) {
    const fits = (line: string) => line.trim() === anchor;
    const contains = (line: string) => line.includes(anchor);
    const at = [fits, contains]
      .flatMap((test) => [
        texts.findIndex((line, index) => index >= position && test(line)),
        texts.findIndex(test),
      ])
      .find((index) => index !== -1);
    if (at === undefined) {
      const similar = similarLines(texts.join("\n"), anchor);
      return {
        ok: false,
        message: `the line after @@ ("${anchor.slice(0, 80)}") is not in the file.`,
        hint: similar.length > 0 ? `Did you mean:\n${similar.join("\n")}` : "Read the file again.",
      };
    }
    position = at + 1;
  }
  return position;
}

/** Shorter blocks occur by chance, so finding one proves nothing. */
const MIN_ALREADY_APPLIED_CHARS = 8;

function alreadyApplied(texts: readonly string[], hunk: Hunk): Placed | undefined {
  const after = hunk.lines.filter((line) => line.op !== "-").map((line) => line.text);
  if (after.join("").trim().length < MIN_ALREADY_APPLIED_CHARS) return undefined;
  const accepts = equalBy((line) => line)(after);
  const at = texts.findIndex((_, index) => index + after.length <= texts.length && accepts(texts, index));
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
