const NON_ASCII = /[^\x00-\x7f]/;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{M}]/u;
/** "user's" and "don't", with either sign. */
const POSSESSIVE = /['’]s\b/g;
const APOSTROPHE_IN_WORD = /(?<=\p{L})['’](?=\p{L})/gu;
const APOSTROPHES = /['’]/g;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 4;
const APOSTROPHE = 8;
const FOREIGN = 16;
const IN_WORD = LOWER | UPPER | DIGIT;
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code > 127) return FOREIGN;
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code === 39) return APOSTROPHE;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
});
const SMALL_S = 115;

/** Receives the words of a text in order, in lower case. */
export interface WordSink {
  word(word: string): void;
  /** All of `GitHub`, after its parts `git` and `hub` were given as words. */
  joined(word: string): void;
}

/** A text as it is and, as far as it is English, letter by letter: reading bytes is many times quicker. */
export interface ReadText {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * Receives words where they stand: a catalogue has far more of them than different ones, and few are worth a string,
 * or an object for three arguments.
 */
export interface RangeSink {
  /** English letters and digits in upper and lower case, from one position to before another. */
  word(within: ReadText, from: number, to: number): void;
  joined(within: ReadText, from: number, to: number): void;
  foreignWord(word: string): void;
}

/** Cuts text, names and identifiers of any spelling into words. */
export function splitWords(text: string, sink: WordSink): void {
  findWords(text, {
    word: (within, from, to) => sink.word(within.text.slice(from, to).toLowerCase()),
    joined: (within, from, to) => sink.joined(within.text.slice(from, to).toLowerCase()),
    foreignWord: (word) => sink.word(word),
  });
}

/** The same, for a reader that makes no strings. */
export function findWords(text: string, sink: RangeSink): void {
  const end = findPlainWords(text, sink);
  if (end === text.length) return;
  const rest = text
    .slice(end)
    .replace(POSSESSIVE, "")
    .replace(APOSTROPHE_IN_WORD, "")
    .replace(APOSTROPHES, " ");
  if (NON_ASCII.test(rest)) findForeignWords(rest, sink);
  else findPlainWords(rest, sink);
}

/**
 * Goes as far as English letters, digits and signs between words go. Returns where it stopped: at the end, or before
 * the first word that has a foreign letter or an apostrophe in it or next to it.
 */
function findPlainWords(text: string, sink: RangeSink): number {
  const { length } = text;
  const bytes = bytesOf(text);
  const within = { text, bytes };
  let at = 0;
  while (at < length) {
    const start = at;
    const first = KINDS[bytes[at] ?? 0] ?? OTHER;
    at += 1;
    if ((first & IN_WORD) === 0) {
      if (first === FOREIGN || (first === APOSTROPHE && mayBePossessive(text, at))) return start;
      continue;
    }
    let end = OTHER;
    let others = 0;
    for (; at < length; at += 1) {
      const kind = KINDS[bytes[at] ?? 0] ?? OTHER;
      if ((kind & IN_WORD) === 0) {
        end = kind;
        break;
      }
      others |= kind;
    }
    if (end === FOREIGN || (end === APOSTROPHE && mayGoOn(text, at + 1))) return start;
    if (others === 0 || (others === LOWER && first !== DIGIT)) sink.word(within, start, at);
    else cutRun({ within, start, end: at, sink });
  }
  return length;
}

const encoder = new TextEncoder();
let room = new Uint8Array(4_096);

/** Right up to the first foreign letter, which begins with a byte above 127 and takes four at most. */
function bytesOf(text: string): Uint8Array {
  if (text.length + 4 > room.length) room = new Uint8Array(2 * text.length + 4);
  encoder.encodeInto(text, room);
  return room;
}

function mayBePossessive(text: string, at: number): boolean {
  return text.charCodeAt(at) === SMALL_S && (at + 1 >= text.length || (kindAt(text, at + 1) & IN_WORD) === 0);
}

function mayGoOn(text: string, at: number): boolean {
  return at < text.length && (kindAt(text, at) & (LOWER | UPPER | APOSTROPHE | FOREIGN)) !== 0;
}

interface Run {
  readonly within: ReadText;
  readonly start: number;
  readonly end: number;
  readonly sink: RangeSink;
}

function cutRun({ within, start, end, sink }: Run): void {
  const { text } = within;
  let partStart = start;
  let before = kindAt(text, start);
  for (let at = start + 1; at < end; at += 1) {
    const here = kindAt(text, at);
    if (here !== before) {
      const cut = partEnd({ text, at, before, here });
      if (cut > partStart) {
        sink.word(within, partStart, cut);
        partStart = cut;
      }
    }
    before = here;
  }
  sink.word(within, partStart, end);
  if (partStart > start) sink.joined(within, start, end);
}

interface Change {
  readonly text: string;
  readonly at: number;
  readonly before: number;
  readonly here: number;
}

/** Where a part ends between this character and the other kind before it: `get|HTTP|Status|2`. -1 when it goes on. */
function partEnd({ text, at, before, here }: Change): number {
  if (here !== LOWER || before === DIGIT) return at;
  // Upper case turns lower: the last capital begins the word, but the plural of an abbreviation (`URLs`) begins none.
  const isLast = at + 1 >= text.length || kindAt(text, at + 1) !== LOWER;
  return text.charCodeAt(at) === SMALL_S && isLast ? -1 : at - 1;
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (KINDS[code] ?? OTHER) : FOREIGN;
}

function findForeignWords(text: string, sink: RangeSink): void {
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

function splitRun(run: string, sink: RangeSink): void {
  if (!NON_ASCII.test(run)) findPlainWords(run, sink);
  else
    for (const piece of splitForeignRun(run))
      NON_ASCII.test(piece) ? sink.foreignWord(piece) : findPlainWords(piece, sink);
}

/** Scripts that put no spaces between words, and Hangul, whose endings hide the word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

/** A run of letters that are not all English: pairs of characters for scripts without spaces, else the word. */
function splitForeignRun(run: string): readonly string[] {
  const pieces: string[] = [];
  let spaced = "";
  let unspaced: string[] = [];
  const flush = () => {
    if (spaced !== "") pieces.push(spaced);
    if (unspaced.length === 1) pieces.push(unspaced.join(""));
    for (let at = 1; at < unspaced.length; at += 1) pieces.push(`${unspaced[at - 1]}${unspaced[at]}`);
    spaced = "";
    unspaced = [];
  };
  for (const character of run) {
    const isUnspaced = UNSPACED.test(character);
    if (isUnspaced ? spaced !== "" : unspaced.length > 0) flush();
    if (isUnspaced) unspaced.push(character);
    else spaced += /[\x00-\x7f]/.test(character) ? character : character.toLowerCase();
  }
  flush();
  return pieces;
}
