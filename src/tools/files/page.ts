import type { LineWindow, RawLine } from "./lines.js";
import { decodeText, type TextEncoding } from "./text-encoding.js";

export const MAX_LINE_CHARS = 2000;

/** A window of lines as a model sees it. */
export interface Page {
  readonly content: string;
  readonly cutLines: readonly number[];
  readonly lineEndings: "lf" | "crlf";
  readonly missingFinalNewline: boolean;
}

export async function renderPage(
  window: LineWindow,
  { offset, encoding }: { offset: number; encoding: TextEncoding },
): Promise<Page> {
  const { lines } = window;
  // Carriage returns are hidden only where hiding them loses nothing: when every line has one.
  const crlf = lines.length > 0 && lines.every((line) => !line.terminated || endsWithCarriageReturn(line));
  const hidden = crlf && lines.some((line) => line.terminated);
  const cutLines: number[] = [];
  const decoded: string[] = [];
  for (const [index, line] of lines.entries()) {
    const raw = await decodeText(line.bytes, { ...encoding, bom: false });
    const shown = hidden && line.terminated ? raw.replace(/\r$/, "") : raw;
    const number = offset + index;
    if (shown.length > MAX_LINE_CHARS) cutLines.push(number);
    decoded.push(`${number}|${cutLine(shown, line.length)}`);
  }
  return {
    content: decoded.join("\n"),
    cutLines,
    lineEndings: hidden ? "crlf" : "lf",
    missingFinalNewline: lines.at(-1)?.terminated === false,
  };
}

function endsWithCarriageReturn(line: RawLine): boolean {
  // A line longer than what was kept shows no end; its carriage return is cut off with the rest.
  return line.length > line.bytes.length || line.bytes.at(-1) === 13;
}

function cutLine(line: string, bytes: number): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const code = line.charCodeAt(MAX_LINE_CHARS - 1);
  const splitsPair = code >= 0xd800 && code <= 0xdbff;
  return `${line.slice(0, splitsPair ? MAX_LINE_CHARS - 1 : MAX_LINE_CHARS)}… [cut: the line has ${bytes} bytes]`;
}
