import { shownMoment } from "./moments.js";
import type { Placed } from "./occurrences.js";

export interface Stretch {
  readonly start: string;
  readonly end: string;
}

/** When somebody with these events is taken within a stretch of time, and when not. */
export function freeAndBusy(
  events: readonly Placed[],
  { start, end, zone }: { readonly start: number; readonly end: number; readonly zone: string },
): { readonly busy: readonly Stretch[]; readonly free: readonly Stretch[] } {
  const busy: { from: number; to: number }[] = [];
  const taken = events
    .filter(({ isBusy, from, to }) => isBusy && to > from)
    .sort((left, right) => left.from - right.from);
  for (const event of taken) {
    const from = Math.max(event.from, start);
    const to = Math.min(event.to, end);
    const last = busy.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else busy.push({ from, to });
  }
  const edges = [start, ...busy.flatMap(({ from, to }) => [from, to]), end];
  const free: { from: number; to: number }[] = [];
  for (let at = 0; at < edges.length; at += 2) {
    const [from = start, to = end] = [edges[at], edges[at + 1]];
    if (to > from) free.push({ from, to });
  }
  const shown = ({ from, to }: { from: number; to: number }) => ({
    start: shownMoment(from, zone),
    end: shownMoment(to, zone),
  });
  return { busy: busy.map(shown), free: free.map(shown) };
}
