import type { SnapshotLine } from "./snapshot.js";

export interface Fitted {
  readonly text: string;
  /** Something was left out. */
  readonly truncated: boolean;
}

const SHORT_NAME = 48;
/** How many of a row of like things are shown in full, from both ends, in steps that leave less and less. */
const ENDS = [
  { first: 400, last: 100 },
  { first: 200, last: 50 },
  { first: 100, last: 25 },
  { first: 50, last: 12 },
  { first: 25, last: 6 },
  { first: 12, last: 3 },
  { first: 5, last: 2 },
  { first: 2, last: 1 },
] as const;

/**
 * As many lines as fit. What can be used stays longest: first text goes, from the end; then long rows of like things
 * (a thousand links) become their ends and a range of refs, which can be used all the same.
 */
export function fitLines(lines: readonly SnapshotLine[], maxTokens: number): Fitted {
  const all = lines.map(written);
  if (sumOf(all) <= maxTokens) return { text: all.join("\n"), truncated: false };
  const kept = lines.filter((line) => line.kept);
  const room = maxTokens - sumOf(kept.map(written));
  if (room > 0) return { text: withText(lines, room), truncated: true };
  const short = kept.map((line) => ({ ...line, text: shortened(line.text) }));
  for (const ends of ENDS) {
    const rows = folded(short, ends);
    if (sumOf(rows) <= maxTokens) return { text: rows.join("\n"), truncated: true };
  }
  return { text: headOf(folded(short, { first: 1, last: 1 }), maxTokens), truncated: true };
}

export function written({ depth, text }: Pick<SnapshotLine, "depth" | "text">): string {
  return `${" ".repeat(depth)}- ${text}`;
}

/**
 * Of how many tokens a text is at most, give or take: every mark counts, words by their length. Refs are full of
 * marks and digits, for which the usual four characters a token are far too few.
 */
export function tokensOf(text: string): number {
  let tokens = 1;
  for (const [part] of text.matchAll(/[A-Za-z]+|\d+|[^\sA-Za-z\d]/g)) {
    const first = part.charCodeAt(0);
    if (first >= 48 && first <= 57) tokens += Math.ceil(part.length / 3);
    else tokens += Math.ceil(part.length / 6);
  }
  return tokens;
}

function sumOf(rows: readonly string[]): number {
  return rows.reduce((sum, row) => sum + tokensOf(row), 0);
}

/** Everything that is kept, and of the rest what comes first. */
function withText(lines: readonly SnapshotLine[], room: number): string {
  let left = room;
  let missing = 0;
  const rows: string[] = [];
  const tell = () => {
    if (missing > 0) rows.push(`- (${missing} lines of text left out)`);
    left -= missing > 0 ? 9 : 0;
    missing = 0;
  };
  for (const line of lines) {
    const row = written(line);
    const cost = line.kept ? 0 : tokensOf(row);
    if (cost > 0 && cost + 9 > left) {
      missing += 1;
      // From here on only what is kept: text in patches would read as if it belonged together.
      left = Math.min(left, 9);
      continue;
    }
    if (missing > 0 && left > 9) tell();
    left -= cost;
    rows.push(row);
  }
  if (missing > 0) rows.push(`- (${missing} lines of text left out)`);
  return rows.join("\n");
}

/** Rows of the same kind next to each other, as their ends. */
function folded(
  lines: readonly SnapshotLine[],
  { first, last }: { readonly first: number; readonly last: number },
): readonly string[] {
  const rows: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const role = lines[at]?.role;
    let end = at;
    while (end < lines.length && lines[end]?.role === role) end += 1;
    const run = lines.slice(at, end);
    at = end;
    if (run.length <= first + last + 1) {
      rows.push(...run.map(written));
      continue;
    }
    const middle = run.slice(first, run.length - last);
    const refs = middle.flatMap(({ ref }) => ref ?? []);
    const range = refs.length === 0 ? "" : `, refs ${refs[0]} to ${refs.at(-1)}`;
    rows.push(...run.slice(0, first).map(written));
    rows.push(`- (${middle.length} more of ${role}${range})`);
    rows.push(...run.slice(run.length - last).map(written));
  }
  return rows;
}

function headOf(rows: readonly string[], maxTokens: number): string {
  const shown: string[] = [];
  let left = maxTokens - 12;
  for (const row of rows) {
    left -= tokensOf(row);
    if (left < 0) break;
    shown.push(row);
  }
  shown.push(`- (${rows.length - shown.length} more lines left out)`);
  return shown.join("\n");
}

function shortened(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)"/, (whole, name: string) =>
    name.length > SHORT_NAME ? `"${name.slice(0, SHORT_NAME).replace(/\\+$/, "")}…"` : whole,
  );
}
