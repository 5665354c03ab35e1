import { bitCount, HUMP, letterMask, ORDINARY, WORD } from "./characters.js";
import type { TextTable } from "./path-index.js";

/**
 * How well a word fits a name, 0 for not at all. Kinds of fit lie apart; within a kind, what the name holds
 * besides the word counts against it.
 */
const EXACT = 1000;
const EXACT_STEM = 985;
const BEGINNING = 800;
const ALL_WORDS_BEGUN = 770;
const BEGINNING_OF_WORD = 710;
const SOME_WORDS_BEGUN = 665;
const INSIDE = 670;
const SHORT_INSIDE = 610;
const SCATTERED = 550;
const WHOLE_WITH_SLIP = 480;
const PART_WITH_SLIP = 390;

const ENDS_WITH_WORD = 40;
const ONE_LETTER_EACH = 12;
const FROM_THE_FIRST_WORD = 15;
/** The longer a word, the less likely it is another one by a single slip. */
const SLIP_PER_LETTER = 8;
const MOST_SLIP_LETTERS = 12;
const MAX_REST_PENALTY = 80;
const SHORTEST_WORD_WITH_SLIP = 4;
/** Shorter ones lie inside of many names by chance. */
const LONG_INSIDE = 5;
/** Beginnings of words are followed in the bits of one number. */
const MOST_BEGINNINGS = 30;

const DOT = 46;
const NONE = -1e6;

/** Points of one letter inside a scattered fit. */
const LETTER = 16;
const AFTER_NEIGHBOUR = 14;
const PLACE_POINTS = [0, 10, 14];
const FIRST_LETTER = 6;
const GAP = 2;

export class NameScorer {
  readonly #word: Uint16Array;
  readonly #mask: number;
  readonly #table: TextTable;
  readonly #slips: SlipFinder;
  #above = new Float64Array(64);
  #row = new Float64Array(64);

  constructor(word: Uint16Array, table: TextTable) {
    this.#word = word;
    this.#mask = letterMask(word, 0, word.length);
    this.#table = table;
    this.#slips = new SlipFinder(word, table.codes);
  }

  /** Quick: of letters that lie scattered only roughly how well. */
  roughScore(name: number): number {
    return this.#score(name, false);
  }

  exactScore(name: number): number {
    return this.#score(name, true);
  }

  #score(name: number, exactly: boolean): number {
    const missing = this.#mask & ~(this.#table.masks[name] ?? 0);
    const slips = this.#word.length >= SHORTEST_WORD_WITH_SLIP;
    if (missing !== 0 && (!slips || bitCount(missing) > 1)) return 0;
    const start = this.#table.starts[name] ?? 0;
    const end = this.#table.starts[name + 1] ?? start;
    const rough = missing === 0 ? this.#inOrder(start, end) : 0;
    if (rough > 0) {
      const unbroken = this.#unbroken(start, end);
      if (unbroken >= BEGINNING_OF_WORD - MAX_REST_PENALTY) return unbroken;
      const close = Math.max(unbroken, this.#wordBeginnings(start, end));
      if (close > 0) return close;
    }
    const scattered = rough > 0 && exactly ? this.#scattered(start, end) : rough;
    return slips ? Math.max(scattered, this.#withSlip(start, end)) : scattered;
  }

  /** Above 0 when the letters lie there in order: the more of them begin a word or follow each other, the more. */
  #inOrder(start: number, end: number): number {
    const { codes, places } = this.#table;
    const word = this.#word;
    let found = 0;
    let neat = 0;
    let last = -2;
    for (let at = start; at < end; at++) {
      if (codes[at] !== word[found]) continue;
      found++;
      if (last === at - 1 || places[at] !== ORDINARY) neat++;
      last = at;
      if (found === word.length) {
        return 100 + ((SCATTERED - 100) * neat) / found - penalty(end - start - found) / 2;
      }
    }
    return 0;
  }

