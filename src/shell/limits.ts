/** What one judgement may cost. Reaching a limit gives the strictest answer, never a guess. */
export const LIMITS = {
  /** Characters of a command line. */
  length: 128_000,
  /** Texts inside texts, wrappers around wrappers, functions calling functions. */
  depth: 12,
  commands: 5_000,
  /** Stages of one pipe. */
  stages: 256,
  /** Commands that may read what one command prints: all that is in the stages after it. */
  readers: 1_024,
  /** Words after expansion, over the whole line. */
  words: 60_000,
  /** Words with a pattern in them: each may stand for any protected place. */
  patterns: 3_000,
  /** Files that commands open by redirection. */
  redirects: 2_000,
  /** Characters of all words after expansion. */
  expanded: 2_000_000,
  /** Characters of all texts parsed, the line itself included. */
  parsed: 400_000,
  /** Characters of one variable, word or stream. */
  text: 131_072,
  /** Words that the braces of one word may make. */
  braces: 1_024,
} as const;

export type Bound = Exclude<
  keyof typeof LIMITS,
  "length" | "text" | "braces" | "depth" | "stages" | "readers"
>;

/** Counts down what is left; once something ran out, the analysis only has to come home. */
export class Budget {
  exceeded = false;
  readonly #spent: Record<Bound, number> = {
    commands: 0,
    words: 0,
    patterns: 0,
    redirects: 0,
    expanded: 0,
    parsed: 0,
  };

  /** False when this is too much: the caller stops there. */
  spend(what: Bound, amount = 1): boolean {
    this.#spent[what] += amount;
    if (this.#spent[what] > LIMITS[what]) this.exceeded = true;
    return !this.exceeded;
  }

  /** False when so much more would be too much: then nothing of it needs to begin. */
  mayStill(what: Bound, amount: number): boolean {
    if (this.#spent[what] + amount > LIMITS[what]) this.exceeded = true;
    return !this.exceeded;
  }

  exceed(): false {
    this.exceeded = true;
    return false;
  }
}
