import type { Region } from "./regions.js";

/** Text with every CRLF as a plain newline, so that a pattern written either way fits. */
export interface NewlineView {
  readonly text: string;
  readonly hadCrlf: boolean;
  toOriginal(region: Region): Region;
  /** How the newline at this position of the view is written in the original. */
  endingAt(position: number): "\n" | "\r\n";
  /** The line ending that text put into this (original) region should use. */
  endingFor(region: Region): "\n" | "\r\n";
}

export function newlineView(original: string): NewlineView {
  const removed: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2)) {
    removed.push(at - removed.length);
  }
  const toOriginal = (position: number): number => position + countBelow(removed, position);
  const newlines = removed.length === 0 ? 0 : original.split("\n").length - 1;
  return {
    text: removed.length === 0 ? original : original.replaceAll("\r\n", "\n"),
    hadCrlf: removed.length > 0,
    toOriginal: ({ start, end }) => ({ start: toOriginal(start), end: toOriginal(end) }),
    endingAt: (position) => (removed[countBelow(removed, position)] === position ? "\r\n" : "\n"),
    endingFor: ({ start, end }) => {
      if (removed.length === 0) return "\n";
      const inside = original.slice(start, end);
      if (inside.includes("\n")) return inside.includes("\r\n") ? "\r\n" : "\n";
      return removed.length * 2 >= newlines ? "\r\n" : "\n";
    },
  };
}

/** How many entries of a sorted list are smaller than `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
