import { spelledOut, visible } from "../../base/visible-text.js";
import type { ApprovalRequest, JudgedSegment } from "../../call/scope.js";
import type { Output } from "../output.js";

/** What fits on a screen of a long text: so much of its beginning, and as much of its end. */
const PART_CHARS = 600;
const PART_LINES = 12;
const SEGMENT_CHARS = 160;
const MAX_SEGMENTS = 20;
const INLINE_CHARS = 60;
const INDENT = "   ";
const LABEL_CHARS = 9;
const SET_IN = " ".repeat(INDENT.length + LABEL_CHARS + 3);
const NARROWEST = 20;

export interface Page {
  readonly out: Output;
  readonly columns: number;
  /** Leave nothing out. */
  readonly whole?: boolean;
}

/** Everything a person should know before answering, exactly as it is. */
export function questionLines(request: ApprovalRequest, page: Page): readonly string[] {
  const { out } = page;
  const { environment, session, tool, reason } = request;
  return [
    "",
    ...field(
      { label: out.ascii ? "!!" : "⚠️ ", text: `${tool} asks for approval: ${reason}`, indent: "" },
      page,
    ),
    ...Object.entries(request.args).flatMap(([name, value]) => argumentLines(name, value, page)),
    ...effectLines(request, page),
    ...segmentLines(request.segments, page),
    ...field({ label: "where", text: `environment ${environment}, folder ${session.cwd}` }, page),
    ...field({ label: "rule", text: request.rule }, page),
    ...(request.review === undefined ? [] : field({ label: "reviewer", text: request.review }, page)),
    ...(offersSession(request)
      ? field({ label: "session", text: `would cover ${kindsOf(request)}` }, page)
      : []),
    ...(offersAlways(request)
      ? [
          ...field({ label: "always", text: "would remember" }, page),
          ...request.remember.flatMap((entry) => block(entry, page)),
        ]
      : []),
  ];
}

/** What `w` after `a` means, before it counts. */
export function rememberLines(request: ApprovalRequest, page: Page): readonly string[] {
  return [
    ...field({ label: "exact", text: "remembers for good, for this text only:" }, page),
    ...request.remember.flatMap((entry) => block(entry, page)),
    ...field({ label: "widen", text: `remembers for good ${kindsOf(request)}` }, page),
  ];
}

export function offersSession({ sessionKeys }: ApprovalRequest): boolean {
  return sessionKeys.length > 0;
}

export function offersAlways({ remember, sessionKeys }: ApprovalRequest): boolean {
  return remember.length > 0 && sessionKeys.length > 0;
}

function kindsOf({ sessionKeys }: ApprovalRequest): string {
  return `every call asked about for ${sessionKeys.join(", ")}, also with other arguments`;
}

function argumentLines(name: string, value: unknown, page: Page): readonly string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value !== "string" && text.length <= INLINE_CHARS) return unlabelled(`${name}  ${text}`, page);
  return [...unlabelled(`${name}${sizeOf(text)}`, page), ...block(text, page)];
}

function sizeOf(text: string): string {
  const lines = text.split("\n").length;
  if (lines === 1 && text.length <= PART_CHARS) return "";
  return `  (${text.length} characters${lines === 1 ? "" : `, ${lines} lines`})`;
}

/** Effects that the arguments already show word for word are named without repeating them. */
function effectLines({ effects, args }: ApprovalRequest, page: Page): readonly string[] {
  const texts = new Set(Object.values(args));
  return effects.flatMap(({ action, resource }) =>
    field({ label: "does", text: texts.has(resource) ? action : `${action}  ${resource}` }, page),
  );
}

const MARK = { safe: "ok", danger: "warning", hardline: "error" } as const;

