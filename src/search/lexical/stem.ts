import { IRREGULAR_WORDS, UNCHANGED_WORDS } from "./words.gen.js";

/** An ending and what takes its place. */
type Ending = readonly [string, string];
/** By last letter; the first one that fits counts. */
type Endings = ReadonlyMap<string, readonly Ending[]>;

const STEP_2 = byLastLetter([
  ["ational", "ate"],
  ["ization", "ize"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["entli", "ent"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ousli", "ous"],
  ["iviti", "ive"],
  ["fulli", "ful"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["izer", "ize"],
  ["ator", "ate"],
  ["alli", "al"],
  ["bli", "ble"],
]);

const STEP_3 = byLastLetter([
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
]);

const STEP_4 = byLastLetter(
  "ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic"
    .split(" ")
    .map((ending) => [ending, ""]),
);

/** Forms the rules do not lead back to their word. */
const IRREGULAR = new Map(
  IRREGULAR_WORDS.trim()
    .split("\n")
    .map((line): [string, string] => {
      const [form = "", word = ""] = line.split(" ");
      return [form, word];
    }),
);
/** What the rules would confuse with another word. */
const UNCHANGED = new Set(UNCHANGED_WORDS.trim().split("\n"));

const SMALL_A = 97;
const SMALL_Y = 121;
/** One bit per letter, from the lowest for `a`. */
const VOWELS = [..."aeiouy"].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) - SMALL_A)), 0);
const PREFIXES = ["gener", "commun", "arsen", "organ"];
/** Last letters of the endings of past and continuous forms. */
const PAST_ENDS = "dgy";

const MAX_REMEMBERED = 8_192;
const remembered = new Map<string, string>();

/** The stem of an English word in lower case, after Porter's second algorithm. */
export function stem(word: string): string {
  const known = remembered.get(word);
  if (known !== undefined) return known;
  // Requests bring words without end; those of the catalogue come back by themselves.
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  const result = makeStem(word);
  remembered.set(word, result);
  return result;
}

/** The same without remembering it. */
export function makeStem(word: string): string {
  if (word.length < 3 || UNCHANGED.has(word) || !isPlain(word)) return word;
  const regular = IRREGULAR.get(word);
  if (regular !== undefined) return makeStem(regular);
  const spelled = american(word);
  const regions = { r1: 0, r2: 0 };
  let result = markConsonantY(spelled);
  regions.r1 = firstRegion(result);
  regions.r2 = regionAfter(result, regions.r1);
  result = plural(result);
  if (result !== word && UNCHANGED.has(result)) return result;
  result = pastAndContinuous(result, regions.r1);
  if (endsInConsonantAndY(result)) result = `${result.slice(0, -1)}i`;
  result = longSuffixes(result, regions);
  result = shortSuffixes(result, regions);
  return result.toLowerCase();
}

function byLastLetter(endings: readonly Ending[]): Endings {
  const lists = new Map<string, Ending[]>();
  for (const ending of endings) {
    const last = ending[0].slice(-1);
    lists.set(last, [...(lists.get(last) ?? []), ending]);
  }
  return lists;
}

function endingOf(word: string, endings: Endings): Ending | undefined {
  const list = endings.get(word.charAt(word.length - 1));
  if (list === undefined) return undefined;
  for (const ending of list) if (word.endsWith(ending[0])) return ending;
  return undefined;
}

function isPlain(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at);
    if (code < 97 || code > 122) return false;
  }
  return true;
}

function american(word: string): string {
  if (word.length < 6 || !word.includes("is", 3)) return word;
  return word.replace(/is(e|ed|es|ing|er|ers|ation|ations)$/, "iz$1");
}

function isVowelAt(word: string, at: number): boolean {
  const letter = word.charCodeAt(at) - SMALL_A;
  return letter >= 0 && letter < 26 && ((VOWELS >> letter) & 1) === 1;
}

/** A `y` at the start or after a vowel is a consonant, written `Y` while the rules run. */
function markConsonantY(word: string): string {
  if (!word.includes("y")) return word;
  return word.replace(/^y|(?<=[aeiouy])y/g, "Y");
}

function firstRegion(word: string): number {
  for (const prefix of PREFIXES) if (word.startsWith(prefix)) return prefix.length;
  return regionAfter(word, 0);
}

function regionAfter(word: string, from: number): number {
  for (let at = from + 1; at < word.length; at += 1) {
    if (!isVowelAt(word, at) && isVowelAt(word, at - 1)) return at + 1;
  }
  return word.length;
}

function hasVowelBefore(word: string, end: number): boolean {
  for (let at = 0; at < end; at += 1) if (isVowelAt(word, at)) return true;
  return false;
}

function endsInConsonantAndY(word: string): boolean {
  const last = word.length - 1;
  const isY = last > 1 && (word.charCodeAt(last) | 0x20) === SMALL_Y;
  return isY && !isVowelAt(word, last - 1);
}

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) return word.slice(0, word.length > 4 ? -2 : -1);
  if (!word.endsWith("s") || word.endsWith("us") || word.endsWith("ss")) return word;
  return hasVowelBefore(word, word.length - 2) ? word.slice(0, -1) : word;
}

function pastAndContinuous(word: string, r1: number): string {
  if (!PAST_ENDS.includes(word.charAt(word.length - 1))) return word;
  for (const suffix of ["eedly", "eed"]) {
    if (word.endsWith(suffix))
      return word.length - suffix.length >= r1 ? `${word.slice(0, -suffix.length)}ee` : word;
  }
  for (const suffix of ["ingly", "edly", "ing", "ed"]) {
    if (!word.endsWith(suffix)) continue;
    const end = word.length - suffix.length;
    return hasVowelBefore(word, end) ? repairBase(word.slice(0, end), r1) : word;
  }
  return word;
}

function repairBase(base: string, r1: number): string {
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(base)) return base.slice(0, -1);
  return r1 >= base.length && endsInShortSyllable(base) ? `${base}e` : base;
}

function endsInShortSyllable(word: string): boolean {
  return /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/.test(word);
}

function longSuffixes(word: string, { r1, r2 }: { r1: number; r2: number }): string {
  let result = word;
  const second = endingOf(result, STEP_2);
  if (second !== undefined) {
    if (result.length - second[0].length >= r1) result = result.slice(0, -second[0].length) + second[1];
  } else if (result.endsWith("logi") && result.length - 3 >= r1) {
    result = result.slice(0, -1);
  } else if (/[cdeghkmnrt]li$/.test(result) && result.length - 2 >= r1) {
    result = result.slice(0, -2);
  }
  const third = endingOf(result, STEP_3);
  if (third !== undefined) {
    if (result.length - third[0].length >= r1) result = result.slice(0, -third[0].length) + third[1];
  } else if (result.endsWith("ative") && result.length - 5 >= r2) {
    result = result.slice(0, -5);
  }
  return result;
}

function shortSuffixes(word: string, { r1, r2 }: { r1: number; r2: number }): string {
  let result = word;
  const fourth = endingOf(result, STEP_4);
  if (fourth !== undefined) {
    if (result.length - fourth[0].length >= r2) result = result.slice(0, -fourth[0].length);
  } else if (/[st]ion$/.test(result) && result.length - 3 >= r2) {
    result = result.slice(0, -3);
  }
  if (result.endsWith("e")) {
    const base = result.slice(0, -1);
    if (base.length >= r2 || (base.length >= r1 && !endsInShortSyllable(base))) return base;
  }
  return result.endsWith("ll") && result.length - 1 >= r2 ? result.slice(0, -1) : result;
}
