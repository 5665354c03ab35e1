/** A stretch of text, [start, end). */
export interface Region {
  readonly start: number;
  readonly end: number;
}

export interface Line {
  readonly text: string;
  readonly start: number;
  /** Position of the newline, or the end of the text. */
  readonly end: number;
}

/** Lines without their newlines. Text that ends in a newline has no empty line behind it. */
export function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    lines.push({ text: text.slice(start, end), start, end });
    start = end + 1;
  }
  return lines;
}

/** Number of the line that holds this position, starting at 1. */
export function lineNumberAt(text: string, position: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) number++;
  return number;
}

/** Every place where `needle` begins, also overlapping ones: "aa" is twice in "aaa". */
export function occurrences(text: string, needle: string): Region[] {
  const found: Region[] = [];
  if (needle === "") return found;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    found.push({ start: at, end: at + needle.length });
  }
  return found;
}

/** Decides about the lines that begin at `from`; there are at least as many as the pattern has. */
export type WindowTest = (lines: readonly string[], from: number) => boolean;

/** Runs of whole lines that a test made for the lines of `pattern` accepts. */
export function lineWindows(
  text: string,
  pattern: string,
  testFor: (wanted: readonly string[]) => WindowTest,
): Region[] {
  const withNewline = pattern.endsWith("\n");
  const wanted = (withNewline ? pattern.slice(0, -1) : pattern).split("\n");
  const lines = splitLines(text);
  const texts = lines.map((line) => line.text);
  const accepts = testFor(wanted);
  const found: Region[] = [];
  for (let index = 0; index + wanted.length <= lines.length; index++) {
    const first = lines[index];
    const last = lines[index + wanted.length - 1];
    if (first === undefined || last === undefined || !accepts(texts, index)) continue;
    found.push({ start: first.start, end: withNewline ? Math.min(last.end + 1, text.length) : last.end });
  }
  return found;
}

/** Left to right, each starting behind the one before. */
export function withoutOverlaps(regions: readonly Region[]): Region[] {
  const kept: Region[] = [];
  let free = 0;
  for (const region of regions) {
    if (region.start < free) continue;
    kept.push(region);
    free = region.end;
  }
  return kept;
}
