const IRREGULAR: Readonly<Record<string, string>> = {
  analyses: "analysis",
  analyse: "analyze",
  bought: "buy",
  brought: "bring",
  built: "build",
  children: "child",
  chosen: "choose",
  criteria: "criterion",
  driven: "drive",
  drawn: "draw",
  drew: "draw",
  feet: "foot",
  found: "find",
  given: "give",
  gave: "give",
  geese: "goose",
  gone: "go",
  halves: "half",
  heard: "hear",
  held: "hold",
  hidden: "hide",
  indexes: "index",
  indices: "index",
  kept: "keep",
  knives: "knife",
  known: "know",
  leaves: "leaf",
  lives: "live",
  loaves: "loaf",
  lost: "lose",
  made: "make",
  matrices: "matrix",
  meant: "mean",
  men: "man",
  mice: "mouse",
  paid: "pay",
  people: "person",
  ran: "run",
  said: "say",
  seen: "see",
  sent: "send",
  shown: "show",
  sold: "sell",
  spent: "spend",
  spoken: "speak",
  spoke: "speak",
  stolen: "steal",
  taken: "take",
  taught: "teach",
  teeth: "tooth",
  thought: "think",
  told: "tell",
  took: "take",
  vertices: "vertex",
  went: "go",
  wives: "wife",
  wolves: "wolf",
  women: "woman",
  won: "win",
  worn: "wear",
  written: "write",
  wrote: "write",
};

/** What the rules would confuse with another word. */
const UNCHANGED = new Set([
  "aws",
  "bias",
  "business",
  "canvas",
  "css",
  "dns",
  "gas",
  "gps",
  "https",
  "ios",
  "kubernetes",
  "lens",
  "news",
  "number",
  "police",
  "rss",
  "sms",
  "tls",
  "ssl",
  "university",
  "organ",
]);

const STEP_2: readonly (readonly [string, string])[] = [
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
];

const STEP_3: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const STEP_4 = [
  "ement",
  "ance",
  "ence",
  "able",
  "ible",
  "ment",
  "ant",
  "ent",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize",
  "al",
  "er",
  "ic",
];

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

function makeStem(word: string): string {
  if (word.length < 3 || UNCHANGED.has(word) || !isPlain(word)) return word;
  if (Object.hasOwn(IRREGULAR, word)) return makeStem(IRREGULAR[word] ?? word);
  const spelled = american(word);
  const regions = { r1: 0, r2: 0 };
  let result = markConsonantY(spelled);
  regions.r1 = firstRegion(result);
  regions.r2 = regionAfter(result, regions.r1);
  result = plural(result);
  if (UNCHANGED.has(result)) return result;
  result = pastAndContinuous(result, regions.r1);
  if (/[^aeiouy][yY]$/.test(result) && result.length > 2) result = `${result.slice(0, -1)}i`;
  result = longSuffixes(result, regions);
  result = shortSuffixes(result, regions);
  return result.toLowerCase();
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

function isVowel(letter: string | undefined): boolean {
  return letter !== undefined && "aeiouy".includes(letter);
}

/** A `y` at the start or after a vowel is a consonant, written `Y` while the rules run. */
function markConsonantY(word: string): string {
  if (!word.includes("y")) return word;
  return word.replace(/^y|(?<=[aeiouy])y/g, "Y");
}

function firstRegion(word: string): number {
  for (const prefix of ["gener", "commun", "arsen", "organ"])
    if (word.startsWith(prefix)) return prefix.length;
  return regionAfter(word, 0);
}

function regionAfter(word: string, from: number): number {
  for (let at = from + 1; at < word.length; at += 1) {
    if (!isVowel(word[at]) && isVowel(word[at - 1])) return at + 1;
  }
  return word.length;
}

function hasVowel(text: string): boolean {
  return /[aeiouy]/.test(text);
}

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) return word.slice(0, word.length > 4 ? -2 : -1);
  if (!word.endsWith("s") || word.endsWith("us") || word.endsWith("ss")) return word;
  return hasVowel(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function pastAndContinuous(word: string, r1: number): string {
  for (const suffix of ["eedly", "eed"]) {
    if (word.endsWith(suffix))
      return word.length - suffix.length >= r1 ? `${word.slice(0, -suffix.length)}ee` : word;
  }
  for (const suffix of ["ingly", "edly", "ing", "ed"]) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return hasVowel(base) ? repairBase(base, r1) : word;
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
  const second = STEP_2.find(([suffix]) => result.endsWith(suffix));
  if (second !== undefined) {
    if (result.length - second[0].length >= r1) result = result.slice(0, -second[0].length) + second[1];
  } else if (result.endsWith("logi") && result.length - 3 >= r1) {
    result = result.slice(0, -1);
  } else if (/[cdeghkmnrt]li$/.test(result) && result.length - 2 >= r1) {
    result = result.slice(0, -2);
  }
  const third = STEP_3.find(([suffix]) => result.endsWith(suffix));
  if (third !== undefined) {
    if (result.length - third[0].length >= r1) result = result.slice(0, -third[0].length) + third[1];
  } else if (result.endsWith("ative") && result.length - 5 >= r2) {
    result = result.slice(0, -5);
  }
  return result;
}

function shortSuffixes(word: string, { r1, r2 }: { r1: number; r2: number }): string {
  let result = word;
  const fourth = STEP_4.find((suffix) => result.endsWith(suffix));
  if (fourth !== undefined) {
    if (result.length - fourth.length >= r2) result = result.slice(0, -fourth.length);
  } else if (/[st]ion$/.test(result) && result.length - 3 >= r2) {
    result = result.slice(0, -3);
  }
  if (result.endsWith("e")) {
    const base = result.slice(0, -1);
    if (base.length >= r2 || (base.length >= r1 && !endsInShortSyllable(base))) return base;
  }
  return result.endsWith("ll") && result.length - 1 >= r2 ? result.slice(0, -1) : result;
}
