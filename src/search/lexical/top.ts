/** Above this, sorting everything is quicker than finding each one's place. */
const MANY = 200;

/** Positions of the highest scores above 0, best first; equal ones in their order. */
export function topOf(scores: Float32Array, limit: number): readonly number[] {
  const wanted = Math.min(Math.max(0, Math.floor(limit)), scores.length);
  if (wanted === 0) return [];
  return wanted > MANY ? sortedOf(scores).slice(0, wanted) : firstOf(scores, wanted);
}

/** Puts the chosen ones before all others. */
export function raiseAbove(scores: Float32Array, chosen: readonly number[]): void {
  if (chosen.length === 0) return;
  let best = 0;
  for (const score of scores) if (score > best) best = score;
  for (const index of chosen) scores[index] = 1 + 1.5 * best;
}

function sortedOf(scores: Float32Array): number[] {
  const found: number[] = [];
  for (let index = 0; index < scores.length; index += 1) if ((scores[index] ?? 0) > 0) found.push(index);
  return found.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
}

function firstOf(scores: Float32Array, wanted: number): readonly number[] {
  const found = new Int32Array(wanted);
  const values = new Float32Array(wanted);
  let size = 0;
  let bar = 0;
  for (let index = 0; index < scores.length; index += 1) {
    const score = scores[index] ?? 0;
    if (score <= bar) continue;
    let at = size < wanted ? size : wanted - 1;
    if (size < wanted) size += 1;
    for (; at > 0 && (values[at - 1] ?? 0) < score; at -= 1) {
      values[at] = values[at - 1] ?? 0;
      found[at] = found[at - 1] ?? 0;
    }
    values[at] = score;
    found[at] = index;
    if (size === wanted) bar = values[wanted - 1] ?? 0;
  }
  return Array.from(found.subarray(0, size));
}
