import type { FoundLine, Span } from "./types.js";

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly content: string;
  /** Where in `content` it matched, for those who show it. */
  readonly spans?: readonly Span[];
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** Matches with the lines around them; `lines` is sorted by path and line and holds both. */
export function withContext(lines: readonly FoundLine[], context: number): SearchMatch[] {
  return lines.flatMap((found, index) => {
    if (!found.isMatch) return [];
    const spans = found.spans === undefined ? {} : { spans: found.spans };
    const match = { path: found.path, line: found.line, content: found.text, ...spans };
    if (context === 0) return [match];
    const near = (from: number, step: -1 | 1): string[] => {
      const texts: string[] = [];
      for (let at = from; ; at += step) {
        const other = lines[at];
        if (other?.path !== found.path || Math.abs(other.line - found.line) > context) return texts;
        texts.push(other.text);
      }
    };
    return [{ ...match, before: near(index - 1, -1).reverse(), after: near(index + 1, 1) }];
  });
}

export interface ShownLine {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  readonly spans: readonly Span[];
}

/** Each path once with its lines in order; a line that several matches show is there once. */
export function groupedByFile(matches: readonly SearchMatch[]): Map<string, ShownLine[]> {
  const files = new Map<string, Map<number, ShownLine>>();
  for (const { path, line, content, spans = [], before = [], after = [] } of matches) {
    const lines = files.get(path) ?? new Map<number, ShownLine>();
    files.set(path, lines);
    const around = (at: number, text: string) => {
      if (!lines.has(at)) lines.set(at, { line: at, text, isMatch: false, spans: [] });
    };
    for (const [index, text] of before.entries()) around(line - before.length + index, text);
    lines.set(line, { line, text: content, isMatch: true, spans });
    for (const [index, text] of after.entries()) around(line + 1 + index, text);
  }
  return new Map(
    [...files].map(([path, lines]) => [
      path,
      [...lines.values()].sort((left, right) => left.line - right.line),
    ]),
  );
}

/** The dense form: each path once, its matches below it. Context lines are marked with a dash. */
export function groupedText(matches: readonly SearchMatch[]): string {
  return [...groupedByFile(matches)]
    .map(([path, lines]) =>
      [path, ...lines.map(({ line, text, isMatch }) => `  ${line}${isMatch ? ":" : "-"} ${text}`)].join("\n"),
    )
    .join("\n");
}
