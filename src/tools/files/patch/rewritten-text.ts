import type { Region } from "./regions.js";

/**
 * A text with some pieces rewritten (blanks collapsed, quotes made plain), and the way back: what is found
 * in the rewritten text can be located in the original.
 */
export class RewrittenText {
  readonly text: string;
  // Parallel lists instead of objects: a large file has hundreds of thousands of pieces.
  readonly #starts: number[] = [];
  readonly #originStarts: number[] = [];
  readonly #originEnds: number[] = [];
  readonly #verbatim: boolean[] = [];

  constructor(original: string, pattern: RegExp, rewrite: (piece: string) => string) {
    const parts: string[] = [];
    let length = 0;
    const add = (piece: string, origin: Region, verbatim: boolean): void => {
      if (piece === "") return;
      this.#starts.push(length);
      this.#originStarts.push(origin.start);
      this.#originEnds.push(origin.end);
      this.#verbatim.push(verbatim);
      parts.push(piece);
      length += piece.length;
    };
    let position = 0;
    for (const match of original.matchAll(pattern)) {
      const start = match.index;
      const end = start + match[0].length;
      add(original.slice(position, start), { start: position, end: start }, true);
      add(rewrite(match[0]), { start, end }, false);
      position = end;
    }
    add(original.slice(position), { start: position, end: original.length }, true);
    this.text = parts.join("");
  }

  /** The original stretch behind [start, end); undefined when it would cut a rewritten piece in two. */
  originOf({ start, end }: Region): Region | undefined {
    const from = this.#originStart(start);
    const to = this.#originEnd(end);
    return from === undefined || to === undefined ? undefined : { start: from, end: to };
  }

  /** Where an original position lies in the rewritten text; undefined inside a rewritten piece. */
  positionOf(origin: number): number | undefined {
    if (origin === (this.#originEnds.at(-1) ?? 0)) return this.text.length;
    const index = lastAtMost(this.#originStarts, origin);
    const offset = origin - (this.#originStarts[index] ?? 0);
    if (offset !== 0 && !this.#verbatim[index]) return undefined;
    return (this.#starts[index] ?? 0) + offset;
  }

  #originStart(position: number): number | undefined {
    const index = lastAtMost(this.#starts, position);
    const offset = position - (this.#starts[index] ?? 0);
    if (offset !== 0 && !this.#verbatim[index]) return undefined;
    return (this.#originStarts[index] ?? 0) + offset;
  }

  #originEnd(position: number): number | undefined {
    if (position === 0) return 0;
    const index = lastAtMost(this.#starts, position - 1);
    if (this.#verbatim[index])
      return (this.#originStarts[index] ?? 0) + position - (this.#starts[index] ?? 0);
    const pieceEnd = this.#starts[index + 1] ?? this.text.length;
    return position === pieceEnd ? this.#originEnds[index] : undefined;
  }
}

/** Index of the last entry of a sorted list that is not greater than `limit`; 0 when all are. */
function lastAtMost(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
