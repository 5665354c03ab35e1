import { shorten, withoutLineEnd } from "./shown-line.js";
import type { FoundLine } from "./types.js";

interface RgText {
  readonly text?: string;
  readonly bytes?: string;
}

interface RgEvent {
  readonly data: {
    readonly path?: RgText;
    readonly lines?: RgText;
    readonly line_number?: number;
    readonly submatches?: readonly { readonly start: number; readonly end: number }[];
    readonly binary_offset?: number | null;
  };
}

export interface RgFile {
  readonly path: string;
  readonly matches: number;
  /** What ripgrep said about its lines, unread: most of it will never be shown. */
  readonly records: readonly string[];
}

const MATCH = '{"type":"match"';
const CONTEXT = '{"type":"context"';
const BEGIN = '{"type":"begin"';
const END = '{"type":"end"';

/** Collects what ripgrep says of one file until it tells whether the file was text. */
export class RgJsonReader {
  #records: string[] = [];
  #matches = 0;

  constructor(private readonly onFile: (file: RgFile) => boolean) {}

  /** False when the receiver has seen enough. */
  readonly read = (record: string): boolean => {
    if (record.startsWith(MATCH)) {
      this.#matches++;
      this.#records.push(record);
    } else if (record.startsWith(CONTEXT)) this.#records.push(record);
    else if (record.startsWith(BEGIN)) this.#start();
    else if (record.startsWith(END)) return this.#end(record);
    return true;
  };

  #start(): void {
    this.#records = [];
    this.#matches = 0;
  }

  #end(record: string): boolean {
    const { path, binary } = ending(record);
    const file = { path, matches: this.#matches, records: this.#records };
    this.#start();
    return binary || file.matches === 0 ? true : this.onFile(file);
  }
}

/** There is one for each file, so the usual form is read without parsing all of it. */
const PLAIN_ENDING =
  /^\{"type":"end","data":\{"path":\{"text":"(?:\.\/)?([^"\\]+)"\},"binary_offset":(null|\d+),/;

function ending(record: string): { readonly path: string; readonly binary: boolean } {
  const [, path, offset] = PLAIN_ENDING.exec(record) ?? [];
  if (path !== undefined) return { path, binary: offset !== "null" };
  const { data } = JSON.parse(record) as RgEvent;
  return { path: pathOf(data.path), binary: typeof data.binary_offset === "number" };
}

/** The records of `count` matches from number `first` on with those around them, and how many matches come before. */
export function recordsAround(
  records: readonly string[],
  wanted: { readonly first: number; readonly count: number; readonly context: number },
): { readonly records: readonly string[]; readonly skipped: number } {
  const isMatch = records.map((record) => record.startsWith(MATCH));
  let seen = -1;
  let from = -1;
  let to = 0;
  for (const [at, match] of isMatch.entries()) {
    if (!match) continue;
    seen++;
    if (seen < wanted.first) continue;
    if (seen >= wanted.first + wanted.count) break;
    if (from === -1) from = at;
    to = at + 1;
  }
  if (from === -1) return { records: [], skipped: wanted.first };
  const start = Math.max(0, from - wanted.context);
  const before = isMatch.slice(start, from).filter(Boolean).length;
  return { records: records.slice(start, to + wanted.context), skipped: wanted.first - before };
}

export function foundLine(record: string): FoundLine {
  const { data } = JSON.parse(record) as RgEvent;
  return {
    path: pathOf(data.path),
    line: data.line_number ?? 0,
    isMatch: record.startsWith(MATCH),
    ...shorten(withoutLineEnd(textOf(data.lines)), data.submatches ?? []),
  };
}

function pathOf(path: RgText | undefined): string {
  return textOf(path).replace(/^\.\//, "");
}

function textOf(value: RgText | undefined): string {
  if (value?.text !== undefined) return value.text;
  return value?.bytes === undefined ? "" : Buffer.from(value.bytes, "base64").toString("utf8");
}
