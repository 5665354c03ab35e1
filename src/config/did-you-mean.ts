/**
 * Candidates a person most likely meant, best first: near spellings (a swapped pair counts as one slip),
 * or, when there are none, names that contain the typed word. Case and the difference between "-" and "_" are ignored.
 */
export function nearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const typed = fold(word);
  if (typed === "") return [];
  const allowed = Math.max(1, Math.floor(typed.length / 3));
  const close: { name: string; distance: number }[] = [];
  const containing: string[] = [];
  for (const name of new Set(candidates)) {
    const folded = fold(name);
    const distance = editDistance(typed, folded, allowed);
    if (distance <= allowed) close.push({ name, distance });
    else if (sharesWord(typed, folded)) containing.push(name);
  }
  if (close.length === 0) return containing.sort(shortestFirst).slice(0, max);
  close.sort((a, b) => a.distance - b.distance || compare(a.name, b.name));
  const best = close[0]?.distance ?? 0;
  // Next to a clear winner, far spellings only distract.
  return close
    .filter((entry) => entry.distance <= best + 1)
    .slice(0, max)
    .map((entry) => entry.name);
}

/** `did you mean "a" or "b"?`, or undefined when nothing is close. */
export function didYouMean(word: string, candidates: Iterable<string>, max = 3): string | undefined {
  const names = nearest(word, candidates, max).map((name) => `"${name}"`);
  const last = names.pop();
  if (last === undefined) return undefined;
  return names.length === 0 ? `did you mean ${last}?` : `did you mean ${names.join(", ")} or ${last}?`;
}

// Longer input is no slip of the keyboard, and a bound keeps the cost of hostile names small.
const LONGEST_WORD = 128;

function shortestFirst(a: string, b: string): number {
  return a.length - b.length || compare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function fold(text: string): string {
  return text.slice(0, LONGEST_WORD).toLowerCase().replaceAll("-", "_");
}

function sharesWord(typed: string, name: string): boolean {
  return typed.length >= 3 && (name.includes(typed) || (name.length >= 4 && typed.includes(name)));
}

/** Optimal string alignment distance; gives `limit + 1` as soon as the limit cannot be met. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
      best = Math.min(best, cost);
    }
    // A transposition reaches two rows back, so only give up when both rows are past the limit.
    if (best > limit && Math.min(...last) > limit) return limit + 1;
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
