import { messageOf } from "../base/errno.js";
import { type Failure, failure } from "../tool/errors.js";
import { repairJsonText } from "../tool/repair-text.js";
import type { ParsedRequest } from "./adapter.js";
import { MAX_DEPTH, measureText } from "./depth.js";
import { isParsedRequest, parseRequest } from "./parse-request.js";

export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** JSON.parse needs about 150 bytes for each empty list: without this, 64 MiB of "[]," take gigabytes. */
const MAX_REQUEST_VALUES = 1_000_000;

/** Reads a request as it came over a wire or from a file. Never throws. */
export function parseRequestText(input: string | Uint8Array): ParsedRequest | Failure {
  const text = readText(input);
  if (typeof text !== "string") return text;
  if (text.trim() === "") {
    return badText("The request is empty; a JSON value was expected.", 'Send at least {"tool_calls":[]}.');
  }
  const measure = measureText(text, MAX_REQUEST_VALUES);
  if (measure.values > MAX_REQUEST_VALUES) {
    const problem = measure.depth > MAX_DEPTH ? "is nested too deep" : "is too large";
    return badText(
      `The request ${problem}: more than ${MAX_REQUEST_VALUES} JSON values.`,
      "Send less at once, or pass the data through a file.",
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    return repairRequest({ text, reason, depth: measure.depth });
  }
  return parseRequest(value);
}

function readText(input: string | Uint8Array): string | Failure {
  if (sizeOf(input) > MAX_REQUEST_BYTES) {
    return badText(
      `The request is too large: more than ${MAX_REQUEST_BYTES / 2 ** 20} MiB of JSON.`,
      "Write large data to a file and pass its path.",
    );
  }
  if (typeof input === "string") return input.startsWith("\uFEFF") ? input.slice(1) : input;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(input);
  } catch {
    // Replacing the bad bytes would silently change paths, commands or file contents.
    return badText("The request is not valid JSON: its bytes are not valid UTF-8.", "Encode it as UTF-8.");
  }
}

function sizeOf(input: string | Uint8Array): number {
  if (typeof input !== "string") return input.byteLength;
  // The bytes are never fewer than the characters, and counting them means walking over all of them.
  return input.length > MAX_REQUEST_BYTES ? input.length : Buffer.byteLength(input);
}

/**
 * Mends slips of syntax (trailing commas, quotes, fences, Python words). It does not complete what was
 * cut off: half a command is another command.
 */
function repairRequest(broken: { text: string; reason: string; depth: number }): ParsedRequest | Failure {
  const { text, reason, depth } = broken;
  const invalid = badText(`The request is not valid JSON: ${reason}`, "Check quotes, commas and brackets.");
  if (depth > MAX_DEPTH) {
    return badText(
      `The request is not valid JSON and nested too deep to repair (more than ${MAX_DEPTH} levels).`,
      "Send valid JSON with fewer levels.",
    );
  }
  if (!looksComplete(text)) {
    return badText(
      `The request is not valid JSON: it seems to be cut off. ${reason}`,
      "Send it again as a whole; nothing was run.",
    );
  }
  const repaired = repairJsonText(text);
  if (!repaired.ok || typeof repaired.value !== "object" || repaired.value === null) return invalid;
  const parsed = parseRequest(repaired.value);
  return isParsedRequest(parsed) ? { ...parsed, repaired: true } : parsed;
}

function badText(message: string, hint: string): Failure {
  return failure("bad_request", message, hint);
}

const OPENERS = new Set(["{", "["]);
const CLOSERS = new Set(["}", "]"]);

/**
 * Whether text that is not quite JSON at least ends where its outermost value does: no string and no
 * bracket is left open. Single quotes count as quotes where a value or key may begin, as in Python.
 */
function looksComplete(text: string): boolean {
  let open = 0;
  let quote = "";
  let previous = "";
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote !== "") {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
      continue;
    }
    if (char === '"' || (char === "'" && (previous === "" || "{[,:".includes(previous)))) quote = char;
    else if (OPENERS.has(char)) open++;
    else if (CLOSERS.has(char)) open--;
    if (char.trim() !== "") previous = char;
  }
  return open <= 0 && quote === "";
}
