/** Characters of names as numbers: lower case, with one sign for everything people use as a hyphen. */

const HYPHEN = 45;
const SLASH = 47;
const UNDERSCORE = 95;
const SPACE = 32;

/** What a place in a name is, for scoring: ordinary, a hump or number, the first of a word. */
export const ORDINARY = 0;
export const HUMP = 1;
export const WORD = 2;

export interface Characters {
  readonly codes: Uint16Array;
  readonly places: Uint8Array;
}

/** Writes the characters of `text` at `at` and says what each place is. */
export function writeCharacters(text: string, at: number, into: Characters): void {
  const { codes, places } = into;
  let previous = SLASH;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    codes[at + index] = foldCode(code);
    places[at + index] = placeOf(previous, code, text.charCodeAt(index + 1));
    previous = code;
  }
}

export function foldText(text: string): Uint16Array {
  const codes = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) codes[index] = foldCode(text.charCodeAt(index));
  return codes;
}

function foldCode(code: number): number {
  if (code >= 97 && code <= 122) return code;
  if (code >= 65 && code <= 90) return code + 32;
  if (code === UNDERSCORE || code === SPACE) return HYPHEN;
  if (code < 128) return code;
  const lower = String.fromCharCode(code).toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
}

function placeOf(previous: number, code: number, next: number): number {
  if (!isWordCode(code)) return ORDINARY;
  if (!isWordCode(previous)) return WORD;
  if (isDigit(code)) return isDigit(previous) ? ORDINARY : HUMP;
  if (!isUpper(code)) return ORDINARY;
  // In HTMLParser the P begins a word, the T does not.
  return !isUpper(previous) || isLower(next) ? HUMP : ORDINARY;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWordCode(code: number): boolean {
  return isLower(code) || isUpper(code) || isDigit(code) || code >= 128;
}

/** One bit for each letter, a few for the rest: a name without the bits of a query cannot hold its letters. */
export function letterMask(codes: Uint16Array, start: number, end: number): number {
  let mask = 0;
  for (let index = start; index < end; index++) mask |= bitOf(codes[index] ?? 0);
  return mask;
}

function bitOf(code: number): number {
  if (code >= 97 && code <= 122) return 1 << (code - 97);
  if (isDigit(code)) return 1 << (26 + (code % 3));
  if (code === HYPHEN) return 1 << 29;
  return code === 46 ? 1 << 30 : 1 << 31;
}

/** How many bits are set. */
export function bitCount(bits: number): number {
  let value = bits - ((bits >>> 1) & 0x55555555);
  value = (value & 0x33333333) + ((value >>> 2) & 0x33333333);
  return (((value + (value >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
