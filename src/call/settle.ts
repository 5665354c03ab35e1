import { type Content, text, textOf } from "../tool/content.js";
import { type Failure, failure } from "../tool/errors.js";
import { ToolResult } from "../tool/result.js";
import { serializeOutput } from "../tool/serialize.js";
import type { CallRecord } from "./call-record.js";
import { sanitizeErrorText } from "./sanitize.js";

/** Strings beyond this size are not looked into for JSON. */
const PARSEABLE_CHARS = 1_000_000;

/** Turns whatever the handler gave, or whatever ended the call, into one well-formed result. */
export function settle(call: CallRecord, ended: Failure | undefined): void {
  const problem = ended ?? readOutput(call);
  if (problem !== undefined) settleFailure(call, problem);
  else redactContent(call);
  call.durationMs = roundMs(performance.now() - call.startedAt);
}

export function settleFailure(call: CallRecord, problem: Failure): void {
  const { redact } = call.scope.services;
  const message = sanitizeErrorText(redact(problem.message));
  const hint = problem.hint === undefined ? undefined : sanitizeErrorText(redact(problem.hint));
  call.ok = false;
  call.error = failure(problem.code, message, hint);
  call.content = [text(JSON.stringify(hint === undefined ? { error: message } : { error: message, hint }))];
}

/** Fills content and structured from the output; returns a failure when the output says or is one. */
function readOutput(call: CallRecord): Failure | undefined {
  call.ok = true;
  let output = call.output;
  if (ToolResult.isInstance(output)) {
    if (!output.success) {
      if (output.output !== undefined) call.structured = output.output;
      return failure("failed", output.error ?? "the tool reported a failure without saying why", output.hint);
    }
    if (output.content !== undefined) {
      call.content = output.content;
      if (output.output !== undefined) call.structured = output.output;
      return undefined;
    }
    output = output.output;
  }
  const kind = typeof output;
  if (output === undefined || output === null || kind === "function" || kind === "symbol") {
    return failure(
      "bad_result",
      `${call.entry.name} ran, but returned ${output === null ? "null" : kind} instead of a result`,
      "A handler must return a string, an object or a ToolResult.",
    );
  }
  const presented = present(call, output);
  if (presented !== undefined) {
    call.content = presented;
    call.structured = output;
    return undefined;
  }
  if (typeof output === "string") return readText(call, output);
  const multimodal = readMultimodal(output);
  if (multimodal !== undefined) {
    call.content = multimodal;
    return undefined;
  }
  const serialized = serializeOutput(output);
  call.content = [text(serialized)];
  call.structured = output;
  return undefined;
}

/** `present` is the author's code: when it throws, the plain form is shown. */
function present(call: CallRecord, output: unknown): readonly Content[] | undefined {
  if (call.tool.present === undefined) return undefined;
  try {
    return call.tool.present(output).model;
  } catch (error) {
    call.scope.services.log.warn(`present of tool ${call.entry.name} failed: ${String(error)}`);
    return undefined;
  }
}

/** Handlers in the style of the source documents return JSON text; `{"error": …}` in it is a failure. */
function readText(call: CallRecord, output: string): Failure | undefined {
  call.content = [text(output)];
  if (output.charCodeAt(0) !== 123 || output.length > PARSEABLE_CHARS) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(output);
  } catch {
    return undefined;
  }
  call.structured = parsed;
  if (
    typeof parsed !== "object" ||
    parsed === null ||
    !("error" in parsed) ||
    typeof parsed.error !== "string"
  )
    return undefined;
  if (parsed.error === "" || ("success" in parsed && parsed.success === true)) return undefined;
  return failure(
    "failed",
    parsed.error,
    "hint" in parsed && typeof parsed.hint === "string" ? parsed.hint : undefined,
  );
}

/** The envelope `{_multimodal: true, content: [...], text_summary}` of the source documents. */
function readMultimodal(output: unknown): readonly Content[] | undefined {
  if (
    typeof output !== "object" ||
    output === null ||
    !("_multimodal" in output) ||
    output._multimodal !== true
  )
    return undefined;
  const parts = "content" in output && Array.isArray(output.content) ? (output.content as unknown[]) : [];
  const content: Content[] = [];
  for (const part of parts) {
    if (typeof part !== "object" || part === null) continue;
    if ("text" in part && typeof part.text === "string") content.push(text(part.text));
    const url =
      "image_url" in part &&
      typeof part.image_url === "object" &&
      part.image_url !== null &&
      "url" in part.image_url
        ? part.image_url.url
        : undefined;
    const data = typeof url === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : null;
    if (data?.[1] !== undefined && data[2] !== undefined)
      content.push({ type: "image", mimeType: data[1], data: data[2] });
  }
  if (content.length === 0 && "text_summary" in output && typeof output.text_summary === "string")
    content.push(text(output.text_summary));
  return content.length === 0 ? undefined : content;
}

/** Exact values of known secrets never reach a model; the structured form is masked with the text. */
export function redactContent(call: CallRecord): void {
  const { redact } = call.scope.services;
  let changed = false;
  const content = call.content.map((part) => {
    if (part.type !== "text") return part;
    const masked = redact(part.text);
    if (masked === part.text) return part;
    changed = true;
    return text(masked);
  });
  if (changed) call.content = content;
  if (call.structured === undefined) return;
  // A tool with `present` may hold in its structured form what the text does not show.
  if (!changed && call.tool.present === undefined) return;
  const serialized = serializeOutput(call.structured);
  const masked = redact(serialized);
  if (masked !== serialized) call.structured = parseOr(masked);
}

function parseOr(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export function replaceText(call: CallRecord, replacement: string): void {
  call.content = [text(replacement), ...call.content.filter((part) => part.type !== "text")];
  call.structured = undefined;
}

export function textOfCall(call: CallRecord): string {
  return textOf(call.content);
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
