import { once } from "node:events";
import { messageOf } from "../base/errno.js";
import { commandError } from "./errors.js";
import { jsonLine } from "./output.js";

/** All of standard input as bytes; the caller's own limits apply to what it holds. */
export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** `a, b` as `["a", "b"]`. */
export function listOf(names: string): readonly string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}

/** The number of an option such as `--days 7`. */
export function positiveNumber(given: unknown, flag: string): number {
  const number = Number(given);
  if (number > 0) return number;
  throw commandError("bad_request", `${flag} must be a positive number, not ${JSON.stringify(given)}`);
}

export function positiveInteger(given: unknown, flag: string): number {
  const number = positiveNumber(given, flag);
  if (Number.isInteger(number)) return number;
  throw commandError("bad_request", `${flag} must be a whole number, not ${JSON.stringify(given)}`);
}

/** `'{"a":1}'`, `a=1 b=two`, or `-` for standard input. Decode sees the text as a model would have sent it. */
export async function readCallArguments(given: readonly string[]): Promise<unknown> {
  const words = withoutDashes(given);
  const [first] = words;
  if (first === undefined) return {};
  if (first === "-" && words.length === 1) return (await readStdin()).toString("utf8");
  if (words.length === 1 && /^\s*[[{"]/.test(first)) return first;
  const pairs: [string, string][] = [];
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0) {
      throw commandError(
        "bad_request",
        `cannot read the argument ${JSON.stringify(word)}`,
        'Write key=value pairs, one JSON object, or "-" to read JSON from standard input.',
      );
    }
    pairs.push([word.slice(0, at), word.slice(at + 1)]);
  }
  return Object.fromEntries(pairs);
}

/** `--path X` and `--path=X`, as one types them elsewhere, mean `path=X`; a flag alone means true. */
function withoutDashes(words: readonly string[]): readonly string[] {
  const pairs: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const name = /^--([A-Za-z_][\w-]*)$/.exec(word)?.[1]?.replaceAll("-", "_");
    const next = words[index + 1];
    if (name === undefined) pairs.push(word.replace(/^--(?=[A-Za-z_][\w-]*=)/, ""));
    else if (next === undefined || next.startsWith("--")) pairs.push(`${name}=true`);
    else {
      pairs.push(`${name}=${next}`);
      index += 1;
    }
  }
  return pairs;
}

/** More than any limit of what reads the text, and less than a string can hold. */
const LONGEST_REPEAT = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * One answer per input line, in the same order; blank lines are passed over. A line that is not JSON, or one
 * whose answer fails, is answered like any other, by `failed`.
 */
export async function answerLines(options: {
  answer(line: unknown): unknown | Promise<unknown>;
  failed(why: string): unknown;
}): Promise<void> {
  const reader = new AbortController();
  process.stdout.once("error", () => reader.abort());
  for await (const bytes of linesOf(process.stdin)) {
    const line = bytes.toString("utf8");
    if (line.trim() === "") continue;
    if (!process.stdout.write(await answerTo(line, options))) await drained(reader.signal);
    if (reader.signal.aborted) return;
  }
}

async function answerTo(line: string, options: Parameters<typeof answerLines>[0]): Promise<string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch (error) {
    return jsonLine(options.failed(`the line is not JSON: ${messageOf(error)}`));
  }
  try {
    return jsonLine(await options.answer(parsed));
  } catch (error) {
    return jsonLine(options.failed(messageOf(error)));
  }
}

/** Only a newline ends a line: JSON may hold every other separator that line readers split at. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  for await (const chunk of input) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end)]);
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  }
  yield Buffer.concat(pieces);
}

/** When the reader has gone away, nothing drains any more. */
async function drained(readerGone: AbortSignal): Promise<void> {
  await once(process.stdout, "drain", { signal: readerGone }).catch(() => undefined);
}

/** `[[text, times], …]` written out; undefined when it is not that, or too long. */
export function expandRepeats(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  let text = "";
  for (const part of parts as unknown[]) {
    if (!Array.isArray(part) || typeof part[0] !== "string" || !Number.isInteger(part[1]) || part[1] < 0)
      return undefined;
    if (text.length + part[0].length * part[1] > LONGEST_REPEAT) return undefined;
    text += part[0].repeat(part[1]);
  }
  return text;
}
