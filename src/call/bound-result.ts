import { limitFor, previewOf, wholeCharacters } from "./bounds.js";
import type { CallRecord } from "./call-record.js";
import { nameHere } from "./hints.js";
import { pageable } from "./pageable.js";
import { replaceText, textOfCall } from "./settle.js";
import { persistedOutputBlock, truncateInline } from "./spill.js";

/**
 * Keeps every result within its size: the whole text goes to a file, the model gets a preview and the path. What only
 * a person sees is cut.
 */
export function boundResult(call: CallRecord): void {
  if (call.scope.forProgram === true) return;
  const length = textLength(call);
  const shownLength = call.human?.length ?? 0;
  const { services } = call.scope;
  const entry = call.entry;
  const configured = entry === undefined ? undefined : services.resultLimitOf(entry.name);
  const declared = entry?.maxResultSizeChars;
  const limit = limitFor({
    pinned: declared === Number.POSITIVE_INFINITY,
    configured,
    isMcp: entry?.toolset.startsWith("mcp-") === true,
    declared,
    limits: services.limits,
  });
  if (length > limit) spillResult(call, limit);
  else if (call.human !== undefined && shownLength > limit) call.human = cutForPeople(call.human, limit);
}

function cutForPeople(human: string, limit: number): string {
  const shown = previewOf(human, limit);
  return `${shown}\n[the first ${shown.length.toLocaleString("en-US")} of ${human.length.toLocaleString("en-US")} characters]`;
}

/** What a spilled result still costs inline besides its preview. */
const BLOCK_CHARS = 500;

export function spillResult(
  call: CallRecord,
  limit: number = call.scope.services.limits.preview + BLOCK_CHARS,
): void {
  const { services } = call.scope;
  const whole = textOfCall(call);
  call.truncated = true;
  try {
    const { text, remark } = pageable(whole);
    const { path } = services.spill.write(call.id, text);
    call.spilledTo = path;
    const reader = nameHere("read_file", call.scope);
    const block = (preview: string) => persistedOutputBlock({ whole, path, preview, remark, reader });
    const room = Math.min(services.limits.preview, limit - block("").length);
    // A limit that is smaller than the block leaves room for the place only.
    if (room < 0) replaceText(call, wholeCharacters(`${whole.length} characters are in ${path}`, limit));
    else replaceText(call, block(services.redact(previewOf(text, room))));
  } catch (error) {
    services.log.warn(`could not save the full result of ${call.name}: ${String(error)}`);
    replaceText(call, services.redact(truncateInline(whole, limit)));
  }
}

export function textLength(call: CallRecord): number {
  let length = 0;
  for (const part of call.content) {
    if (part.type === "text") length += part.text.length;
    if (part.type === "resource") length += part.uri.length + (part.text?.length ?? 0);
  }
  return length;
}
