import type { Span } from "./types.js";

/** Characters of one line that a result shows. */
const MAX_SHOWN = 500;
const SHOWN_BEFORE_MATCH = 120;
const MAX_SPANS = 20;

/** A line, or of a long one the part around the first match. The matches are given in bytes. */
export function shorten(
  line: string,
  matches: readonly { readonly start: number; readonly end: number }[],
): { readonly text: string; readonly spans?: readonly Span[] } {
  const spans = inCharacters(line, matches);
  if (line.length <= MAX_SHOWN) return { text: line, ...(spans.length > 0 && { spans }) };
  const first = spans[0]?.[0] ?? 0;
  const start = Math.min(Math.max(0, first - SHOWN_BEFORE_MATCH), line.length - MAX_SHOWN);
  const end = start + MAX_SHOWN;
  const lead = start > 0 ? "…" : "";
  const text = `${lead}${line.slice(start, end)}${end < line.length ? "…" : ""} [line of ${line.length} characters]`;
  const moved = spans
    .map(([from, to]) => [from - start + lead.length, Math.min(to, end) - start + lead.length] as const)
    .filter(([from, to]) => from < to && to <= text.length);
  return { text, ...(moved.length > 0 && { spans: moved }) };
}

/** A match may reach into further lines; the last line end belongs to none. */
export function withoutLineEnd(line: string): string {
  return line.replace(/\r?\n$/, "");
}

function inCharacters(
  line: string,
  matches: readonly { readonly start: number; readonly end: number }[],
): Span[] {
  const shown = matches.slice(0, MAX_SPANS).filter(({ start, end }) => end > start);
  if (shown.length === 0) return [];
  const bytes = Buffer.from(line);
  const at = bytes.length === line.length ? (byte: number) => byte : characterAt(bytes);
  return shown.map(({ start, end }) => [at(start), Math.min(at(end), line.length)] as const);
}

/** Matches come in order, so each is counted from where the last one was. */
function characterAt(bytes: Buffer): (byte: number) => number {
  let knownByte = 0;
  let known = 0;
  return (byte) => {
    known += bytes.subarray(knownByte, byte).toString("utf8").length;
    knownByte = Math.max(knownByte, byte);
    return known;
  };
}
