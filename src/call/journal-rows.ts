import { crc32 } from "node:zlib";
import { isRecord } from "../base/record.js";
import { type SqlRow, textOfBlob } from "../store/driver.js";
import type { CallIntent, CallOutcome, CallUsage, JournalRow } from "./journal.js";

const MAX_DOCUMENT_BYTES = 64 * 1024;
const MAX_NAME_CHARS = 1024;
const MAX_MESSAGE_CHARS = 4096;

/**
 * The document of a call, without its closing brace so that an outcome can follow. The checksum covers the
 * text before it: SQLite finds damaged pages, not a changed letter within one.
 */
export function sealIntent(intent: CallIntent): string {
  const args = cutToBytes(intent.argsJson);
  return seal({
    call_id: cut(intent.callId, MAX_NAME_CHARS),
    session_id: cut(intent.sessionId, MAX_NAME_CHARS),
    tool: cut(intent.tool, MAX_NAME_CHARS),
    called_as: cut(intent.calledAs, MAX_NAME_CHARS),
    door: cut(intent.door, MAX_NAME_CHARS),
    args,
    args_bytes:
      intent.argsBytes ?? (args === intent.argsJson ? undefined : Buffer.byteLength(intent.argsJson)),
    effects: cutToBytes(intent.effectsJson),
    decision: cut(intent.decision, MAX_NAME_CHARS),
    rule: cut(intent.rule, MAX_NAME_CHARS),
    environment: cut(intent.environment, MAX_NAME_CHARS),
    started_at: intent.startedAt,
    toolset: cutIfAny(intent.toolset),
    model: cutIfAny(intent.model),
    parent: cutIfAny(intent.parent),
    parent_session: cutIfAny(intent.parentSession),
    conversation: cutIfAny(intent.conversation),
    cwd: cutIfAny(intent.cwd),
    workspace: cutIfAny(intent.workspace),
    queued_ms: intent.queuedMs,
    approval_wait_ms: intent.approvalWaitMs,
    approval: intent.approval,
  });
}

/** A result this short costs less in the document of its call than in a row of its own. */
const SHORT_RESULT_CHARS = 256;

export function isShortResult(text: string): boolean {
  return text.length <= SHORT_RESULT_CHARS;
}

/** `result`: what the call was answered with, where that is kept and short. */
export function sealOutcome(outcome: CallOutcome, result?: string): string {
  return seal({
    status: outcome.status,
    state: outcome.state,
    duration_ms: outcome.durationMs,
    result_chars: outcome.resultChars,
    result_bytes: outcome.resultBytes === outcome.resultChars ? undefined : outcome.resultBytes,
    result_hash: cut(outcome.resultHash, MAX_NAME_CHARS),
    truncated: outcome.truncated,
    error_code: outcome.errorCode,
    error_message:
      outcome.errorMessage === undefined ? undefined : cut(outcome.errorMessage, MAX_MESSAGE_CHARS),
    repairs: outcome.repairs === undefined ? undefined : cut(outcome.repairs, MAX_MESSAGE_CHARS),
    result,
    exit_code: outcome.exitCode,
    retries: outcome.retries,
    model: cutIfAny(outcome.model),
    worker: cutIfAny(outcome.worker),
    ...(outcome.usage !== undefined && usageFields(outcome.usage)),
  });
}

function usageFields(usage: CallUsage) {
  return {
    input_tokens: usage.input,
    cached_tokens: usage.cached || undefined,
    cache_write_tokens: usage.cacheWrite || undefined,
    output_tokens: usage.output,
    cost_usd: usage.costUsd,
    unbilled: usage.unbilled,
  };
}

export function documentOf(sealedIntent: string, sealedOutcome: string | undefined): string {
  return sealedOutcome === undefined ? `${sealedIntent}}` : `${sealedIntent},"outcome":${sealedOutcome}}}`;
}

function seal(fields: Record<string, unknown>): string {
  const text = JSON.stringify(fields).slice(0, -1);
  return `${text},"crc":${crc32(text)}`;
}

/** Expects `seq`, `running` and, as blobs, `owner` and `detail`. */
export function decodeRow(row: SqlRow): JournalRow {
  const text = textOfBlob(row.detail);
  const { outcome = {}, ...intent } = parseDocument(text);
  const intact =
    isSealed(text, intent.crc) && (outcome.crc === undefined || isOutcomeSealed(text, outcome.crc));
  const decoded = {
    ...missingFields,
    ...intent,
    ...outcome,
    seq: Number(row.seq),
    status: outcome.status ?? (row.running === 1 ? "running" : "unknown"),
    ...(outcome.status === undefined && row.running !== 1 && { state: "partial" }),
    ...(typeof outcome.result_chars === "number" && { result_tokens: tokensOfChars(outcome.result_chars) }),
    owner: textOfBlob(row.owner),
    ...(intact ? {} : { damaged: true }),
  };
  delete decoded.crc;
  delete (decoded as { result?: unknown }).result;
  return decoded as JournalRow;
}

/** The usual estimate: four characters to a token. */
export function tokensOfChars(chars: number): number {
  return Math.ceil(chars / 4);
}

type StoredFields = Record<string, unknown> & { crc?: unknown; outcome?: StoredFields };

const missingFields = {
  call_id: "",
  session_id: "",
  tool: "",
  called_as: "",
  door: "",
  args: "",
  effects: "",
  decision: "",
  rule: "",
  environment: "",
  started_at: 0,
};

function parseDocument(text: string): StoredFields {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? { ...parsed, outcome: isRecord(parsed.outcome) ? parsed.outcome : {} } : {};
  } catch {
    return {};
  }
}

/** Inside strings every quote is escaped, so the first bare `,"crc":` is the seal itself. */
function isSealed(text: string, crc: unknown): boolean {
  const end = text.indexOf(',"crc":');
  return end >= 0 && crc32(text.slice(0, end)) === crc;
}

function isOutcomeSealed(text: string, crc: unknown): boolean {
  return isSealed(text.slice(text.indexOf(',"outcome":') + ',"outcome":'.length), crc);
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`;
}

function cutIfAny(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cut(text, MAX_NAME_CHARS);
}

/** As much of a text as 64 KiB hold, in whole characters. */
export function cutToBytes(text: string): string {
  if (text.length * 3 <= MAX_DOCUMENT_BYTES) return text;
  if (Buffer.byteLength(text) <= MAX_DOCUMENT_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, MAX_DOCUMENT_BYTES)
    .toString()
    .replace(/\uFFFD+$/, "");
}
