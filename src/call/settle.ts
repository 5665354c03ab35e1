import { type Content, text, textOf } from "../tool/content.js";
import { type Failure, failure } from "../tool/errors.js";
import { plainText } from "../tool/marked-text.js";
import { ToolResult } from "../tool/result.js";
import { serializeOutput, serializeSafely } from "../tool/serialize.js";
import { describeThrown, ignoreRejection } from "../tool/thrown.js";
import { type CallRecord, wholeMicroseconds } from "./call-record.js";
import { hintHere } from "./hints.js";
import { sanitizeErrorText } from "./sanitize.js";

/** Strings beyond this size are not looked into for JSON. */
const PARSEABLE_CHARS = 1_000_000;

/** Turns whatever the handler gave, or whatever ended the call, into one well-formed result. */
export function settle(call: CallRecord, ended: Failure | undefined): void {
  const problem = ended ?? readOutput(call);
  if (problem !== undefined) settleFailure(call, problem);
  if (ended !== undefined && call.output !== undefined) keepWhatCame(call);
  if (call.ok) call.exitCode = exitCodeOf(call);
  redactContent(call);
  call.durationMs = wholeMicroseconds(performance.now() - call.startedAt);
}

/** Of the program that this call ran: one that merely tells of another program has not ended with it. */
function exitCodeOf({ effects, structured }: CallRecord): number | undefined {
  if (typeof structured !== "object" || structured === null || !("exit_code" in structured)) return undefined;
  if (!effects.some(({ mode }) => mode === "execute")) return undefined;
  return typeof structured.exit_code === "number" ? structured.exit_code : undefined;
}

export function settleFailure(call: CallRecord, problem: Failure): void {
  const { redact } = call.scope.services;
  // Masked before and after: what the sanitiser takes out may have stood in the middle of a secret.
  const clean = (value: string) => redact(sanitizeErrorText(redact(value)));
  const message = clean(problem.message);
  const told = problem.hint === undefined ? undefined : hintOf(problem, problem.hint, call);
  const hint = told === undefined ? undefined : clean(told);
  call.ok = false;
  call.error = failure(problem.code, message, hint);
  call.content = [text(JSON.stringify(hint === undefined ? { error: message } : { error: message, hint }))];
  call.human = hint === undefined ? message : `${message}\n${hint}`;
}

/** What a handler still gave when it was told to stop: the model learns how far the work came. */
function keepWhatCame(call: CallRecord): void {
  const [told] = call.content;
  if (told?.type !== "text") return;
  setStructured(call, call.output);
  call.content = [text(`${told.text.slice(0, -1)},"until_then":${JSON.stringify(call.structured)}}`)];
}

/** Fills content and structured from the output; returns a failure when the output says or is one. */
function readOutput(call: CallRecord): Failure | undefined {
  call.ok = true;
  let output = call.output;
  if (ToolResult.isInstance(output)) {
    if (output.output !== undefined) setStructured(call, output.output);
    if (!output.success) {
      return failure(
        "failed",
        asText(output.error) ?? "the tool reported a failure without saying why",
        asText(output.hint),
      );
    }
    if (output.content !== undefined) {
      if (output.output !== undefined) present(call, output.output);
      return adoptContent(call, output.content);
    }
    output = output.output;
  }
  output = withHintHere(call, output);
  const kind = typeof output;
  if (output === undefined || output === null || kind === "function" || kind === "symbol") {
    return badResult(call, `returned ${output === null ? "null" : kind} instead of a result`);
  }
  const presented = present(call, output);
  if (presented !== undefined) {
    call.content = presented;
    setStructured(call, output);
    return undefined;
  }
  if (typeof output === "string") return readText(call, output);
  const multimodal = readMultimodal(output);
  if (multimodal !== undefined) {
    call.content = multimodal;
    return undefined;
  }
  const { text: serialized, safe } = serializeSafely(output);
  call.content = [text(serialized)];
  call.structured = safe;
  call.structuredIsText = true;
  return undefined;
}

/** Why a tool is out of scope is told to nobody but the person who chose the scope (see `resolve`), by its name. */
function hintOf({ code }: Failure, hint: string, { scope }: CallRecord): string | undefined {
  return code === "out_of_scope" ? hint : hintHere(hint, scope);
}

/** Hints in results name tools too. */
function withHintHere(call: CallRecord, output: unknown): unknown {
  if (typeof output !== "object" || output === null || call.entry.provenance.kind !== "builtin")
    return output;
  if (!("hint" in output) || typeof output.hint !== "string") return output;
  const hint = hintHere(output.hint, call.scope);
  return hint === output.hint ? output : { ...output, hint };
}

function badResult(call: CallRecord, what: string): Failure {
  return failure(
    "bad_result",
    `${call.entry.name} ran, but ${what}`,
    "A handler must return a string, an object or a ToolResult.",
  );
}

function adoptContent(call: CallRecord, given: unknown): Failure | undefined {
  const content = readContent(given);
  if (content === undefined) return badResult(call, "returned content parts that no model format can carry");
  call.content = content;
  return undefined;
}

/** Kept only in a form that can be written as JSON, whatever the handler gave. */
function setStructured(call: CallRecord, value: unknown): void {
  call.structured = serializeSafely(value).safe;
}

function asText(value: unknown): string | undefined {
  return value === undefined ? undefined : serializeOutput(value);
}

