/** A run of letters, digits and the marks that belong to them. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** Scripts that write sentences, or words with their endings, without blanks: found by pairs of characters. */
const UNSPACED =
  "\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}";
const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");

/** Longer ones are encoded bytes, of which the beginning tells enough. */
const WORD_CHARS = 64;

/** What is looked up for a text: whole words, and single characters where words have no borders. */
export interface Terms {
  readonly words: ReadonlySet<string>;
  readonly characters: ReadonlySet<string>;
}

/** The terms of a text that is to be found: every pair and every single character of unspaced scripts. */
export function termsOf(text: string): Terms {
  const words = new Set<string>();
  const characters = new Set<string>();
  for (const run of runsOf(text)) {
    if (!IS_UNSPACED.test(run)) {
      words.add(run.slice(0, WORD_CHARS));
      continue;
    }
    const singles = [...run];
    for (const [index, character] of singles.entries()) {
      characters.add(character);
      const next = singles[index + 1];
      if (next !== undefined) words.add(character + next);
    }
  }
  return { words, characters };
}

/** The terms of what a person looks for: a single character only where it stands alone. */
export function soughtTerms(text: string): Terms {
  const words = new Set<string>();
  const characters = new Set<string>();
  for (const run of runsOf(text)) {
    const singles = IS_UNSPACED.test(run) ? [...run] : [];
    if (singles.length === 0) words.add(run.slice(0, WORD_CHARS));
    else if (singles.length === 1) characters.add(run);
    else for (const [index, next] of singles.slice(1).entries()) words.add((singles[index] ?? "") + next);
  }
  return { words, characters };
}

function* runsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) yield* splitRuns(word);
}

function splitRuns(word: string): readonly string[] {
  if (isAscii(word)) return [word.toLowerCase()];
  return fold(word).replace(NO_PART, "").match(RUNS) ?? [];
}

const NO_PART = /[^\p{L}\p{N}\p{M}]+/gu;
const ACCENTS =
  /(?<=[\p{Script=Latin}\p{Script=Greek}]\p{Mn}*)\p{Mn}|[\u0591-\u05c7\u064b-\u065f\u0670\u0640]/gu;

/** Case, width and accents of Latin and Greek, points of Hebrew and Arabic make no difference. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return isAscii(lower) ? lower : lower.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}
