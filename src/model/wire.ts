import { isRecord } from "../base/record.js";
import { ModelError, type ModelMessage } from "./model-client.js";

/** What a server sent, read without trusting its shape. */

export function field(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Empty when it is no text. */
export function textIn(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

export function numberIn(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Empty when it is no list. */
export function listIn(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable();
  }
}

export function unusable(): ModelError {
  return new ModelError("bad_answer", "the model's server sent no usable answer");
}

export function brokenOff(): ModelError {
  return new ModelError("broken_off", "the model's answer broke off before its end");
}

/**
 * A request as JSON text. `spliced` holds fields whose entries are JSON text already: what goes back byte for byte must
 * not be read and written anew on its way.
 */
export function bodyText(
  fields: Readonly<Record<string, unknown>>,
  spliced: Readonly<Record<string, readonly string[]>>,
): string {
  const written = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const lists = Object.entries(spliced).map(
    ([name, items]) => `${JSON.stringify(name)}:[${items.join(",")}]`,
  );
  return `{${[...written, ...lists].join(",")}}`;
}

/** The arguments of an earlier call as the JSON object that every server takes, whatever the model had written. */
export function argumentsText(given: unknown): string {
  const text = typeof given === "string" ? given : (JSON.stringify(given) ?? "");
  if (text.trim() === "") return "{}";
  try {
    if (isRecord(JSON.parse(text))) return text;
  } catch {
    // Told below, as text.
  }
  return JSON.stringify({ malformed_arguments: text });
}

/** For servers that take it apart from the messages. What is said later in that role stays where it is. */
export function systemApart(messages: readonly ModelMessage[]): {
  /** Empty when there is none. */
  readonly system: string;
  readonly rest: readonly ModelMessage[];
} {
  const first = messages.findIndex(({ role }) => role !== "system");
  const split = first === -1 ? messages.length : first;
  const system = messages.slice(0, split).map(({ content }) => content);
  return { system: system.join("\n\n"), rest: messages.slice(split) };
}