/** Those that are asked about come first when there are too many to show. */
function segmentLines(segments: readonly JudgedSegment[], page: Page): readonly string[] {
  const all = page.whole === true || segments.length <= MAX_SEGMENTS;
  const asked = segments.filter(({ verdict }) => verdict !== "safe");
  const listed = all ? segments : asked.slice(0, MAX_SEGMENTS);
  const left = segments.length - listed.length;
  const lines = listed.flatMap(({ text, verdict, reason }, index) => {
    const shown = page.whole === true ? text : shortened(text, SEGMENT_CHARS);
    const why = verdict === "safe" ? "" : `  ${reason}`;
    const mark = page.out.mark(MARK[verdict]);
    const paint = verdict === "safe" ? undefined : page.out.color.red;
    return field({ label: index === 0 ? "parts" : "", text: `${shown}${why}`, mark, paint }, page);
  });
  return left === 0
    ? lines
    : [...lines, ...field({ label: "", text: `and ${left} more; v shows all` }, page)];
}

function shortened(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  return `${text.slice(0, half)} ... ${text.length - 2 * half} more ... ${text.slice(-half)}`;
}

/** A labelled text. Where it wraps it is set in further than anything this program begins a line with. */
function field(
  options: {
    readonly label: string;
    readonly text: string;
    readonly indent?: string;
    readonly mark?: string;
    readonly paint?: ((text: string) => string) | undefined;
  },
  page: Page,
): readonly string[] {
  const { label, text, indent = INDENT, mark, paint = (row: string) => row } = options;
  const start = indent === "" ? `${label} ` : `${indent}${label.padEnd(LABEL_CHARS)}`;
  return rows(text, page, { before: SET_IN.length, byWords: true }).map((row, index) => {
    if (index > 0) return SET_IN + paint(row);
    const painted = indent === "" ? page.out.color.yellow(row) : paint(row);
    return `${start}${mark === undefined ? "" : `${mark} `}${painted}`;
  });
}

function unlabelled(text: string, page: Page): readonly string[] {
  return rows(text, page, { before: SET_IN.length, byWords: true }).map(
    (row, index) => (index === 0 ? INDENT : SET_IN) + row,
  );
}

/**
 * A text behind a bar, each row with its own bar: no part of it, also where a long line wraps, can look like
 * something this program says.
 */
function block(text: string, page: Page): readonly string[] {
  const { out, whole } = page;
  const bar = `${INDENT}${out.ascii ? "|" : "│"} `;
  const barred = (part: string) =>
    part.split("\n").flatMap((line) => rows(line, page, { before: bar.length, byWords: false }));
  const lines = text.split("\n");
  if (whole === true || (text.length <= 2 * PART_CHARS && lines.length <= 2 * PART_LINES)) {
    return barred(text).map((row) => bar + row);
  }
  const head = lines.slice(0, PART_LINES).join("\n").slice(0, PART_CHARS);
  const tail = lines.slice(-PART_LINES).join("\n").slice(-PART_CHARS);
  const left = text.length - head.length - tail.length;
  return [
    ...barred(head).map((row) => bar + row),
    ...unlabelled(`${left} of ${text.length} characters not shown here; v shows all; the end is:`, page),
    ...barred(tail).map((row) => bar + row),
  ];
}

interface Cell {
  readonly text: string;
  readonly width: number;
}

/** Cut to the width of the terminal; `byWords` at a blank where there is one, for texts that are not exact. */
function rows(
  line: string,
  { out, columns }: Page,
  { before, byWords }: { readonly before: number; readonly byWords: boolean },
): readonly string[] {
  const width = Math.max(columns - before - 1, NARROWEST);
  const done: string[] = [];
  let row: Cell[] = [];
  let used = 0;
  for (const character of line) {
    const cell = cellOf(character, out);
    while (used > 0 && used + cell.width > width) {
      const blank = byWords ? row.findLastIndex(({ text }) => text === " ") : -1;
      const rest = blank > 0 ? row.splice(blank + 1) : [];
      done.push(textOf(row));
      row = rest;
      used = rest.reduce((sum, each) => sum + each.width, 0);
    }
    row.push(cell);
    used += cell.width;
  }
  return [...done, textOf(row)];
}

/** What is not ASCII may be two columns wide. */
function cellOf(character: string, out: Output): Cell {
  const shown = out.ascii && character > "\x7e" ? spelledOut(character) : visible(character);
  if (shown !== character) return { text: out.color.inverse(shown), width: shown.length };
  return { text: character, width: character < "\x7f" ? 1 : 2 };
}

function textOf(row: readonly Cell[]): string {
  return row.map(({ text }) => text).join("");
}
