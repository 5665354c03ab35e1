import { isRecord } from "../base/record.js";
import type { CallResult } from "../tool/call.js";
import { type Content, text, textOf } from "../tool/content.js";
import { own, type WireRecord } from "./wire-values.js";

/**
 * What a model is told about a failed call. The content has the last word, because hooks may have replaced
 * it; `error` is the same thing for programs.
 */
export function modelError(result: CallResult): WireRecord {
  const shown = { status: "error", ...shownError(textOf(result.content), result) };
  const notices = unseenNotices(result, String(own(shown, "error")));
  return notices.length === 0 ? shown : { ...shown, notices };
}

function shownError(content: string, { error }: CallResult): WireRecord {
  if (content === "") {
    const message = error?.message ?? "The tool failed without a message.";
    return error?.hint === undefined ? { error: message } : { error: message, hint: error.hint };
  }
  const parsed = content.startsWith("{") ? parseOrNothing(content) : undefined;
  return isRecord(parsed) && typeof own(parsed, "error") === "string" ? parsed : { error: content };
}

function parseOrNothing(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * What a model is told about a call that came to its end, where a format takes objects: always with `status`; a tool's
 * own word of that name (`running`) stands beside it.
 */
export function modelSuccess(result: CallResult): WireRecord {
  const structured = structuredObject(result);
  if (structured === undefined) return { status: "success", output: modelText(result) };
  const { status = "success", ...fields } = structured;
  const notices = result.notices ?? [];
  return {
    status: "success",
    ...fields,
    ...(status !== "success" && { tool_status: status }),
    ...(notices.length > 0 && !Object.hasOwn(fields, "notices") && { notices }),
  };
}

/** Whether the text is the structured result itself. Other text that looks like JSON (a file's) is not ours to change. */
export function textIsObject(result: CallResult): boolean {
  const [only, ...more] = result.content;
  if (only?.type !== "text" || more.length > 0 || !only.text.startsWith("{")) return false;
  const structured = structuredObject(result);
  return structured !== undefined && sameJson(parseOrNothing(only.text), structured);
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * The parts a model receives. An object is the same in every format: with `status`, and with `error` when the call
 * failed; text and images come as the tool gave them.
 */
export function modelContent(result: CallResult): readonly Content[] {
  return result.ok && textIsObject(result)
    ? [text(JSON.stringify(modelSuccess(result)))]
    : ownContent(result);
}

/** The parts as the tool gave them with the notices behind, or the error: for a format that has its own place for the status. */
export function ownContent(result: CallResult): readonly Content[] {
  if (!result.ok) return [text(JSON.stringify(modelError(result)))];
  const notices = unseenNotices(result, textOf(result.content));
  if (notices.length === 0) return result.content;
  return [...result.content, text(notices.map((notice) => `[notice: ${notice}]`).join("\n"))];
}

/** The same for a model that takes only text. */
export function modelText(result: CallResult): string {
  return textOf(modelContent(result));
}

/** What a result says besides its content, where a format has room for it. */
export function metadataOf(result: CallResult): WireRecord {
  const { state, environment, worker, truncated, exit_code, spilled_to, decision, error } = result;
  return {
    state,
    environment,
    ...(worker !== undefined && { worker }),
    truncated,
    ...(error !== undefined && { code: error.code }),
    ...(exit_code !== undefined && { exit_code }),
    ...(spilled_to !== undefined && { spilled_to }),
    ...(decision !== undefined && { decision: decision.verdict, rule: decision.rule }),
  };
}

export function unseenNotices({ notices = [] }: CallResult, shown: string): readonly string[] {
  return notices.filter((notice) => !shown.includes(notice));
}

/** One part as text, where a format can carry some kinds of parts but not this one. */
export function partText(part: Content): string {
  return part.type === "resource" && part.text !== undefined ? part.text : textOf([part]);
}

/** The bound of one result in text form, kept for the other form too. */
const MAX_STRUCTURED_CHARS = 100_000;

/**
 * The structured part, where a format can carry it. A shortened result has none, and neither has one whose
 * object is far larger than its text: the bound on what a model receives holds for both forms.
 */
export function structuredObject(result: CallResult): WireRecord | undefined {
  const { structured } = result;
  if (!result.ok || result.truncated || !isRecord(structured)) return undefined;
  const length = jsonLength(structured);
  return length <= Math.max(MAX_STRUCTURED_CHARS, textOf(result.content).length) ? structured : undefined;
}

/** Infinite for what JSON cannot express (cycles, BigInt): such a value must not reach the wire. */
function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
