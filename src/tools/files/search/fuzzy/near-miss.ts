/** Finds a word that was typed with exactly one slip: a letter too many, missing, wrong, or two swapped. */
export class SlipFinder {
  readonly #word: Uint16Array;
  readonly #codes: Uint16Array;

  constructor(word: Uint16Array, codes: Uint16Array) {
    this.#word = word;
    this.#codes = codes;
  }

  /** Where the word ends if it begins at `start`; -1 when it does not lie there, or without a slip. */
  endFrom(start: number, limit: number): number {
    const word = this.#word;
    const codes = this.#codes;
    const { length } = word;
    const first = codes[start];
    const second = codes[start + 1];
    // Whatever the slip is, one of these pairs survives it.
    if (first !== word[0] && second !== word[1] && second !== word[0] && first !== word[1]) return -1;
    let same = 0;
    while (same < length && word[same] === codes[start + same]) same++;
    if (same === length) return -1;
    const at = start + same;
    // The end of the name decides between several ways, so the one that uses most of it comes first.
    if (this.#restLies(same, at + 1) && at + 1 + length - same <= limit) return at + 1 + length - same;
    if (this.#restLies(same + 1, at + 1) && at + length - same <= limit) return at + length - same;
    if (this.#restLies(same + 1, at) && at + length - same - 1 <= limit) return at + length - same - 1;
    const swapped = same + 1 < length && word[same] === codes[at + 1] && word[same + 1] === codes[at];
    if (swapped && this.#restLies(same + 2, at + 2) && at + length - same <= limit) return at + length - same;
    return -1;
  }

  #restLies(from: number, at: number): boolean {
    const word = this.#word;
    const codes = this.#codes;
    for (let index = from; index < word.length; index++) {
      if (word[index] !== codes[at + index - from]) return false;
    }
    return true;
  }
}
