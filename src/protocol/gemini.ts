import { isRecord } from "../base/record.js";
import type { Adapter, Answer, RawEntry } from "./adapter.js";
import { unreadable } from "./call-entry.js";
import { modelError, modelSuccess, modelText, textIsObject } from "./model-text.js";
import { kindOf, listOf, own, ownFirst, type WireRecord } from "./wire-values.js";

const CALL_KEYS = ["functionCall", "function_call"];

/** Gemini generateContent: a content with parts, the response around it, or the parts alone. */
export const gemini: Adapter = {
  format: "gemini",

  recognise(value) {
    if (isCall(value)) return { format: "gemini", entries: [value], read: readCall };
    const known = isRecord(value) ? partsOf(value) : undefined;
    const parts = known ?? listOf(value);
    if (parts === undefined) return undefined;
    const calls = parts.filter(isCall);
    if (calls.length === 0 && known === undefined) return undefined;
    return { format: "gemini", entries: calls, read: readCall };
  },

  encode(answers) {
    return { role: "user", parts: answers.map((answer) => ({ functionResponse: functionResponse(answer) })) };
  },

  define(definitions) {
    return {
      // `parameters` takes only a subset of JSON Schema; this key takes all of it.
      functionDeclarations: definitions.map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      })),
    };
  },
};

/** Candidates are alternatives, so the first that calls something answers. */
function partsOf(value: WireRecord): readonly unknown[] | undefined {
  const candidates = listOf(own(value, "candidates"));
  if (candidates === undefined) return listOf(own(value, "parts")) ?? partsInside(value);
  const all = candidates.map((candidate) => (isRecord(candidate) ? (partsInside(candidate) ?? []) : []));
  return all.find((parts) => parts.some(isCall)) ?? all[0] ?? [];
}

function partsInside(candidate: WireRecord): readonly unknown[] | undefined {
  const content = own(candidate, "content");
  return isRecord(content) ? listOf(own(content, "parts")) : undefined;
}

/** Some clients write the keys a part does not use as null. */
function isCall(part: unknown): part is WireRecord {
  return isRecord(part) && (ownFirst(part, CALL_KEYS) ?? null) !== null;
}

function readCall(part: unknown): RawEntry {
  const call = ownFirst(part, CALL_KEYS);
  if (!isRecord(call)) {
    return unreadable(part, `has ${kindOf(call)} as functionCall; it must be an object with name and args`);
  }
  return {
    id: own(call, "id"),
    name: own(call, "name"),
    // An empty struct is left out on this wire, so absence is how "no arguments" is written.
    arguments: Object.hasOwn(call, "args") ? own(call, "args") : {},
    source: part,
  };
}

function functionResponse({ id, idWasGiven, name, result }: Answer) {
  const images = result.ok ? result.content.filter((part) => part.type === "image") : [];
  return {
    // Echoed only when the model sent one: it matches by order otherwise, and refuses ids it never gave.
    ...(idWasGiven ? { id } : {}),
    name,
    response: responseOf(result),
    ...(images.length === 0
      ? {}
      : { parts: images.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })) }),
  };
}

function responseOf(result: Answer["result"]): WireRecord {
  if (!result.ok) return modelError(result);
  return textIsObject(result) ? modelSuccess(result) : { status: "success", output: modelText(result) };
}