  /** The letters one after the other, at the best of the places where they lie so. */
  #unbroken(start: number, end: number): number {
    const { codes, places } = this.#table;
    const word = this.#word;
    const { length } = word;
    const first = word[0];
    let best = 0;
    for (let at = start; at + length <= end; at++) {
      if (codes[at] !== first || !this.#liesAt(at)) continue;
      const stop = at + length;
      if (at === start && stop === end) return EXACT;
      const endsWithWord = stop === end || places[stop] !== ORDINARY || !isLetter(codes[stop] ?? 0);
      let score = length < LONG_INSIDE ? SHORT_INSIDE : INSIDE;
      if (at === start) {
        if (codes[stop] === DOT) return EXACT_STEM;
        score = BEGINNING;
      } else if (places[at] !== ORDINARY) score = BEGINNING_OF_WORD;
      if (endsWithWord) score += ENDS_WITH_WORD;
      if (score > best) best = score;
    }
    return best === 0 ? 0 : best - penalty(this.#stemEnd(start, end) - start - length);
  }

  #liesAt(at: number): boolean {
    const { codes } = this.#table;
    const word = this.#word;
    for (let index = 1; index < word.length; index++) {
      if (codes[at + index] !== word[index]) return false;
    }
    return true;
  }

  /** Made of the beginnings of words of the name: "rf" and "refi" for read-file. */
  #wordBeginnings(start: number, end: number): number {
    const { codes, places } = this.#table;
    const { length } = this.#word;
    if (length < 2 || length > MOST_BEGINNINGS) return 0;
    const done = 1 << length;
    // Bit n: the first n letters lie at beginnings of words.
    let some = 1;
    for (let at = start; at < end; at++) {
      if (places[at] !== ORDINARY) some |= this.#taking(some, at, end);
    }
    if ((some & done) === 0) return 0;
    // The same for those that leave no word out, and for those that leave none out before they begin.
    let all = 1;
    let fromFirst = 0;
    let words = 0;
    let allInStem = false;
    for (let at = start; at < end; at++) {
      const place = places[at] ?? ORDINARY;
      if (codes[at] === DOT && at > start && (all & done) !== 0) allInStem = true;
      if (place === ORDINARY) continue;
      words++;
      const next = this.#taking(all, at, end);
      // A number may count as a word of its own or as a part of the one before.
      all = place === HUMP && isDigit(codes[at] ?? 0) ? all | next : next;
      fromFirst = words === 1 ? next : fromFirst | this.#taking(fromFirst, at, end);
    }
    const rest = penalty(this.#stemEnd(start, end) - start - length) / 2;
    if (allInStem || (all & done) !== 0) {
      return ALL_WORDS_BEGUN - rest + (length >= words - 1 ? ONE_LETTER_EACH : 0);
    }
    return SOME_WORDS_BEGUN - rest + ((fromFirst & done) === 0 ? 0 : FROM_THE_FIRST_WORD);
  }

