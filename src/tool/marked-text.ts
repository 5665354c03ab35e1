/**
 * Text for people with marks for what its parts mean. Marks are two characters that no ordinary text holds; a
 * terminal turns them into colours, a page into spans, everything else drops them. A text that brings marks of
 * its own can only change colours.
 */
const OPEN = "\ufdd0";
const CLOSE = "\ufdd1";

const CODES = {
  added: "a",
  removed: "r",
  heading: "h",
  dim: "d",
  strong: "s",
  good: "g",
  warning: "w",
  bad: "b",
  path: "p",
} as const;

export type Meaning = keyof typeof CODES;

const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  Object.entries(CODES).map(([meaning, code]) => [code, meaning as Meaning]),
);

/** `mark.added("+ line")`; marks do not nest. */
export const mark: Readonly<Record<Meaning, (text: string) => string>> = Object.fromEntries(
  Object.entries(CODES).map(([meaning, code]) => [
    meaning,
    (text: string) => `${OPEN}${code}${text}${CLOSE}`,
  ]),
) as Record<Meaning, (text: string) => string>;

export function plainText(marked: string): string {
  return renderMarks(marked, (_meaning, text) => text);
}

/** Replaces each marked part by what `paint` makes of it. */
export function renderMarks(marked: string, paint: (meaning: Meaning, text: string) => string): string {
  if (!marked.includes(OPEN)) return marked.replaceAll(CLOSE, "");
  return marked
    .replace(/\ufdd0(.)([^\ufdd0\ufdd1]*)\ufdd1?/gsu, (_whole, code: string, text: string) => {
      const meaning = MEANINGS.get(code);
      return meaning === undefined ? text : paint(meaning, text);
    })
    .replace(/[\ufdd0\ufdd1]/g, "");
}

/** A unified diff with its lines marked. */
export function markDiff(diff: string): string {
  return diff
    .split("\n")
    .map((line) => {
      if (/^(?:\+\+\+|---|diff |index |Index:|={10})/.test(line)) return mark.strong(line);
      if (line.startsWith("@@")) return mark.dim(line);
      if (line.startsWith("+")) return mark.added(line);
      return line.startsWith("-") ? mark.removed(line) : line;
    })
    .join("\n");
}

/** Columns padded to their widest cell; marks take no room. */
export function columns(
  rows: readonly (readonly string[])[],
  options: { readonly right?: readonly number[] } = {},
): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, plainText(cell).length);
    });
  return rows
    .map((row) =>
      row
        .map((cell, at) => {
          const room = " ".repeat((widths[at] ?? 0) - plainText(cell).length);
          if (options.right?.includes(at) === true) return room + cell;
          return at === row.length - 1 ? cell : cell + room;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
