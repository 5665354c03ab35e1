import { diffArrays } from "diff";
import { isWithinEdits } from "./similarity.js";
import { plainText } from "./unicode.js";

/**
 * How a line as sent relates to a line of the file: the same but for blanks and typography, the same but for
 * slips of the pen, or another line.
 */
export type Likeness = "same" | "slip" | "different";

const MAX_LINE_EDITS = 0.2;
/** Two letters that changed places. */
const MIN_LINE_EDITS = 2;
/** Below this length one letter is a different word, not a slip. */
const MIN_SLIP_LINE = 8;
/** Comparing longer lines word by word is not worth its time. */
const MAX_SLIP_LINE = 400;

export function likenessOf(lines: {
  readonly sent: string;
  readonly found: string;
  /** Every word of the file: what stands in it elsewhere is no misspelling. */
  readonly words: ReadonlySet<string>;
}): Likeness {
  const [sent, found] = [normalised(lines.sent), normalised(lines.found)];
  if (sent === found) return "same";
  const shortest = Math.min(sent.length, found.length);
  const longest = Math.max(sent.length, found.length);
  if (shortest < MIN_SLIP_LINE || longest > MAX_SLIP_LINE) return "different";
  if (!isWithinEdits(sent, found, Math.max(MAX_LINE_EDITS, MIN_LINE_EDITS / longest))) return "different";
  return onlySlips({ sent, found, words: lines.words }) ? "slip" : "different";
}

/** A line without what no reader sees: indentation, kinds of blanks, kinds of quotes and dashes. */
export function normalised(line: string): string {
  return plainText(line)
    .text.replace(/[ \t]+/g, " ")
    .trim();
}

export function wordsOf(lines: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const line of lines) for (const [word] of line.matchAll(WORD)) words.add(word);
  return words;
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const TOKEN = /[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu;
const QUOTE = /^["'`]$/;
const LINE_END = /^[;,]$/;
const MAX_SLIPS = 2;

function onlySlips(lines: { sent: string; found: string; words: ReadonlySet<string> }): boolean {
  const sent = lines.sent.match(TOKEN) ?? [];
  const found = lines.found.match(TOKEN) ?? [];
  const changes = diffArrays(sent, found);
  let slips = 0;
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index];
    if (change === undefined || (!change.added && !change.removed)) continue;
    const partner = changes[index + 1];
    const isPair = change.removed && partner?.added === true;
    const removed = change.removed ? change.value : [];
    const added = change.added ? change.value : isPair ? partner.value : [];
    if (isPair) index++;
    const isLast = index === changes.length - 1;
    if (!isSlip({ removed, added, isLast, words: lines.words })) return false;
    slips++;
  }
  return slips <= MAX_SLIPS;
}

function isSlip(change: {
  removed: readonly string[];
  added: readonly string[];
  isLast: boolean;
  words: ReadonlySet<string>;
}): boolean {
  const { removed, added, isLast, words } = change;
  const [left = "", right = ""] = [removed[0], added[0]];
  if (removed.length + added.length === 1) return isLast && LINE_END.test(left + right);
  if (removed.length !== 1 || added.length !== 1) return false;
  if (QUOTE.test(left)) return QUOTE.test(right);
  return !words.has(left) && isMisspelt(left, right);
}

/** Two spellings of one word: one wrong letter, two in a long word. Numbers are never misspelt. */
function isMisspelt(left: string, right: string): boolean {
  const digits = (word: string) => word.replace(/\D+/g, " ").trim();
  if (digits(left) !== digits(right)) return false;
  const shortest = Math.min(left.length, right.length);
  if (shortest < 4) return false;
  return distance(left, right) <= (shortest < 8 ? 1 : 2);
}

/** Edit distance in which two letters that changed places count once. */
function distance(left: string, right: string): number {
  const rows = Array.from({ length: left.length + 1 }, (_, row) => [
    row,
    ...new Array<number>(right.length).fill(0),
  ]);
  for (let column = 0; column <= right.length; column++) (rows[0] ?? [])[column] = column;
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= left.length; row++) {
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(row - 2, column - 2) + 1);
      (rows[row] ?? [])[column] = cost;
    }
  }
  return at(left.length, right.length);
}
