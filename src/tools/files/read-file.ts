import { sha256 } from "../../base/hash.js";
import type { FileStat } from "../../env/environment.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { ToolResult } from "../../tool/result.js";
import type { CallContext } from "../../tool/tool.js";
import { type LineWindow, readLineWindow } from "./lines.js";
import { type ImageSource, openSource, statRegularFile, type TextSource } from "./open-text.js";
import { MAX_LINE_CHARS, renderPage } from "./page.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, type Location, locate } from "./paths.js";
import { LineIndex } from "./read/line-index.js";
import { isCounted, trackerOf } from "./read-tracker.js";

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 2000;
const MAX_RESULT_CHARS = 100_000;
const LARGE_FILE_BYTES = 512 * 1024;

interface ReadResult {
  readonly success: true;
  readonly status: "success" | "unchanged";
  readonly path: string;
  readonly environment: string;
  readonly content?: string;
  readonly hint?: string;
  readonly kind?: "image";
  readonly mime_type?: string;
  readonly width?: number;
  readonly height?: number;
  readonly file_size?: number;
  readonly [field: string]: unknown;
}

export default defineTool({
  name: "read_file",
  aliases: ["file_read"],
  toolset: "file",
  emoji: "📖",
  description:
    "Read a file as numbered lines (N|text). Notebooks, .docx, .xlsx and .pdf become text; png, jpeg, gif and webp " +
    "are shown.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      offset: { type: "number", default: 1, description: "First line, from 1." },
      limit: { type: "number", default: DEFAULT_LIMIT, description: `Lines, at most ${MAX_LIMIT}.` },
    },
    required: ["path"],
    additionalProperties: false,
  },
  permissions: ["file:read"],
  idempotent: true,
  maxResultSizeChars: Number.POSITIVE_INFINITY,

  effects: ({ path }, scope) => [
    { action: "file:read", resource: absolutePath(path, scope), mode: "read", reversible: true },
  ],

  async handler(args, ctx): Promise<ReadResult | ToolResult<ReadResult>> {
    const offset = clamp(args.offset, { fallback: 1, min: 1, max: Number.MAX_SAFE_INTEGER });
    const limit = clamp(args.limit, { fallback: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT });
    const location = await locate(args.path, ctx);
    refuseDevice(location);
    const stat = await statRegularFile(location, ctx);
    const source = await openSource(location, stat, ctx);
    if (source.kind === "image") return imageResult(source, { location, stat, ctx });
    const window = await readWindow({ source, file: location.real, stat, offset, limit, ctx });
    const page = await renderPage(window, { offset, encoding: source.encoding });
    refuseOversized(page.content, { offset, lines: window.lines.length, settings: ctx.settings });

    const tracker = trackerOf(ctx);
    const hash = sha256(`${window.totalLines}\n${page.content}`, "base64");
    const range = `${offset}+${limit}`;
    const count = isCounted(ctx) ? tracker.countRead({ file: location.real, range, hash }) : 1;
    tracker.noteSeen(location.real, stat);
    const base = { success: true, path: location.path, environment: ctx.environment.name } as const;
    if (count > 1) return { ...base, ...unchanged({ path: location.path, count }) };

    const last = offset + window.lines.length - 1;
    const truncated = window.totalIsLowerBound || last < window.totalLines;
    const hints = hintsFor({ offset, last, window, size: stat.size, cutLines: page.cutLines });
    return {
      ...base,
      status: "success",
      content: page.content,
      offset,
      lines: window.lines.length,
      total_lines: window.totalLines,
      ...(window.totalIsLowerBound && { total_lines_is_lower_bound: true }),
      file_size: stat.size,
      truncated,
      ...(page.lineEndings === "crlf" && { line_endings: "crlf" }),
      ...(page.missingFinalNewline && { no_final_newline: true }),
      converted_from: source.convertedFrom,
      ...(page.cutLines.length > 0 && { cut_lines: page.cutLines }),
      ...(hints.length > 0 && { hint: hints.join(" ") }),
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Read ten lines from the middle of a file",
      files: { "numbers.txt": Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("") },
      arguments: { path: "numbers.txt", offset: 41, limit: 3 },
      result: {
        content: "41|line 41\n42|line 42\n43|line 43",
        total_lines: 100,
        truncated: true,
        hint: "Lines 41–43 of 100; continue with offset=44.",
      },
    },
  ],
});

/** The picture goes to the model as such; the facts about it are what programs and people get. */
function imageResult(
  { image, bytes }: ImageSource,
  { location, stat, ctx }: { location: Location; stat: FileStat; ctx: CallContext },
): ReadResult | ToolResult<ReadResult> {
  const tracker = trackerOf(ctx);
  const hash = sha256(bytes, "base64");
  const count = isCounted(ctx) ? tracker.countRead({ file: location.real, range: "image", hash }) : 1;
  tracker.noteSeen(location.real, stat);
  const base = { success: true, path: location.path, environment: ctx.environment.name } as const;
  if (count > 1) return { ...base, ...unchanged({ path: location.path, count }) };
  const output: ReadResult = {
    ...base,
    status: "success",
    kind: "image",
    mime_type: image.mimeType,
    width: image.width,
    height: image.height,
    file_size: bytes.length,
  };
  return new ToolResult({
    success: true,
    output,
    content: [
      text(JSON.stringify(output)),
      { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: image.mimeType },
    ],
  });
}

