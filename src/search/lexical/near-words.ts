const MIN_LENGTH = 5;

/** Finds words of a catalogue for words of a request that are not in it. Made when first needed. */
export class NearWords {
  /** By first letter and length: a slip of the finger is rarely in the first letter. */
  readonly #buckets = new Map<string, string[]>();

  constructor(words: readonly string[]) {
    for (const word of words) {
      if (word.length < MIN_LENGTH - 1) continue;
      const key = bucket(word, word.length);
      const list = this.#buckets.get(key);
      if (list === undefined) this.#buckets.set(key, [word]);
      else list.push(word);
    }
  }

  /** Words one letter more, less, other or swapped away. */
  oneSlipFrom(word: string): readonly string[] {
    if (word.length < MIN_LENGTH) return [];
    const found: string[] = [];
    for (const length of [word.length, word.length - 1, word.length + 1]) {
      for (const candidate of this.#buckets.get(bucket(word, length)) ?? []) {
        if (isOneSlip(word, candidate)) found.push(candidate);
      }
    }
    return found;
  }
}

function bucket(word: string, length: number): string {
  return `${word.charAt(0)}${length}`;
}

function isOneSlip(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end))
    end += 1;
  const leftA = a.length - start - end;
  const leftB = b.length - start - end;
  if (leftA <= 1 && leftB <= 1) return true;
  return leftA === 2 && leftB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}
