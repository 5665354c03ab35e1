/** Texts for people mark what their parts mean with two characters that no ordinary text holds. */
const PART = /\ufdd0(.)([^\ufdd0\ufdd1]*)\ufdd1?/gsu;
const MEANINGS: Readonly<Record<string, string>> = {
  a: "added",
  r: "removed",
  h: "heading",
  d: "dim",
  s: "strong",
  g: "good",
  w: "warning",
  b: "bad",
  p: "path",
};

export interface MarkedPart {
  readonly meaning?: string | undefined;
  readonly text: string;
}

export function markedParts(marked: string): readonly MarkedPart[] {
  const parts: MarkedPart[] = [];
  let from = 0;
  for (const match of marked.matchAll(PART)) {
    if (match.index > from) parts.push({ text: unmarked(marked.slice(from, match.index)) });
    parts.push({ meaning: MEANINGS[match[1] ?? ""], text: match[2] ?? "" });
    from = match.index + match[0].length;
  }
  parts.push({ text: unmarked(marked.slice(from)) });
  return parts.filter(({ text }) => text !== "");
}

export function unmarked(text: string): string {
  return text.replace(/\ufdd0./gu, "").replace(/[\ufdd0\ufdd1]/g, "");
}