/**
 * What the model reads; what a person reads is set at the same time, so that `present` runs once. It is the author's
 * code: when it throws or gives nonsense, the plain form is shown.
 */
function present(call: CallRecord, output: unknown): readonly Content[] | undefined {
  if (call.tool.present === undefined) return undefined;
  try {
    const presented = call.tool.present(output);
    const content = readContent(presented?.model);
    if (content !== undefined) {
      if (typeof presented.human === "string" && presented.human !== textOf(content))
        call.human = presented.human;
      return content;
    }
    ignoreRejection(presented);
    call.scope.services.log.warn(`present of tool ${call.entry.name} gave no usable content`);
  } catch (thrown) {
    call.scope.services.log.warn(
      `present of tool ${call.entry.name} failed: ${describeThrown(thrown).message}`,
    );
  }
  return undefined;
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
  setStructured(call, parsed);
  if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return undefined;
  if (typeof parsed.error !== "string" || parsed.error === "") return undefined;
  if ("success" in parsed && parsed.success === true) return undefined;
  return failure(
    "failed",
    parsed.error,
    "hint" in parsed && typeof parsed.hint === "string" ? parsed.hint : undefined,
  );
}

/** Exact values of known secrets never reach a model, in any part of the result. */
export function redactContent(call: CallRecord): void {
  const { redact } = call.scope.services;
  let changed = false;
  const masked = (value: string): string => {
    const safe = redact(value);
    if (safe !== value) changed = true;
    return safe;
  };
  if (call.human !== undefined) call.human = maskMarked(call.human, redact);
  const [only] = call.content;
  if (call.content.length === 1 && only !== undefined) {
    const safe = maskPart(only, masked);
    if (changed) call.content = [safe];
  } else {
    const content = call.content.map((part) => maskPart(part, masked));
    if (changed) call.content = content;
  }
  if (call.structured === undefined || (call.structuredIsText && !changed)) return;
  const serialized = serializeOutput(call.structured);
  const safe = redact(serialized);
  if (safe !== serialized) call.structured = typeof call.structured === "string" ? safe : parseOr(safe);
}

function maskPart(part: Content, masked: (value: string) => string): Content {
  if (part.type === "text") {
    const safe = masked(part.text);
    return safe === part.text ? part : text(safe);
  }
  if (part.type !== "resource") return part;
  return { ...part, uri: masked(part.uri), ...(part.text !== undefined && { text: masked(part.text) }) };
}

/** A secret with a mark in the middle of it is still a secret; then the marks go. */
function maskMarked(marked: string, redact: (value: string) => string): string {
  const masked = redact(marked);
  const plain = plainText(masked);
  if (plain === masked) return masked;
  const safe = redact(plain);
  return safe === plain ? masked : safe;
}

function parseOr(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Puts one text in the place of everything readable, also for people; images and sound stay. */
export function replaceText(call: CallRecord, replacement: string): void {
  call.content = [
    text(replacement),
    ...call.content.filter((part) => part.type === "image" || part.type === "audio"),
  ];
  call.structured = undefined;
  call.human = undefined;
}

export function textOfCall(call: CallRecord): string {
  return textOf(call.content);
}

/** Content parts as a handler gave them, or undefined when one of them is none. */
function readContent(given: unknown): readonly Content[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const content: Content[] = [];
  for (const part of given as unknown[]) {
    const read = readPart(part);
    if (read === undefined) return undefined;
    content.push(read);
  }
  return content;
}

function readPart(part: unknown): Content | undefined {
  if (typeof part !== "object" || part === null || !("type" in part)) return undefined;
  const fields = part as Record<string, unknown>;
  switch (fields.type) {
    case "text":
      return typeof fields.text === "string" ? text(fields.text) : undefined;
    case "image":
    case "audio":
      return typeof fields.data === "string" && typeof fields.mimeType === "string"
        ? { type: fields.type, data: fields.data, mimeType: fields.mimeType }
        : undefined;
    case "resource":
      return typeof fields.uri === "string"
        ? {
            type: "resource",
            uri: fields.uri,
            ...(typeof fields.mimeType === "string" && { mimeType: fields.mimeType }),
            ...(typeof fields.text === "string" && { text: fields.text }),
          }
        : undefined;
    default:
      return undefined;
  }
}

/** The envelope `{_multimodal: true, content: [...], text_summary}` of the source documents. */
function readMultimodal(output: unknown): readonly Content[] | undefined {
  if (
    typeof output !== "object" ||
    output === null ||
    !("_multimodal" in output) ||
    output._multimodal !== true
  ) {
    return undefined;
  }
  const parts = "content" in output && Array.isArray(output.content) ? (output.content as unknown[]) : [];
  const content = parts.flatMap((part) => readOpenAiPart(part));
  if (content.length > 0) return content;
  return "text_summary" in output && typeof output.text_summary === "string"
    ? [text(output.text_summary)]
    : undefined;
}

function readOpenAiPart(part: unknown): readonly Content[] {
  if (typeof part !== "object" || part === null) return [];
  if ("text" in part && typeof part.text === "string") return [text(part.text)];
  const image = "image_url" in part ? part.image_url : undefined;
  const url = typeof image === "object" && image !== null && "url" in image ? image.url : undefined;
  const data = typeof url === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : null;
  return data?.[1] === undefined || data[2] === undefined
    ? []
    : [{ type: "image", mimeType: data[1], data: data[2] }];
}
