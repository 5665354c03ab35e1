import { WORDS } from "./words.gen.js";

/** Words before which others of the same list are not looked for: `morgens` is not `morg`. */
const SHORTEST_START = 4;
const HAN = /\p{Script=Han}/u;
const LONGEST_HAN = 6;

interface Dictionary {
  /** Latin ones by their first letters. */
  readonly starts: ReadonlyMap<string, readonly (readonly [start: string, english: string])[]>;
  readonly han: ReadonlyMap<string, string>;
}

let dictionary: Dictionary | undefined;

const FOREIGN_LETTERS = /[äöüßñ¿¡áéíóú]|\p{Script=Han}/iu;
/** Small words that English does not have. */
const SMALL_WORDS =
  /(?<![\p{L}\d])(?:und|der|das|ein|eine|einen|dem|mit|von|ist|nicht|auf|wie|mir|bitte|el|los|las|una|para|con|por|que|del|mi|al|como)(?![\p{L}\d])/iu;

export function looksForeign(request: string): boolean {
  return FOREIGN_LETTERS.test(request) || SMALL_WORDS.test(request);
}

/**
 * Tools are described in English, and every judge knows little else. What a request says in other languages is added in
 * the English words that tools use for it, as far as they are known; undefined when nothing is.
 */
export function englishWordsOf(request: string): string | undefined {
  dictionary ??= readDictionary();
  const { starts, han } = dictionary;
  const found = new Set<string>();
  for (const word of folded(request).match(/[a-z]{3,}|\p{Script=Han}+/gu) ?? []) {
    if (HAN.test(word)) for (const english of hanWords(word, han)) found.add(english);
    else {
      const candidates = starts.get(word.slice(0, 3)) ?? [];
      const meant = candidates.find(
        ([start]) => word === start || (start.length >= SHORTEST_START && word.startsWith(start)),
      );
      if (meant !== undefined) found.add(meant[1]);
    }
  }
  return found.size === 0 ? undefined : [...found].join(" ");
}

/** Chinese is written without blanks: at each place the longest known word. */
function hanWords(text: string, known: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    let length = Math.min(LONGEST_HAN, text.length - at);
    while (length > 0 && !known.has(text.slice(at, at + length))) length -= 1;
    const english = known.get(text.slice(at, at + length));
    if (english !== undefined) found.push(english);
    at += Math.max(1, length);
  }
  return found;
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "");
}

function readDictionary(): Dictionary {
  const starts = new Map<string, [string, string][]>();
  const han = new Map<string, string>();
  for (const line of WORDS.trim().split("\n")) {
    const [english = "", ...languages] = line.split("|").map((part) => part.trim());
    for (const word of languages.flatMap((words) => words.split(" "))) {
      if (HAN.test(word)) han.set(word, english);
      else if (word.length >= 3)
        starts.set(word.slice(0, 3), [...(starts.get(word.slice(0, 3)) ?? []), [word, english]]);
    }
  }
  for (const words of starts.values()) words.sort(([one], [other]) => other.length - one.length);
  return { starts, han };
}
