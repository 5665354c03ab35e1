import type { FoundLine } from "./types.js";

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly content: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** Matches with the lines around them; `lines` is sorted by path and line and holds both. */
export function withContext(lines: readonly FoundLine[], context: number): SearchMatch[] {
  return lines.flatMap((found, index) => {
    if (!found.isMatch) return [];
    const match = { path: found.path, line: found.line, content: found.text };
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

/** The dense form: each path once, its matches below it. Context lines are marked with a dash. */
export function groupedText(matches: readonly SearchMatch[]): string {
  const blocks = new Map<string, Map<number, string>>();
  for (const { path, line, content, before = [], after = [] } of matches) {
    const block = blocks.get(path) ?? new Map<number, string>();
    blocks.set(path, block);
    for (const [index, text] of before.entries()) keep(block, line - before.length + index, `- ${text}`);
    block.set(line, `: ${content}`);
    for (const [index, text] of after.entries()) keep(block, line + 1 + index, `- ${text}`);
  }
  return [...blocks]
    .map(([path, block]) => {
      const lines = [...block].sort(([left], [right]) => left - right);
      return [path, ...lines.map(([line, text]) => `  ${line}${text}`)].join("\n");
    })
    .join("\n");
}

function keep(block: Map<number, string>, line: number, text: string): void {
  if (!block.has(line)) block.set(line, text);
}
