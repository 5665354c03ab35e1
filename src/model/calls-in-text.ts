import { isRecord } from "../base/record.js";
import { textOf } from "../tool/content.js";
import { mintCallId } from "./assemble-calls.js";
import type { ModelPart, ModelRequest } from "./model-client.js";

interface WrittenCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** How an answer begins that may be a call, without its blanks. Everything else is passed on as it comes. */
const BEGINNINGS = [
  "<tool_call>",
  "<function_calls>",
  "<invoke",
  "<function=",
  "[TOOL_CALLS]",
  "<|python_tag|>",
  ...["name", "function", "type", "id", "arguments", "parameters"].flatMap((key) => [
    `{"${key}"`,
    `[{"${key}"`,
  ]),
];
/** More than this is no call but an answer, for which somebody waits. */
const LONGEST = 200_000;

/**
 * Models without calls of their own write them as text. An answer that is nothing but calls, of tools that were offered,
 * becomes these calls; anything else stays text. What also stands in a message that the model was given is quoted, not
 * called: others wrote it.
 */
export async function* promoteCallsInText(
  parts: AsyncIterable<ModelPart>,
  request: ModelRequest,
): AsyncGenerator<ModelPart> {
  const names = new Set((request.tools ?? []).map(({ name }) => name));
  let held = "";
  let holds = names.size > 0;
  for await (const part of parts) {
    if (holds && part.type === "text") {
      held += part.text;
      if (mayBeCall(held)) continue;
      holds = false;
      yield { type: "text", text: held };
    } else if (holds && part.type === "tool_call_begun") {
      // It knows how to call: then its text is text.
      holds = false;
      if (held !== "") yield { type: "text", text: held };
      yield part;
    } else if (holds && part.type === "finish") {
      const calls = part.reason === "stop" ? callsIn(held, { names, request }) : [];
      if (calls.length === 0 && held !== "") yield { type: "text", text: held };
      for (const call of calls) {
        const id = mintCallId();
        yield { type: "tool_call_begun", id, name: call.name };
        yield { type: "tool_call", call: { id, ...call } };
      }
      yield calls.length === 0 ? part : { ...part, reason: "tool_calls", opaque: undefined };
    } else yield part;
  }
}

function mayBeCall(text: string): boolean {
  if (text.length > LONGEST) return false;
  const start = text.slice(0, 200).trimStart();
  if (/^`{1,3}\w*$/.test(start)) return true;
  const words = start.replace(/^```(?:json|xml|tool_calls?|tool_code)?(?=\s)/, "").replace(/\s+/g, "");
  return BEGINNINGS.some((one) => words.startsWith(one) || one.startsWith(words));
}

function callsIn(
  text: string,
  known: { readonly names: ReadonlySet<string>; readonly request: ModelRequest },
): readonly WrittenCall[] {
  const words = text.trim();
  if (words === "") return [];
  const calls = writtenCalls(words) ?? [];
  if (!calls.every(({ name }) => known.names.has(name))) return [];
  return calls.length > 0 && isQuoted(words, known.request) ? [] : calls;
}

function isQuoted(words: string, { messages }: ModelRequest): boolean {
  return messages.some(({ role, content }) => {
    if (role !== "user" && role !== "tool") return false;
    return (typeof content === "string" ? content : textOf(content)).includes(words);
  });
}

/** The calls that a text consists of, or undefined when there is anything else in it. */
export function writtenCalls(text: string): readonly WrittenCall[] | undefined {
  const fence = /^```\w*\n([\s\S]*?)\n?```$/.exec(text.trim());
  const words = (fence?.[1] ?? text).trim();
  const bare = words.replace(/^(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*/, "");
  if (/^[[{]/.test(bare)) return jsonCalls(bare);
  const inner = /^<function_calls>([\s\S]*)<\/function_calls>$/.exec(bare)?.[1]?.trim() ?? bare;
  const calls: WrittenCall[] = [];
  let rest = inner;
  while (rest !== "") {
    const block =
      /^(?:<tool_call>([\s\S]*?)<\/tool_call>|(<invoke [\s\S]*?<\/invoke>)|(<function=[\s\S]*?<\/function>))\s*/.exec(
        rest,
      );
    const body = (block?.[1] ?? block?.[2] ?? block?.[3])?.trim();
    if (block === null || body === undefined) return undefined;
    const found = body.startsWith("{") ? jsonCalls(body) : markedCall(body);
    if (found === undefined) return undefined;
    calls.push(...found);
    rest = rest.slice(block[0].length);
  }
  return calls.length === 0 ? undefined : calls;
}

/** `{"name": …, "arguments": {…}}`, several of them in a list or one below the other. */
function jsonCalls(text: string): readonly WrittenCall[] | undefined {
  const values = parsedAll(text);
  const calls = values?.flatMap((value) => (Array.isArray(value) ? value : [value])).map(jsonCall);
  return calls?.every((call) => call !== undefined) ? calls : undefined;
}

function parsedAll(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length < 2) return undefined;
    try {
      return lines.map((line) => JSON.parse(line) as unknown);
    } catch {
      return undefined;
    }
  }
}

function jsonCall(value: unknown): WrittenCall | undefined {
  if (!isRecord(value)) return undefined;
  const said = isRecord(value.function) ? value.function : value;
  const given = said.arguments ?? said.parameters;
  if (typeof said.name !== "string") return undefined;
  if (typeof given === "string") return { name: said.name, arguments: given };
  return isRecord(given) ? { name: said.name, arguments: JSON.stringify(given) } : undefined;
}

/** `<invoke name="x"><parameter name="k">v</parameter></invoke>`, or `<function=x><parameter=k>v</parameter></function>`. */
function markedCall(text: string): readonly WrittenCall[] | undefined {
  const call = /^<(?:invoke name="([^"]+)"|function=([^>\s]+))>([\s\S]*)<\/(?:invoke|function)>$/.exec(text);
  const name = call?.[1] ?? call?.[2];
  if (call === null || name === undefined) return undefined;
  const given: Record<string, unknown> = {};
  const parameter = /<parameter(?: name="([^"]+)"[^>]*|=([^>\s]+))>([\s\S]*?)<\/parameter>/g;
  const rest = (call[3] ?? "").replace(parameter, (_, quoted?: string, bare?: string, value?: string) => {
    given[quoted ?? bare ?? ""] = readValue(value ?? "");
    return "";
  });
  return rest.trim() === "" ? [{ name, arguments: JSON.stringify(given) }] : undefined;
}

/** Numbers, lists and the like are meant as such; everything else is text, without the line breaks around it. */
function readValue(written: string): unknown {
  const text = written.replace(/^\n|\n$/g, "");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
