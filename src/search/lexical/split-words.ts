const NON_ASCII = /[^\x00-\x7f]/;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that put no spaces between words, and Hangul, whose endings hide the word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;

/** Receives the words of a text in order, in lower case. */
export interface WordSink {
  word(word: string): void;
  /** All of `GitHub`, after its parts `git` and `hub` were given as words. */
  joined(word: string): void;
}

/** Cuts text, names and identifiers of any spelling into words. */
export function splitWords(text: string, sink: WordSink): void {
  if (!NON_ASCII.test(text)) splitRuns(text, sink);
  else splitRuns(text.normalize("NFKD").replace(COMBINING_MARKS, "").normalize("NFC"), sink);
}

function splitRuns(text: string, sink: WordSink): void {
  const { length } = text;
  let start = -1;
  for (let at = 0; at <= length; at += 1) {
    const code = at < length ? text.charCodeAt(at) : 32;
    const inside = code < 128 ? kindOf(code) !== OTHER : isWordUnit(text, at);
    if (inside) {
      if (start < 0) start = at;
      continue;
    }
    if (start < 0) continue;
    if (code === 39 || code === 0x2019) {
      const skipped = skipApostrophe(text, at);
      splitRun(text.slice(start, at) + text.slice(at + 1, skipped.keepTo), sink);
      at = skipped.next - 1;
    } else {
      splitRun(text.slice(start, at), sink);
    }
    start = -1;
  }
}

/** `user's` is `user`; `don't` is `dont`. */
function skipApostrophe(text: string, at: number): { keepTo: number; next: number } {
  let end = at + 1;
  while (end < text.length && kindOf(text.charCodeAt(end)) === LOWER) end += 1;
  const possessive = end === at + 2 && text.charCodeAt(at + 1) === 115;
  return { keepTo: possessive ? at + 1 : end, next: Math.max(end, at + 1) };
}

function isWordUnit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= 0xdc00 && code <= 0xdfff) return at > 0 && isWordUnit(text, at - 1);
  return LETTER_OR_DIGIT.test(String.fromCodePoint(text.codePointAt(at) ?? 32));
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  return OTHER;
}

function splitRun(run: string, sink: WordSink): void {
  if (NON_ASCII.test(run)) {
    splitForeign(run, sink);
    return;
  }
  let start = 0;
  let parts = 0;
  for (let at = 1; at < run.length; at += 1) {
    if (!startsPart(run, at)) continue;
    sink.word(run.slice(start, at).toLowerCase());
    parts += 1;
    start = at;
  }
  sink.word(run.slice(start).toLowerCase());
  if (parts > 0) sink.joined(run.toLowerCase());
}

/** `getHTTPStatus2` begins new parts at `H`, `S` and `2`. */
function startsPart(run: string, at: number): boolean {
  const before = kindOf(run.charCodeAt(at - 1));
  const here = kindOf(run.charCodeAt(at));
  if (before === here) {
    if (here !== UPPER || at + 1 >= run.length) return false;
    // The plural of an abbreviation (`URLs`) begins no word.
    return kindOf(run.charCodeAt(at + 1)) === LOWER && !(run.charCodeAt(at + 1) === 115 && at + 2 === run.length);
  }
  if (here === DIGIT || before === DIGIT) return true;
  return before === LOWER && here === UPPER;
}

/** Words of scripts with spaces stay whole; others become pairs of characters. */
function splitForeign(run: string, sink: WordSink): void {
  let spaced = "";
  let unspaced: string[] = [];
  const flush = () => {
    if (spaced !== "") splitSpaced(spaced, sink);
    if (unspaced.length === 1) sink.word(unspaced.join(""));
    for (let at = 1; at < unspaced.length; at += 1) sink.word(`${unspaced[at - 1]}${unspaced[at]}`);
    spaced = "";
    unspaced = [];
  };
  for (const character of run) {
    const joins = UNSPACED.test(character);
    if (joins ? spaced !== "" : unspaced.length > 0) flush();
    if (joins) unspaced.push(character);
    else spaced += character;
  }
  flush();
}

function splitSpaced(run: string, sink: WordSink): void {
  if (NON_ASCII.test(run)) sink.word(run.toLowerCase());
  else splitRun(run, sink);
}
