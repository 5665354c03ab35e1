/** One text to look for and what to put in its place. */
export interface Literal {
  readonly text: string;
  readonly replacement: string;
}

const BLOCK = 3;
const TABLE_SIZE = 1 << 16;

/**
 * Finds many fixed texts in one pass (Wu-Manber). The time does not grow with the number of literals the
 * way an alternation of thousands does, because most positions are skipped by a table lookup.
 */
export class LiteralSearch {
  readonly #window: number;
  readonly #shift = new Uint16Array(TABLE_SIZE);
  readonly #candidates = new Map<number, Literal[]>();

  /** Every literal must have at least `BLOCK` characters. */
  constructor(literals: readonly Literal[]) {
    this.#window = literals.reduce((least, { text }) => Math.min(least, text.length), 0xffff);
    this.#shift.fill(this.#window - BLOCK + 1);
    const longestFirst = [...literals].sort((a, b) => b.text.length - a.text.length);
    for (const literal of longestFirst) this.#index(literal);
  }

  #index(literal: Literal): void {
    for (let end = BLOCK - 1; end < this.#window; end++) {
      const block = blockAt(literal.text, end);
      const distance = this.#window - 1 - end;
      if (distance < (this.#shift[block] ?? 0)) this.#shift[block] = distance;
    }
    const last = blockAt(literal.text, this.#window - 1);
    const sharing = this.#candidates.get(last);
    if (sharing === undefined) this.#candidates.set(last, [literal]);
    else sharing.push(literal);
  }

  /** The same string object when nothing was found. */
  replaceAll(text: string): string {
    let result = "";
    let copied = 0;
    this.each(text, (start, found) => {
      result += text.slice(copied, start) + found.replacement;
      copied = start + found.text.length;
      return copied;
    });
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** Tells of each literal where it begins, from left to right; what is told is where to go on, or to look further. */
  each(text: string, found: (start: number, literal: Literal) => number | undefined): void {
    let end = this.#window - 1;
    while (end < text.length) {
      const block = blockAt(text, end);
      const skip = this.#shift[block] ?? 0;
      if (skip > 0) {
        end += skip;
        continue;
      }
      const start = end - this.#window + 1;
      const literal = this.#candidates.get(block)?.find((each) => text.startsWith(each.text, start));
      const next = literal === undefined ? undefined : found(start, literal);
      end = next === undefined ? end + 1 : next + this.#window - 1;
    }
  }
}

function blockAt(text: string, end: number): number {
  const mixed = text.charCodeAt(end) ^ (text.charCodeAt(end - 1) << 5) ^ (text.charCodeAt(end - 2) << 10);
  return (mixed ^ (mixed >>> 16)) & (TABLE_SIZE - 1);
}
