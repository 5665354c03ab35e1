/** A piece of text with its place; y grows upwards, as in the document. */
export interface TextPiece {
  readonly str: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly fontSize: number;
}

interface Cell {
  text: string;
  readonly x: number;
  end: number;
}

export interface Line {
  readonly y: number;
  readonly fontSize: number;
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly rows: readonly (readonly string[])[];
}

/** A gap of this many letters parts two columns; between words it is one at most. */
const COLUMN_GAP = 1.6;
const MAX_COLUMN = 400;

/** Pieces that stand beside each other, from the top down, cut where a column ends. */
export function linesOf(pieces: readonly TextPiece[]): readonly Line[] {
  const visible = pieces.filter(({ str }) => str.trim() !== "");
  const sorted = [...visible].sort((a, b) => b.y - a.y || a.x - b.x);
  const rows: TextPiece[][] = [];
  for (const piece of sorted) {
    const row = rows.at(-1);
    const near = row?.[0] !== undefined && Math.abs(row[0].y - piece.y) <= Math.max(piece.fontSize, 4) * 0.4;
    if (row !== undefined && near) row.push(piece);
    else rows.push([piece]);
  }
  return rows.map((row) => {
    const ordered = [...row].sort((a, b) => a.x - b.x);
    const fontSize = Math.max(...ordered.map((piece) => piece.fontSize));
    return { y: ordered[0]?.y ?? 0, fontSize, cells: cellsOf(ordered) };
  });
}

function cellsOf(row: readonly TextPiece[]): readonly Cell[] {
  const cells: Cell[] = [];
  for (const { str, x, width, fontSize } of row) {
    const last = cells.at(-1);
    const letter = fontSize * 0.5;
    const gap = last === undefined ? 0 : x - last.end;
    if (last === undefined || gap > letter * COLUMN_GAP) {
      cells.push({ text: str.trim(), x, end: x + width });
      continue;
    }
    const spaced = gap > letter * 0.3 && !last.text.endsWith(" ") && !str.startsWith(" ");
    last.text = `${last.text}${spaced ? " " : ""}${str}`.trimEnd();
    last.end = Math.max(last.end, x + width);
  }
  return cells;
}

/** The page as it looks, columns kept by spaces. */
export function laidOut(lines: readonly Line[]): string {
  const all = lines.flatMap(({ cells }) => cells);
  if (all.length === 0) return "";
  const left = Math.min(...all.map(({ x }) => x));
  const letter = median(all.map(({ text, x, end }) => (end - x) / Math.max(text.length, 1))) || 5;
  const height = median(gapsOf(lines)) || 12;
  const out: string[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    if (before !== undefined && before.y - line.y > height * 1.7) out.push("");
    let text = "";
    for (const cell of line.cells) {
      const column = Math.min(Math.round((cell.x - left) / letter), MAX_COLUMN);
      text = `${text === "" ? "" : `${text}  `}`.padEnd(column) + cell.text;
    }
    out.push(text.trimEnd());
    before = line;
  }
  return out.join("\n");
}

/** Runs of lines whose cells stand below each other. */
export function tablesIn(
  lines: readonly Line[],
): readonly (Table & { readonly from: number; readonly to: number })[] {
  const found: (Table & { from: number; to: number })[] = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    while (to < lines.length && (lines[to]?.cells.length ?? 0) >= 2) to += 1;
    const rows = to - from >= 2 ? inColumns(lines.slice(from, to)) : undefined;
    if (rows !== undefined) found.push({ rows, from, to });
    from = Math.max(to, from + 1);
  }
  return found;
}

/** Columns are what the cells of all lines cover together; two cells of a line never share one. */
function inColumns(lines: readonly Line[]): readonly (readonly string[])[] | undefined {
  const spans = lines
    .flatMap(({ cells }) => cells.map(({ x, end }) => [x, end] as [number, number]))
    .sort(([a], [b]) => a - b);
  const columns: [number, number][] = [];
  for (const [x, end] of spans) {
    const last = columns.at(-1);
    if (last !== undefined && x < last[1]) last[1] = Math.max(last[1], end);
    else columns.push([x, end]);
  }
  if (columns.length < 2) return undefined;
  const rows: string[][] = [];
  for (const { cells } of lines) {
    const row = columns.map(() => "");
    for (const { text, x } of cells) {
      const at = columns.findIndex(([left, right]) => x >= left && x < Math.max(right, left + 1));
      if (at < 0 || row[at] !== "") return undefined;
      row[at] = text;
    }
    rows.push(row);
  }
  return rows;
}

const BULLET = /^[•◦▪‣●–]\s+/;

/** Headings by their size, paragraphs by the room between lines, tables as tables. */
export function asMarkdown(lines: readonly Line[]): string {
  const body = commonSize(lines);
  const larger = [...new Set(lines.map(({ fontSize }) => Math.round(fontSize)))].filter(
    (size) => size >= body * 1.15,
  );
  const levels = larger.sort((a, b) => b - a).slice(0, 4);
  const height = median(gapsOf(lines)) || body * 1.2;
  const tables = tablesIn(lines);
  const blocks: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push(paragraph.join(" ").replace(/(\p{L})- (\p{Ll})/gu, "$1$2"));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const table = tables.find(({ from }) => from === at);
    if (table !== undefined) {
      endParagraph();
      blocks.push(markdownTable(table.rows));
      at = table.to - 1;
      continue;
    }
    const line = lines[at];
    if (line === undefined) continue;
    const text = line.cells.map((cell) => cell.text).join("  ");
    const level = levels.indexOf(Math.round(line.fontSize));
    const previous = lines[at - 1];
    if (level >= 0 && text.length <= 160) {
      endParagraph();
      blocks.push(`${"#".repeat(level + 1)} ${text}`);
      continue;
    }
    if (previous !== undefined && previous.y - line.y > height * 1.4) endParagraph();
    if (BULLET.test(text) || /^\d{1,3}[.)]\s/.test(text)) {
      endParagraph();
      paragraph.push(text.replace(BULLET, "- "));
    } else paragraph.push(text);
  }
  endParagraph();
  return blocks.join("\n\n");
}

function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

function commonSize(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { fontSize, cells } of lines) {
    const size = Math.round(fontSize);
    letters.set(size, (letters.get(size) ?? 0) + cells.reduce((sum, { text }) => sum + text.length, 0));
  }
  return [...letters].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 12;
}

function gapsOf(lines: readonly Line[]): readonly number[] {
  return lines.slice(1).map((line, at) => (lines[at]?.y ?? 0) - line.y);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
