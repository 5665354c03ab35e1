import type { SearchAnswer } from "./ask-engine.js";

const MOST_ANSWERS = 200;

interface Remembered {
  readonly answer: Promise<SearchAnswer>;
  /** Set when it has arrived. */
  until?: number;
}

/** Answers of search engines, for a while. A question that is on its way already is not asked twice. */
export class SearchCache {
  readonly #answers = new Map<string, Remembered>();

  async answer(options: {
    readonly key: string;
    readonly keepMs: number;
    ask(): Promise<SearchAnswer>;
  }): Promise<{ readonly answer: SearchAnswer; readonly cached: boolean }> {
    const { key, keepMs, ask } = options;
    const known = this.#answers.get(key);
    if (known !== undefined && (known.until === undefined || known.until > Date.now())) {
      // Whoever asked first may have been cancelled; that is no answer for the others.
      const answer = await known.answer.catch(() => undefined);
      if (answer !== undefined) return { answer, cached: true };
    }
    const asked: Remembered = { answer: ask() };
    this.#answers.delete(key);
    this.#answers.set(key, asked);
    try {
      const answer = await asked.answer;
      asked.until = Date.now() + keepMs;
      for (const oldest of this.#answers.keys()) {
        if (this.#answers.size <= MOST_ANSWERS) break;
        this.#answers.delete(oldest);
      }
      return { answer, cached: false };
    } catch (error) {
      if (this.#answers.get(key) === asked) this.#answers.delete(key);
      throw error;
    }
  }

  close(): void {
    this.#answers.clear();
  }
}
