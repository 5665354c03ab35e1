import { comparePaths } from "./types.js";

/** Up to so many are held; then only those that will be shown. */
const MOST_HELD = 20_000;
/** More than this are sorted rather than put in one by one. */
const FEW_WANTED = 500;

/**
 * Takes in paths as they are found. A few thousand are all kept, so that they can be sorted by age; of more only
 * the first ones in order of path, because asking for so many ages would take longer than finding the files.
 */
export class FirstPaths {
  count = 0;
  readonly #wanted: number;
  #held: string[] = [];
  #ordered = false;

  /** `wanted`: how many of them will be needed in order of path. */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  add(path: string): void {
    this.count++;
    if (this.#ordered) this.#insert(path);
    else if (this.#held.push(path) > MOST_HELD) this.#order();
  }

  /** All of them in the order they came, or undefined when they were too many. */
  get all(): readonly string[] | undefined {
    return this.#ordered ? undefined : this.#held;
  }

  /** The first ones in order of path. */
  get first(): readonly string[] {
    return this.#held.toSorted(comparePaths).slice(0, this.#wanted);
  }

  #order(): void {
    this.#ordered = true;
    if (this.#wanted > FEW_WANTED) return;
    const held = this.#held;
    this.#held = [];
    for (const path of held) this.#insert(path);
  }

  #insert(path: string): void {
    const held = this.#held;
    if (this.#wanted > FEW_WANTED) {
      held.push(path);
      return;
    }
    let at = held.length;
    while (at > 0 && isBefore(path, held[at - 1] ?? "")) at--;
    if (at >= this.#wanted) return;
    held.splice(at, 0, path);
    if (held.length > this.#wanted) held.pop();
  }
}

/** As `<` says, but quicker for pieces of long texts. */
function isBefore(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = left.charCodeAt(at) - right.charCodeAt(at);
    if (difference !== 0) return difference < 0;
  }
  return left.length < right.length;
}
