import type { SearchableTool } from "../types.js";

const NOT_IN_KEYS = /[^\p{L}\p{N}]+/gu;
const MIN_LETTERS = 2;
/** Every one of them is looked for in every name. */
const MOST_WORDS = 16;

/** Finds tools by the letters of their names, whatever stands between the words. */
export class ToolNames {
  readonly #keys: readonly string[];
  readonly #toolsByKey = new Map<string, number[]>();

  constructor(tools: readonly SearchableTool[]) {
    this.#keys = tools.map(({ name }) => keyOf(name));
    for (let index = 0; index < this.#keys.length; index += 1) {
      const key = this.#keys[index] ?? "";
      if (key === "") continue;
      const known = this.#toolsByKey.get(key);
      if (known === undefined) this.#toolsByKey.set(key, [index]);
      else known.push(index);
    }
  }

  /** Who gives the name of a tool wants that tool. */
  named(query: string): readonly number[] {
    return this.#toolsByKey.get(keyOf(query)) ?? [];
  }

  /** For requests no word of which is known: names that contain the request, or one of its words. */
  scoreByLetters(query: string, scores: Float32Array): void {
    const wanted = new Set([keyOf(query), ...query.split(/\s+/, MOST_WORDS).map(keyOf)]);
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