  /** Where the extension begins: what a name is called by ends there. */
  #stemEnd(start: number, end: number): number {
    const { codes } = this.#table;
    for (let at = end - 1; at > start; at--) if (codes[at] === DOT) return at;
    return end;
  }

  /** Where the letters can get to by taking one or more from the word that begins at `at`. */
  #taking(reached: number, at: number, end: number): number {
    const { codes } = this.#table;
    const word = this.#word;
    let next = 0;
    for (let from = 0; from < word.length; from++) {
      if ((reached & (1 << from)) === 0) continue;
      let to = from;
      while (to < word.length && at + to - from < end && codes[at + to - from] === word[to]) {
        to++;
        next |= 1 << to;
      }
    }
    return next;
  }

  /** The best way to find the letters in order: few gaps, many at the beginning of words. */
  #scattered(start: number, end: number): number {
    const { codes, places } = this.#table;
    const word = this.#word;
    const width = end - start;
    if (this.#row.length < width) {
      this.#row = new Float64Array(width * 2);
      this.#above = new Float64Array(width * 2);
    }
    let row = this.#row;
    let above = this.#above;
    for (let letter = 0; letter < word.length; letter++) {
      const code = word[letter];
      let before = letter === 0 ? 0 : NONE;
      for (let at = 0; at < width; at++) {
        const neighbour = letter === 0 || at === 0 ? NONE : (above[at - 1] ?? NONE);
        if (letter > 0) before = Math.max(before - GAP, neighbour);
        if (codes[start + at] !== code) {
          row[at] = NONE;
          continue;
        }
        const place = PLACE_POINTS[places[start + at] ?? ORDINARY] ?? 0;
        const first = at === 0 ? FIRST_LETTER : 0;
        const joined = neighbour > NONE / 2 ? neighbour + Math.max(AFTER_NEIGHBOUR, place) : NONE;
        const apart = before > NONE / 2 ? before + place + first : NONE;
        row[at] = Math.max(joined, apart) > NONE / 2 ? Math.max(joined, apart) + LETTER : NONE;
      }
      [row, above] = [above, row];
    }
    let best = NONE;
    for (let at = 0; at < width; at++) best = Math.max(best, above[at] ?? NONE);
    const most = word.length * (LETTER + (PLACE_POINTS[WORD] ?? 0)) + FIRST_LETTER;
    return best <= 0 ? 1 : 100 + ((SCATTERED - 100) * best) / most - penalty(width - word.length) / 2;
  }

  /** One slip of the finger away from the whole name, or from what begins at one of its words. */
  #withSlip(start: number, end: number): number {
    const { codes, places } = this.#table;
    const word = this.#word;
    let best = 0;
    const latest = end - word.length + 1;
    for (let at = start; at <= latest; at++) {
      if (places[at] === ORDINARY) continue;
      const stop = this.#slips.endFrom(at, end);
      if (stop === -1) continue;
      const whole = at === start && (stop === end || codes[stop] === DOT);
      const fit = whole ? WHOLE_WITH_SLIP : at === start ? PART_WITH_SLIP + 30 : PART_WITH_SLIP;
      const longer = SLIP_PER_LETTER * Math.min(word.length, MOST_SLIP_LETTERS);
      best = Math.max(best, fit + longer - penalty(end - stop) / (whole ? 4 : 1));
    }
    return best;
  }
}

function penalty(rest: number): number {
  return Math.max(0, Math.min(rest * 2, MAX_REST_PENALTY));
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || isDigit(code) || code >= 128;
}

/** Finds a word that was typed with exactly one slip: a letter too many, missing, wrong, or two swapped. */
class SlipFinder {
  readonly #word: Uint16Array;
  readonly #codes: Uint16Array;

  constructor(word: Uint16Array, codes: Uint16Array) {
    this.#word = word;
    this.#codes = codes;
  }

  /** Where the word ends if it begins at `start`; -1 when it does not lie there, or without a slip. */
  endFrom(start: number, limit: number): number {
    const word = this.#word;
    const codes = this.#codes;
    const { length } = word;
    const first = codes[start];
    const second = codes[start + 1];
    // Whatever the slip is, one of these pairs survives it.
    if (first !== word[0] && second !== word[1] && second !== word[0] && first !== word[1]) return -1;
    let same = 0;
    while (same < length && word[same] === codes[start + same]) same++;
    if (same === length) return -1;
    const at = start + same;
    // The end of the name decides between several ways, so the one that uses most of it comes first.
    if (this.#restLies(same, at + 1) && at + 1 + length - same <= limit) return at + 1 + length - same;
    if (this.#restLies(same + 1, at + 1) && at + length - same <= limit) return at + length - same;
    if (this.#restLies(same + 1, at) && at + length - same - 1 <= limit) return at + length - same - 1;
    const swapped = same + 1 < length && word[same] === codes[at + 1] && word[same + 1] === codes[at];
    if (swapped && this.#restLies(same + 2, at + 2) && at + length - same <= limit) return at + length - same;
    return -1;
  }

  #restLies(from: number, at: number): boolean {
    const word = this.#word;
    const codes = this.#codes;
    for (let index = from; index < word.length; index++) {
      if (word[index] !== codes[at + index - from]) return false;
    }
    return true;
  }
}
