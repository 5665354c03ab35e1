import { splitForeignRun } from "./split-foreign.js";

const NON_ASCII = /[^\x00-\x7f]/;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{M}]/u;
/** "user's" and "don't", with either sign. */
const POSSESSIVE = /['’]s\b/g;
const APOSTROPHE = /(?<=\p{L})['’](?=\p{L})/gu;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
});
const SMALL_S = 115;

/** Receives the words of a text in order, in lower case. */
export interface WordSink {
  word(word: string): void;
  /** All of `GitHub`, after its parts `git` and `hub` were given as words. */
  joined(word: string): void;
}

/** Cuts text, names and identifiers of any spelling into words. */
export function splitWords(text: string, sink: WordSink): void {
  const plain = /['’]/.test(text) ? text.replace(POSSESSIVE, "").replace(APOSTROPHE, "") : text;
  if (NON_ASCII.test(plain)) splitForeignText(plain, sink);
  else splitAscii(plain, sink);
}

function splitAscii(text: string, sink: WordSink): void {
  const lower = text.toLowerCase();
  const { length } = text;
  let at = 0;
  while (at < length) {
    let before = kindAt(text, at);
    if (before === OTHER) {
      at += 1;
      continue;
    }
    const runStart = at;
    let partStart = at;
    for (at += 1; at < length; at += 1) {
      const here = kindAt(text, at);
      if (here === OTHER) break;
      if (here !== LOWER || before === DIGIT || (before === UPPER && at - partStart > 1)) {
        const cut = partEnd({ text, at, before, here });
        if (cut > partStart) {
          sink.word(lower.slice(partStart, cut));
          partStart = cut;
        }
      }
      before = here;
    }
    sink.word(lower.slice(partStart, at));
    if (partStart > runStart) sink.joined(lower.slice(runStart, at));
  }
}

/** Where a part ends between this character and the one before it: `get|HTTP|Status|2`. -1 when it goes on. */
function partEnd({
  text,
  at,
  before,
  here,
}: {
  text: string;
  at: number;
  before: number;
  here: number;
}): number {
  if (here === before) return -1;
  if (here === DIGIT || before === DIGIT) return at;
  if (here === UPPER) return at;
  // Upper case turns lower: the last capital begins the word, but the plural of an abbreviation (`URLs`) begins none.
  const plural = text.charCodeAt(at) === SMALL_S && kindAt(text, at + 1) !== LOWER;
  return plural ? -1 : at - 1;
}

function kindAt(text: string, at: number): number {
  return KINDS[text.charCodeAt(at)] ?? OTHER;
}

function splitForeignText(text: string, sink: WordSink): void {
  const even = text.normalize("NFKD").replace(COMBINING_MARKS, "").normalize("NFC");
  let run = "";
  for (const character of even) {
    if (LETTER_OR_DIGIT.test(character)) {
      run += character;
      continue;
    }
    if (run !== "") splitRun(run, sink);
    run = "";
  }
  if (run !== "") splitRun(run, sink);
}

function splitRun(run: string, sink: WordSink): void {
  if (!NON_ASCII.test(run)) splitAscii(run, sink);
  else
    for (const piece of splitForeignRun(run))
      NON_ASCII.test(piece) ? sink.word(piece) : splitAscii(piece, sink);
}
