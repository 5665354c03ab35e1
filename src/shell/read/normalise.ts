/** A command line as a reader sees it, with the way back to where its characters stood. */
export interface Normalised {
  readonly text: string;
  /** Offset in the original for an offset in `text`. */
  toOriginal(offset: number): number;
}

/** Escape sequences of terminals: CSI, OSC and other strings, two-character ones, and their 8-bit spellings. */
const SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/y;
/** Nothing of these is seen: NUL and other controls, zero-width and direction marks, tags, variation selectors. */
const INVISIBLE = /[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}/u;
/** Line ends for a reader, ordinary characters for bash. */
const LINE_ENDS = /[\r\u0085\u2028\u2029]/;
const DASHES = /[\u2010-\u2015\u2212\ufe58\u2e3a\u2e3b]/;
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** Undoes what makes a line look different from what it is. Undefined when it looks like what it is. */
export function normalise(original: string): Normalised | undefined {
  if (PLAIN.test(original)) return undefined;
  const pieces: string[] = [];
  const offsets: number[] = [];
  let at = 0;
  const add = (text: string): void => {
    pieces.push(text);
    for (let index = 0; index < text.length; index++) offsets.push(at);
  };
  while (at < original.length) {
    SEQUENCES.lastIndex = at;
    const sequence = SEQUENCES.exec(original);
    if (sequence !== null) {
      at += sequence[0].length;
      continue;
    }
    const character = String.fromCodePoint(original.codePointAt(at) ?? 0);
    if (LINE_ENDS.test(character)) add("\n");
    else if (character === "\v" || character === "\f") add(" ");
    else if (DASHES.test(character)) add("-");
    else if (!INVISIBLE.test(character)) add(character < "\x80" ? character : character.normalize("NFKC"));
    at += character.length;
  }
  const text = pieces.join("");
  if (text === original) return undefined;
  offsets.push(original.length);
  return { text, toOriginal: (offset) => offsets[Math.min(offset, offsets.length - 1)] ?? 0 };
}

/** Letters of other scripts that look like the Latin ones commands are made of. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: "аαɑΑА",
  b: "ЬВΒƄ",
  c: "сϲСϹᴄ",
  d: "ԁժ",
  e: "еєҽΕЕ",
  f: "ϝք",
  g: "ɡց",
  h: "һհΗН",
  i: "іιıΙІ",
  j: "јϳЈ",
  k: "κкΚК",
  l: "ӏⅼ",
  m: "мΜМᴍ",
  n: "ոпΝ",
  o: "оοօΟО",
  p: "рρΡР",
  q: "ԛգ",
  r: "гᴦⲅ",
  s: "ѕЅꜱ",
  t: "тτΤТ",
  u: "υսᴜ",
  v: "νѵᴠ",
  w: "ԝѡᴡ",
  x: "хχΧХ",
  y: "уγуΥУ",
  z: "ᴢΖ",
};

const FOLDED = new Map(
  Object.entries(LOOKALIKES).flatMap(([latin, others]) =>
    [...others].map((other) => [other, latin] as const),
  ),
);

/** A program name as a reader sees it: `гm` with a Cyrillic letter is `rm`, and so is `ṙm`. */
export function foldLookalikes(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name;
  const bare = name.normalize("NFKD").replace(/\p{M}/gu, "");
  return [...bare].map((letter) => FOLDED.get(letter) ?? letter).join("");
}