function clamp(value: unknown, range: { fallback: number; min: number; max: number }): number {
  if (typeof value !== "number" || Number.isNaN(value)) return range.fallback;
  return Math.min(range.max, Math.max(range.min, Math.floor(value)));
}

function refuseOversized(
  content: string,
  { offset, lines, settings }: { offset: number; lines: number; settings: Readonly<Record<string, unknown>> },
): void {
  const configured = settings.file_read_max_chars;
  const max = typeof configured === "number" && configured > 0 ? configured : MAX_RESULT_CHARS;
  if (content.length <= max) return;
  const fitting = Math.max(1, Math.floor((lines * max * 0.9) / content.length));
  throw new ToolError(
    `These ${lines} lines have ${content.length.toLocaleString("en")} characters; one read returns at most ${max.toLocaleString("en")}.`,
    { code: "failed", hint: `Narrow the range, for example offset=${offset} limit=${fitting}.` },
  );
}

function unchanged({ path, count }: { path: string; count: number }) {
  if (count >= 4) {
    throw new ToolError(`BLOCKED: this range of ${path} was read ${count} times and has not changed.`, {
      code: "blocked",
      hint: "Use what the first read returned, or read another range; do not repeat this call.",
    });
  }
  return {
    status: "unchanged",
    dedup: true,
    message: "The file has not changed since you read this range; the earlier result is still right.",
    ...(count === 3 && { _warning: "Third identical read. The next one will be blocked." }),
  } as const;
}

function hintsFor(state: {
  offset: number;
  last: number;
  window: LineWindow;
  size: number;
  cutLines: readonly number[];
}): string[] {
  const { offset, last, window, size, cutLines } = state;
  const hints: string[] = [];
  const total = `${window.totalLines}${window.totalIsLowerBound ? "+" : ""}`;
  if (window.totalLines === 0) hints.push("The file is empty.");
  else if (window.lines.length === 0)
    hints.push(`offset=${offset} is behind the end; the file has ${total} lines.`);
  else if (last < window.totalLines || window.totalIsLowerBound) {
    hints.push(`Lines ${offset}–${last} of ${total}; continue with offset=${last + 1}.`);
  }
  if (size > LARGE_FILE_BYTES && hints.length > 0) {
    hints.push("The file is large: search_files finds the place faster than paging.");
  }
  if (cutLines.length > 0)
    hints.push(`${cutLines.length} long line(s) were cut at ${MAX_LINE_CHARS} characters.`);
  return hints;
}

function humanText(out: ReadResult): string {
  if (out.kind === "image") {
    return `${mark.path(out.path)}: ${out.mime_type} picture, ${out.width} × ${out.height} pixels, ${out.file_size} bytes`;
  }
  if (out.content === undefined) return `${mark.path(out.path)}: unchanged since the last read`;
  const shown = withDimGutter(out.content);
  return out.hint === undefined ? shown : `${shown}${shown === "" ? "" : "\n"}${mark.dim(`(${out.hint})`)}`;
}

function withDimGutter(content: string): string {
  if (content === "") return "";
  const lines = content.split("\n");
  const width = lines.at(-1)?.indexOf("|") ?? 0;
  return lines
    .map((line) => {
      const bar = line.indexOf("|");
      return `${mark.dim(`${line.slice(0, bar).padStart(width)} │`)} ${line.slice(bar + 1)}`;
    })
    .join("\n");
}

const MIB = 1024 * 1024;
/**
 * Files up to this size are counted to their end whatever is read of them. Of larger ones only what comes along
 * with the window: knowing the number of the last line is not worth reading all.
 */
const COUNTED_WHOLE = { here: 32 * MIB, elsewhere: 4 * MIB };

/** The wanted lines of a file. What is learned about a large one is kept for the next page. */
async function readWindow(request: {
  readonly source: TextSource;
  readonly file: string;
  readonly stat: FileStat;
  readonly offset: number;
  readonly limit: number;
  readonly ctx: CallContext;
}): Promise<LineWindow> {
  const { source, file, stat, offset, limit, ctx } = request;
  const place = ctx.environment.kind === "local" ? "here" : "elsewhere";
  const { chunksFrom } = source;
  const index = chunksFrom === undefined ? undefined : ctx.keep(LineIndex);
  index?.noteEncoding(file, stat, source.encoding);
  const total = index?.totalLines(file, stat);
  const start = index?.nearest(file, stat, offset);
  const window = await readLineWindow({
    ...(chunksFrom !== undefined && start !== undefined
      ? { chunks: chunksFrom(start.byte), start }
      : { chunks: source.chunks, start: { line: 1, byte: source.firstByte } }),
    offset,
    limit,
    // Four bytes are the longest character, so cutting a line never meets a broken one.
    maxLineBytes: (MAX_LINE_CHARS + 1) * 4,
    countAll: total === undefined && stat.size <= COUNTED_WHOLE[place],
    ...(chunksFrom !== undefined && { endByte: stat.size }),
    ...(index !== undefined && { onPosition: (position) => index.note(file, stat, position) }),
    signal: ctx.signal,
  });
  if (!window.totalIsLowerBound) index?.noteTotal(file, stat, window.totalLines);
  return window.totalIsLowerBound && total !== undefined
    ? { ...window, totalLines: total, totalIsLowerBound: false }
    : window;
}
