import type { PathIndex } from "./path-index.js";

export interface Selection {
  readonly index: PathIndex;
  /** How many of `index.found` count. */
  readonly count: number;
  readonly wanted: number;
  /** A better score than the rough one in `index.scores`; only asked for those that have a chance. */
  exactly(path: number): number;
}

/** At least so many are looked at exactly, so that one page of results fits the next. */
const LEAST_FINALISTS = 1500;

/** The best of many without sorting them all; equal scores: shorter, then alphabetical. */
export function bestOf(selection: Selection): string[] {
  const { index, wanted, exactly } = selection;
  const { scores } = index;
  const finalists = pickFinalists(selection);
  for (const id of finalists) scores[id] = exactly(id);
  const pathOf = (id: number) => index.paths[id] ?? "";
  finalists.sort((left, right) => {
    const byScore = (scores[right] ?? 0) - (scores[left] ?? 0);
    if (byScore !== 0) return byScore;
    const [a, b] = [pathOf(left), pathOf(right)];
    return a.length - b.length || (a < b ? -1 : 1);
  });
  return finalists.slice(0, wanted).map(pathOf);
}

function pickFinalists(selection: Selection): number[] {
  const { scores, found } = selection.index;
  const least = reachedBy(Math.max(LEAST_FINALISTS, 2 * selection.wanted), selection);
  const finalists: number[] = [];
  for (let at = 0; at < selection.count; at++) {
    const id = found[at] ?? 0;
    if ((scores[id] ?? 0) >= least) finalists.push(id);
  }
  return finalists;
}

const BUCKETS = 4096;

/** A score that at least `wanted` paths reach, and not many more: the lower edge of a bucket of scores. */
function reachedBy(wanted: number, { index: { scores, found }, count }: Selection): number {
  if (count <= wanted) return 0;
  let most = 0;
  for (let at = 0; at < count; at++) most = Math.max(most, scores[found[at] ?? 0] ?? 0);
  const sizes = new Uint32Array(BUCKETS + 1);
  const perBucket = most / BUCKETS;
  for (let at = 0; at < count; at++) {
    const bucket = Math.floor((scores[found[at] ?? 0] ?? 0) / perBucket);
    sizes[bucket] = (sizes[bucket] ?? 0) + 1;
  }
  let reached = 0;
  for (let bucket = BUCKETS; bucket > 0; bucket--) {
    reached += sizes[bucket] ?? 0;
    // One bucket more: rounding must not lose what lies on the edge.
    if (reached >= wanted) return (bucket - 1) * perBucket;
  }
  return 0;
}
