import type { SearchableTool } from "../types.js";

const NOT_IN_KEYS = /[^\p{L}\p{N}]+/gu;
const MIN_LETTERS = 2;

/** Finds tools by the letters of their names, whatever stands between the words. */
export class ToolNames {
  readonly #keys: readonly string[];
  readonly #toolsByKey = new Map<string, number[]>();

  constructor(tools: readonly SearchableTool[]) {
    this.#keys = tools.map(({ name }) => keyOf(name));
    for (const [index, key] of this.#keys.entries()) {
      if (key === "") continue;
      const known = this.#toolsByKey.get(key);
      if (known === undefined) this.#toolsByKey.set(key, [index]);
      else known.push(index);
    }
  }

  /** Who gives the name of a tool wants that tool. */
  raiseExact(query: string, scores: Float32Array): void {
    const named = this.#toolsByKey.get(keyOf(query));
    if (named === undefined) return;
    let best = 0;
    for (const score of scores) if (score > best) best = score;
    for (const index of named) scores[index] = 1 + 1.5 * best;
  }

  /** For requests no word of which is known: names that contain the request, or one of its words. */
  scoreByLetters(query: string, scores: Float32Array): void {
    const wanted = new Set([keyOf(query), ...query.split(/\s+/).map(keyOf)]);
    for (const letters of wanted) {
      if (letters.length < MIN_LETTERS) continue;
      for (const [index, key] of this.#keys.entries()) {
        const score = key.includes(letters) ? letters.length / key.length : 0;
        if (score > (scores[index] ?? 0)) scores[index] = score;
      }
    }
  }
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(NOT_IN_KEYS, "");
}
