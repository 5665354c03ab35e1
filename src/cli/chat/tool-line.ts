import type { AgentEvent } from "../../agent/events.js";
import { cutToWidth } from "../../base/cell-width.js";
import { isRecord } from "../../base/record.js";
import { visible, visibleWithColours } from "../../base/visible-text.js";
import { renderMarks } from "../../tool/marked-text.js";
import { type Output, paintMarks } from "../output.js";
import { wrapLines } from "./rows.js";

const MOST_DIFF_LINES = 40;
const ERROR_LINES = 3;

/** What says most about a call, in this order. */
const TELLING = ["command", "path", "url", "query", "question", "goal", "pattern", "code", "name", "action"];

/** A call's arguments in a few words. */
export function argumentPreview(given: unknown): string {
  const args = typeof given === "string" ? parsed(given) : given;
  if (!isRecord(args)) return oneLine(typeof given === "string" ? given : "");
  const key = TELLING.find((name) => typeof args[name] === "string") ?? Object.keys(args)[0];
  if (key === undefined) return "";
  const value = args[key];
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, " ").trim());
}

export function elapsed(ms: number): string {
  if (ms < 100) return `${Math.max(Math.round(ms), 1)}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)}s`;
  return `${Math.floor(ms / 60_000)}m ${Math.floor((ms % 60_000) / 1000)}s`;
}

/** One row: a sign, what is called, with what, and how long it takes. */
export function toolLine(
  call: {
    readonly sign: string;
    readonly emoji: string;
    readonly name: string;
    readonly preview: string;
    readonly ms: number;
    readonly note?: string | undefined;
  },
  { out, columns }: { readonly out: Output; readonly columns: number },
): string {
  const { color } = out;
  const time = elapsed(call.ms);
  const head = `${call.sign} ${call.emoji}${color.bold(visible(call.name))}`;
  const note = call.note === undefined ? "" : `  ${oneLine(call.note)}`;
  const room = Math.max(columns - time.length - 4, 10);
  const text = cutToWidth(`${head}  ${call.preview}${color.dim(note)}`.trimEnd(), room);
  return `${text}  ${color.dim(time)}`;
}

/** What belongs under the line of a call: the difference that it made, or why it failed. */
export function resultRows(
  event: Extract<AgentEvent, { type: "tool_result" }>,
  { out, columns }: { readonly out: Output; readonly columns: number },
): readonly string[] {
  const lines = visibleWithColours(event.human).trimEnd().split("\n");
  if (!event.ok) {
    const shown = lines.filter(Boolean).slice(0, ERROR_LINES);
    return wrapLines(plain(shown.join("\n")), { mark: "  ", width: columns - 1, paint: out.color.red });
  }
  if (!holdsDifference(event.human)) return [];
  const shown = lines.slice(0, MOST_DIFF_LINES).map((line) => `  ${paintMarks(line, out.color)}`);
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, out.color.dim(`  … ${left} more lines`)];
}

function plain(line: string): string {
  return renderMarks(line, (_meaning, text) => text);
}

function holdsDifference(marked: string): boolean {
  let found = false;
  renderMarks(marked, (meaning, text) => {
    found ||= meaning === "added" || meaning === "removed";
    return text;
  });
  return found;
}
