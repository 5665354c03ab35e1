import { isRecord } from "../base/record.js";
import type { IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import type { Adapter, ParsedRequest, RawEntry, Recognised } from "./adapter.js";
import { anthropic } from "./anthropic.js";
import { MAX_DEPTH, valueExceedsDepth } from "./depth.js";
import { envelope } from "./envelope.js";
import { gemini } from "./gemini.js";
import { mcp } from "./mcp.js";
import { openai } from "./openai.js";
import { responses } from "./responses.js";
import { kindOf } from "./wire-values.js";

/** More than any model sends in one turn; each call costs a result, so the number must end somewhere. */
export const MAX_CALLS = 10_000;

/** The envelope comes last: it also takes bare calls, which the others may know better. */
const ADAPTERS: readonly Adapter[] = [openai, responses, anthropic, gemini, mcp, envelope];
/** `tool_calls` settles the question whatever stands beside it. */
const TOOL_CALLS_ADAPTERS: readonly Adapter[] = [openai, envelope];

/** Which wire format a parsed JSON value is in, and the calls it asks for. Never throws. */
export function parseRequest(value: unknown): ParsedRequest | Failure {
  try {
    const found = recognise(value);
    return "format" in found ? assemble(found) : found;
  } catch (error) {
    // Only objects of the embedding program (proxies, getters) can throw while they are read.
    const reason = error instanceof Error ? error.message : "unknown error";
    return failure("bad_request", `The request could not be read: ${reason}`, "Send plain JSON values.");
  }
}

export function isParsedRequest(parsed: ParsedRequest | Failure): parsed is ParsedRequest {
  return "calls" in parsed;
}

function recognise(value: unknown): Recognised | Failure {
  const hasToolCalls = isRecord(value) && Object.hasOwn(value, "tool_calls");
  for (const adapter of hasToolCalls ? TOOL_CALLS_ADAPTERS : ADAPTERS) {
    const found = adapter.recognise(value);
    if (found !== undefined) return found;
  }
  if (valueExceedsDepth(value, MAX_DEPTH)) return failure("bad_request", `The request ${TOO_DEEP}`, FLATTER);
  return failure(
    "bad_request",
    `The request holds no "tool_calls" and no other known form of a tool call: it is ${describe(value)}.`,
    'Send {"tool_calls":[…]}, an OpenAI, Anthropic or Gemini message, or an MCP tools/call request.',
  );
}

function describe(value: unknown): string {
  if (!isRecord(value)) return kindOf(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 5).map((key) => JSON.stringify(key.slice(0, 40)));
  return `an object with the keys ${shown.join(", ")}${keys.length > shown.length ? ", …" : ""}`;
}

function assemble({ format, entries, read, rpcId }: Recognised): ParsedRequest | Failure {
  if (entries.length > MAX_CALLS) {
    return failure(
      "bad_request",
      `The request holds ${entries.length} calls; at most ${MAX_CALLS} are taken at once.`,
      "Split it into several requests.",
    );
  }
  const raw = entries.map((entry) => read(entry));
  const givenIds = raw.map((entry) => readId(entry.id));
  const ids = uniqueIds(givenIds);
  const calls = raw.map((entry, index) => toCall(entry, { id: ids[index] ?? "", place: index + 1 }));
  return { format, calls, givenIds, rpcId };
}

function toCall(entry: RawEntry, { id, place }: { id: string; place: number }): IncomingCall {
  const name = typeof entry.name === "string" ? entry.name : "";
  const malformed = judge(entry, place);
  return malformed === undefined
    ? { id, name, arguments: entry.arguments }
    : { id, name, arguments: undefined, malformed };
}

const TOO_DEEP = `is nested too deep: at most ${MAX_DEPTH} levels are taken.`;
const FLATTER = "Send flatter values, or pass the data through a file.";

function judge({ name, problem, source }: RawEntry, place: number): Failure | undefined {
  if (valueExceedsDepth(source, MAX_DEPTH)) {
    return failure("bad_request", `Tool call ${place} ${TOO_DEEP}`, FLATTER);
  }
  if (problem !== undefined) return badEntry(`Tool call ${place} ${problem}.`);
  if (name === undefined) return badEntry(`Tool call ${place} has no function name.`);
  if (typeof name !== "string") {
    return badEntry(`The name of tool call ${place} must be a string, but it is ${kindOf(name)}.`);
  }
  if (name.trim() === "") return badEntry(`Unknown tool: the name of tool call ${place} is empty.`);
  return undefined;
}

function badEntry(message: string): Failure {
  return failure(
    "bad_request",
    message,
    'A call looks like {"id":"call_1","type":"function","function":{"name":"…","arguments":{…}}}.',
  );
}

/** The id as text, or `undefined` for what cannot serve as one. */
export function readId(raw: unknown): string | undefined {
  if (typeof raw === "string") return raw === "" ? undefined : raw;
  if (typeof raw === "bigint") return String(raw);
  return typeof raw === "number" && Number.isFinite(raw) ? String(raw) : undefined;
}

/**
 * One unique id per position. The first bearer of a given id keeps it; later bearers get `<id>#2`, … and
 * calls without one get `call_<position>`, each moved on until it meets no given or assigned id.
 */
export function uniqueIds(given: readonly (string | undefined)[]): string[] {
  const taken = new Set(given.filter((id) => id !== undefined));
  const bearers = new Map<string, number>();
  let minted = 0;

  return given.map((id, position) => {
    if (id === undefined) {
      minted = Math.max(minted, position);
      do minted++;
      while (taken.has(`call_${minted}`));
      const fresh = `call_${minted}`;
      taken.add(fresh);
      return fresh;
    }
    const before = bearers.get(id);
    if (before === undefined) {
      bearers.set(id, 1);
      return id;
    }
    let count = before + 1;
    while (taken.has(`${id}#${count}`)) count++;
    bearers.set(id, count);
    taken.add(`${id}#${count}`);
    return `${id}#${count}`;
  });
}
