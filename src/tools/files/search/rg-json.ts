import type { FoundLine } from "./types.js";

/** Characters of one line that a result shows. */
const MAX_SHOWN = 500;
const SHOWN_BEFORE_MATCH = 120;

interface RgText {
  readonly text?: string;
  readonly bytes?: string;
}

interface RgEvent {
  readonly type: string;
  readonly data: {
    readonly path?: RgText;
    readonly lines?: RgText;
    readonly line_number?: number;
    readonly submatches?: readonly { readonly start: number }[];
    readonly binary_offset?: number | null;
  };
}

/** Collects the lines of one file until ripgrep says whether it was text. */
export class RgJsonReader {
  #current: FoundLine[] = [];

  constructor(private readonly onFile: (lines: readonly FoundLine[]) => boolean) {}

  /** False when the receiver has seen enough. */
  readonly read = (record: string): boolean => {
    const event = parseEvent(record);
    if (event === undefined) return true;
    if (event.type === "begin") this.#current = [];
    else if (event.type === "match" || event.type === "context") this.#current.push(foundLine(event));
    else if (event.type === "end") {
      const lines = this.#current;
      this.#current = [];
      const binary = event.data.binary_offset !== null && event.data.binary_offset !== undefined;
      return binary || lines.length === 0 ? true : this.onFile(lines);
    }
    return true;
  };
}

function parseEvent(record: string): RgEvent | undefined {
  if (!record.startsWith("{")) return undefined;
  try {
    return JSON.parse(record) as RgEvent;
  } catch {
    return undefined;
  }
}

function foundLine({ type, data }: RgEvent): FoundLine {
  const line = textOf(data.lines).replace(/\r?\n$/, "");
  return {
    path: textOf(data.path).replace(/^\.\//, ""),
    line: data.line_number ?? 0,
    text: shorten(line, data.submatches?.[0]?.start ?? 0),
    isMatch: type === "match",
  };
}

function textOf(value: RgText | undefined): string {
  if (value?.text !== undefined) return value.text;
  return value?.bytes === undefined ? "" : Buffer.from(value.bytes, "base64").toString("utf8");
}

/** A long line around the place that matched. */
export function shorten(line: string, matchAtByte: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const matchAt = Buffer.from(line).subarray(0, matchAtByte).toString("utf8").length;
  const start = Math.min(Math.max(0, matchAt - SHOWN_BEFORE_MATCH), line.length - MAX_SHOWN);
  const end = start + MAX_SHOWN;
  const note = ` [line of ${line.length} characters]`;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}${note}`;
}
