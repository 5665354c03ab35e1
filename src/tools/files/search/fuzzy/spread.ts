import { letterMask } from "./characters.js";
import type { PathIndex, TextTable } from "./path-index.js";

/** Above this the exact way the letters lie does not matter any more. */
const MOST = 380;
const LEAST = 20;

/**
 * Paths that hold the letters of a word in order, the first of them in the folder and the rest in the name. How
 * many a folder can take is asked once for each folder, not once for each path.
 */
export class SpreadScorer {
  readonly #word: Uint16Array;
  readonly #index: PathIndex;
  /** The letters of the last n of the word. */
  readonly #endMasks: Int32Array;
  readonly #taken: Uint8Array;
  readonly #atWordStart: Uint8Array;

  constructor(word: Uint16Array, index: PathIndex) {
    this.#word = word;
    this.#index = index;
    this.#endMasks = new Int32Array(word.length + 1);
    for (let count = 1; count <= word.length; count++) {
      this.#endMasks[count] = letterMask(word, word.length - count, word.length);
    }
    const { folders } = index;
    this.#taken = new Uint8Array(folders.size);
    this.#atWordStart = new Uint8Array(folders.size);
    for (let folder = 0; folder < folders.size; folder++) this.#fill(folder, folders);
  }

  #fill(folder: number, { codes, places, starts, masks }: TextTable): void {
    const word = this.#word;
    if ((letterMask(word, 0, 1) & ~(masks[folder] ?? 0)) !== 0) return;
    const end = starts[folder + 1] ?? 0;
    let taken = 0;
    let atStart = 0;
    let joined = false;
    for (let at = starts[folder] ?? 0; at < end && taken < word.length; at++) {
      if (codes[at] === word[taken]) {
        taken++;
        if (joined || places[at] !== 0) atStart++;
        joined = true;
      } else joined = false;
    }
    this.#taken[folder] = Math.min(taken, 255);
    this.#atWordStart[folder] = Math.min(atStart, 255);
  }

  /** 0 when the letters are not all there. */
  score(path: number): number {
    const { folderOf, names, folders } = this.#index;
    const word = this.#word;
    const folder = folderOf[path] ?? 0;
    const taken = this.#taken[folder] ?? 0;
    const needed = this.#endMasks[word.length - taken] ?? 0;
    // A folder that takes nothing leaves all to the name, which has been tried.
    if (taken === 0 || (needed & ~(names.masks[path] ?? 0)) !== 0) return 0;
    const { codes, starts, places } = names;
    const start = starts[path] ?? 0;
    const nameEnd = starts[path + 1] ?? start;
    let left = word.length;
    let good = 0;
    let joined = false;
    for (let at = nameEnd - 1; at >= start && left > 0; at--) {
      if (codes[at] === word[left - 1]) {
        left--;
        if (joined || places[at] !== 0) good++;
        joined = true;
      } else joined = false;
    }
    if (left > taken) return 0;
    const inName = (word.length - left) / word.length;
    const neat = (good + Math.min(left, this.#atWordStart[folder] ?? 0)) / word.length;
    const folderLength = (folders.starts[folder + 1] ?? 0) - (folders.starts[folder] ?? 0);
    const rest = Math.min(1, (nameEnd - start + folderLength) / 200);
    return LEAST + (MOST - LEAST) * (0.45 * neat + 0.35 * inName + 0.2 * (1 - rest));
  }
}
