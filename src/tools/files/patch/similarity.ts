const MAX_EXACT_LENGTH = 400;
const TABLE_SIZE = 1 << 16;

/**
 * Compares many texts with one: the share of letter pairs in common, 0 to 1. Pairs are counted in a hashed
 * table, which is fast and may very rarely take two pairs for the same.
 */
export function similarityTo(wanted: string): (text: string) => number {
  const available = new Int32Array(TABLE_SIZE);
  for (let index = 0; index < wanted.length - 1; index++) count(available, pairAt(wanted, index), 1);
  return (text) => {
    if (text === wanted) return 1;
    if (text.length < 2 || wanted.length < 2) return 0;
    let shared = 0;
    for (let index = 0; index < text.length - 1; index++) {
      if (count(available, pairAt(text, index), -1) >= 0) shared++;
    }
    for (let index = 0; index < text.length - 1; index++) count(available, pairAt(text, index), 1);
    return (2 * shared) / (text.length + wanted.length - 2);
  };
}

function pairAt(text: string, index: number): number {
  return (text.charCodeAt(index) * 251 + text.charCodeAt(index + 1)) & (TABLE_SIZE - 1);
}

function count(table: Int32Array, slot: number, change: number): number {
  const next = (table[slot] ?? 0) + change;
  table[slot] = next;
  return next;
}

/**
 * True when turning one text into the other takes at most `share` of the longer one's length in edits.
 * Only the diagonal band that can still succeed is computed.
 */
export function isWithinEdits(left: string, right: string, share: number): boolean {
  if (left === right) return true;
  const longest = Math.max(left.length, right.length);
  const allowed = Math.floor(longest * share);
  if (Math.abs(left.length - right.length) > allowed) return false;
  if (longest > MAX_EXACT_LENGTH) return similarityTo(left)(right) >= 1 - share;
  let previous = rowA;
  let current = rowB;
  for (let column = 0; column <= right.length; column++) previous[column] = column;
  for (let row = 1; row <= left.length; row++) {
    const from = Math.max(1, row - allowed);
    const to = Math.min(right.length, row + allowed);
    current[from - 1] = from === 1 ? row : allowed + 1;
    let best = current[from - 1] ?? 0;
    for (let column = from; column <= to; column++) {
      const same = left.charCodeAt(row - 1) === right.charCodeAt(column - 1);
      const substitution = (previous[column - 1] ?? 0) + (same ? 0 : 1);
      const cost = Math.min(substitution, (current[column - 1] ?? 0) + 1, (previous[column] ?? 0) + 1);
      current[column] = cost;
      if (cost < best) best = cost;
    }
    if (to < right.length) current[to + 1] = allowed + 1;
    if (best > allowed) return false;
    [previous, current] = [current, previous];
  }
  return (previous[right.length] ?? longest) <= allowed;
}

// Two rows for all comparisons: allocating them anew for each line of a large file costs more than the work.
const rowA = new Int32Array(MAX_EXACT_LENGTH + 2);
const rowB = new Int32Array(MAX_EXACT_LENGTH + 2);
