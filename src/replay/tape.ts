import { readFile } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import { isRecord } from "../base/record.js";
import type { IncomingCall } from "../tool/call.js";
import type { Content } from "../tool/content.js";
import type { Effect } from "../tool/effects.js";
import { failure, HermesError } from "../tool/errors.js";
import type { JsonSchema } from "../tool/json-schema.js";

export const TAPE_VERSION = 1;

/** The first line. Field names are part of the public interface (`hermes sessions export --format tape`). */
export interface TapeHeader {
  readonly type: "tape";
  readonly version: number;
  readonly session: string;
  /** A conversation has its messages on the tape, a session of the journal its calls alone. */
  readonly of: "conversation" | "journal";
  readonly title?: string | undefined;
  readonly model?: string | undefined;
  /** Where the session worked, as far as that is known. */
  readonly cwd?: string | undefined;
  readonly started_at: string;
  /** The version of Hermes that wrote it. */
  readonly hermes: string;
  /** The tools that were called, as they were when the tape was written. */
  readonly tools: readonly TapedTool[];
  readonly tools_hash: string;
}

export interface TapedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface TapedMessage {
  readonly type: "message";
  readonly role: "system" | "user" | "assistant" | "tool" | "summary";
  readonly content: string | readonly Content[];
  readonly tool_calls?: readonly IncomingCall[] | undefined;
  readonly tool_call_id?: string | undefined;
  readonly at: string;
}

export interface TapedCall {
  readonly type: "call";
  readonly id: string;
  /** The tool that ran; `called_as` where it was called by another name. */
  readonly name: string;
  readonly called_as?: string | undefined;
  /** As it was asked for, masked; a text where it was no JSON. */
  readonly arguments: unknown;
  /** Set where the journal kept only a part of them. */
  readonly arguments_cut?: true | undefined;
  /** `allow`, `deny`, `ask:once` …; absent where nothing was decided or nobody wrote it down. */
  readonly decision?: string | undefined;
  readonly rule?: string | undefined;
  readonly effects?: readonly Effect[] | undefined;
  readonly ok: boolean;
  readonly error?: { readonly code?: string | undefined; readonly message: string } | undefined;
  /** What the model was given; absent where it was not kept. */
  readonly result?: string | readonly Content[] | undefined;
  /** Set where only the beginning of it was kept. */
  readonly result_cut?: true | undefined;
  readonly environment?: string | undefined;
  /** The working folder of the call, where that is not the header's. */
  readonly cwd?: string | undefined;
  readonly duration_ms?: number | undefined;
  readonly at: string;
}

export type TapeLine = TapeHeader | TapedMessage | TapedCall;

export interface Tape {
  readonly header: TapeHeader;
  readonly messages: readonly TapedMessage[];
  readonly calls: readonly TapedCall[];
}

const HIDDEN = "[REDACTED]";

/**
 * A line as it is written. What is secret was masked when it was recorded; a value that has become known since is masked
 * here, in every text by itself and in the line as a whole, where a name and its value stand together.
 */
export function tapeLine(line: TapeLine, redact: (text: string) => string): string {
  const masked = maskTexts(line, redact);
  const text = JSON.stringify(masked);
  const whole = redact(text);
  if (whole === text || isJson(whole)) return `${whole}\n`;
  // Masked across a quote: rather nothing than a part of it.
  const { type } = line;
  const kept =
    type === "call" ? { arguments: HIDDEN, result: HIDDEN, error: undefined, effects: undefined } : {};
  return `${redact(JSON.stringify({ ...(masked as object), content: HIDDEN, ...kept, title: undefined }))}\n`;
}

function maskTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((inner) => maskTexts(inner, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [redact(name), maskTexts(inner, redact)]),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads a whole tape; a file that is none is refused with the line that is wrong. */
export async function readTape(file: string): Promise<Tape> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw notATape(file, messageOf(error));
  }
  return parseTape(text, file);
}

export function parseTape(text: string, file: string): Tape {
  const lines = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parsed(line, index)]));
  const header = lines[0]?.value;
  if (!isHeader(header)) throw notATape(file, "its first line is not the header of a tape");
  if (header.version !== TAPE_VERSION) {
    const why = `it has version ${String(header.version)}, and this Hermes reads version ${TAPE_VERSION}`;
    throw notATape(file, why, "Record it again: hermes sessions export ID --format tape");
  }
  const messages: TapedMessage[] = [];
  const calls: TapedCall[] = [];
  for (const { value, number } of lines.slice(1)) {
    if (isCall(value)) calls.push(value);
    else if (isMessage(value)) messages.push(value);
    else throw notATape(file, `line ${number} is neither a message nor a call`);
  }
  return { header, messages, calls };

  function parsed(line: string, index: number): { readonly value: unknown; readonly number: number } {
    try {
      return { value: JSON.parse(line), number: index + 1 };
    } catch {
      throw notATape(file, `line ${index + 1} is not JSON`);
    }
  }
}

function notATape(
  file: string,
  why: string,
  hint = "Tapes are written by: hermes sessions export ID --format tape",
) {
  return new HermesError(failure("bad_request", `${file} is not a tape that can be read: ${why}`, hint));
}

function isHeader(value: unknown): value is TapeHeader {
  return (
    isRecord(value) &&
    value.type === "tape" &&
    typeof value.session === "string" &&
    Array.isArray(value.tools) &&
    value.tools.every((tool) => isRecord(tool) && typeof tool.name === "string" && isRecord(tool.parameters))
  );
}

function isCall(value: unknown): value is TapedCall {
  return (
    isRecord(value) &&
    value.type === "call" &&
    typeof value.id === "string" &&
    typeof value.name === "string" &&
    typeof value.ok === "boolean"
  );
}

function isMessage(value: unknown): value is TapedMessage {
  return isRecord(value) && value.type === "message" && typeof value.role === "string";
}
