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
