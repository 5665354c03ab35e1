import { cellWidth, graphemesOf } from "../../base/cell-width.js";

/** Text that looks the same from its first to its last character. */
export interface Span {
  readonly text: string;
  paint?(text: string): string;
}

const PIECES =
  /\s+|[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+/gu;

interface Piece {
  readonly text: string;
  readonly width: number;
  readonly paint: Span["paint"];
}

/**
 * Rows that fit, broken at blanks where there are some. Every row is painted on its own, so that each can be drawn
 * without the one before it.
 */
export function wrapSpans(
  spans: readonly Span[],
  { width, indent = "" }: { readonly width: number; readonly indent?: string },
): readonly string[] {
  const done: string[] = [];
  let row: Piece[] = [];
  let used = 0;
  const room = () => Math.max(width - (done.length === 0 ? 0 : cellWidth(indent)), 1);
  const end = () => {
    done.push((done.length === 0 ? "" : indent) + painted(trimmed(row)));
    row = [];
    used = 0;
  };
  for (const piece of spans.flatMap(piecesOf)) {
    if (used > 0 && used + piece.width > room()) {
      end();
      if (piece.text.trim() === "") continue;
    }
    for (const part of fitting(piece, room)) {
      if (used > 0 && used + part.width > room()) end();
      row.push(part);
      used += part.width;
    }
  }
  end();
  return done;
}

/** Lines for people behind a mark, as rows that fit: all but the first are set in as far as the mark is wide. */
export function wrapLines(
  text: string,
  { mark, ...options }: { readonly mark: string; readonly width: number; paint?(row: string): string },
): readonly string[] {
  const indent = " ".repeat(cellWidth(mark));
  const width = Math.max(options.width - indent.length, 1);
  const rows = text.split("\n").flatMap((line) => wrapSpans([{ ...options, text: line }], { width }));
  return rows.map((row, index) => (index === 0 ? mark : indent) + row);
}

/** Words and the blanks between them; between characters of East Asian scripts a row may end anywhere. */
function piecesOf({ text, paint }: Span): readonly Piece[] {
  return (text.match(PIECES) ?? []).map((part) => ({
    text: part,
    width: cellWidth(part),
    paint,
  }));
}

/** A word longer than a row is cut. */
function fitting(piece: Piece, room: () => number): readonly Piece[] {
  if (piece.width <= room()) return [piece];
  const parts: Piece[] = [];
  let text = "";
  let width = 0;
  for (const grapheme of graphemesOf(piece.text)) {
    const more = cellWidth(grapheme);
    if (width > 0 && width + more > room()) {
      parts.push({ text, width, paint: piece.paint });
      text = "";
      width = 0;
    }
    text += grapheme;
    width += more;
  }
  return [...parts, { text, width, paint: piece.paint }];
}

function trimmed(row: readonly Piece[]): readonly Piece[] {
  const end = row.findLastIndex(({ text }) => text.trim() !== "");
  return row.slice(0, end + 1);
}

/** Neighbours that look alike are painted in one go. */
function painted(row: readonly Piece[]): string {
  let text = "";
  for (let at = 0; at < row.length; ) {
    const paint = row[at]?.paint;
    let same = "";
    for (; at < row.length && row[at]?.paint === paint; at += 1) same += row[at]?.text ?? "";
    text += paint === undefined ? same : paint(same);
  }
  return text;
}
