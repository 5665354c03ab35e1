import type { DiffOptions, Hunk } from "./types.js";

/** Beyond this the smallest difference is not worth its time: the program does nothing else meanwhile. */
const SEARCH_MS = 1_000;
const MAX_EDITS = 20_000;

export interface TextDiff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** False when the texts were too different to find the smallest difference. */
  readonly smallest: boolean;
}

export async function diffTexts(before: string, after: string, options: DiffOptions): Promise<TextDiff> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: options.context,
    ignoreWhitespace: options.ignoreWhitespace,
    timeout: SEARCH_MS,
    maxEditLength: MAX_EDITS,
  });
  const hunks = patch?.hunks ?? [wholeMiddle(before, after, options.context)];
  return { hunks, ...countLines(hunks), smallest: patch !== undefined };
}

export function countLines(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of hunks.flatMap((hunk) => hunk.lines)) {
    if (line.startsWith("+")) added++;
    else if (line.startsWith("-")) removed++;
  }
  return { added, removed };
}

/** What lies between the lines that both begin with and those that both end with, as one replacement. */
function wholeMiddle(before: string, after: string, context: number): Hunk {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const from = Math.max(0, head - context);
  const until = Math.max(0, tail - context);
  const part = (lines: readonly string[], start: number, end: number, sign: string) =>
    lines.slice(start, end).flatMap((line) => signed(line, sign));
  return {
    oldStart: from + 1,
    oldLines: old.length - until - from,
    newStart: from + 1,
    newLines: now.length - until - from,
    lines: [
      ...part(old, from, head, " "),
      ...part(old, head, old.length - tail, "-"),
      ...part(now, head, now.length - tail, "+"),
      ...part(old, old.length - tail, old.length - until, " "),
    ],
  };
}

/** With their line ends, so that a missing last one makes a difference. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function signed(line: string, sign: string): string[] {
  return line.endsWith("\n")
    ? [`${sign}${line.slice(0, -1)}`]
    : [`${sign}${line}`, "\\ No newline at end of file"];
}
