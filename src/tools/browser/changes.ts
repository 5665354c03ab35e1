import { fitLines, tokensOf, written } from "./fit-lines.js";
import type { SnapshotLine } from "./snapshot.js";

/** What an action may say about a page; the whole is for browser_snapshot. */
const MAX_TOKENS = 1_200;
const MOST_GONE = 8;

/** Lines that are new (`+`) or gone (`-`), in the order of the page. */
export function changesBetween(before: readonly SnapshotLine[], after: readonly SnapshotLine[]): string {
  const old = counted(before);
  const now = counted(after);
  const fresh = after.filter(({ text }) => !takeOne(old, text));
  const gone = before.filter(({ text }) => !takeOne(now, text));
  if (fresh.length === 0 && gone.length === 0) return "(nothing visible changed)";
  const { text: added } = fitLines(
    fresh.map((line) => ({ ...line, depth: 0 })),
    MAX_TOKENS,
  );
  const rows = fresh.length === 0 ? [] : added.split("\n").map((row) => row.replace(/^- /, "+ "));
  let left = MAX_TOKENS / 2;
  const shown = gone.slice(0, MOST_GONE).flatMap((line) => {
    const row = written({ depth: 0, text: line.text.slice(0, 120) });
    left -= tokensOf(row);
    return left < 0 ? [] : [row];
  });
  const more = gone.length - shown.length;
  return [...rows, ...shown, ...(more > 0 ? [`- (${more} more lines are gone)`] : [])].join("\n");
}

function counted(lines: readonly SnapshotLine[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of lines) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function takeOne(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count === 0) return false;
  counts.set(text, count - 1);
  return true;
}
