import { canonicalJson } from "../../base/canonical-json.js";
import { sha256 } from "../../base/hash.js";
import { isRecord } from "../../base/record.js";

/** A tool as its server describes it, word for word. */
export interface Definition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
}

const FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Larger than any tool needs to say about itself. */
const LONGEST_DEFINITION = 512 * 1024;

/** The parts of a tool that count, or why they cannot be kept. */
export function definitionFrom(raw: Record<string, unknown> & { name: string }): Definition | string {
  const kept: Record<string, unknown> = { name: raw.name };
  for (const field of FIELDS) if (raw[field] !== undefined) kept[field] = raw[field];
  try {
    const size = sizeOf(kept);
    if (size > LONGEST_DEFINITION) return `its definition has ${Math.round(size / 1024)} KB`;
    return kept as unknown as Definition;
  } catch {
    return "its definition is nested too deeply";
  }
}

export function sizeOf(definition: object): number {
  return JSON.stringify(definition).length;
}

/** The same for equal definitions, whatever order they were written in; another one for any change at all. */
export function fingerprintOf(definition: Definition): string {
  return sha256(canonicalJson(definition));
}

/** Reads a definition that was written down; undefined when it is damaged. */
export function parseDefinition(text: string): Definition | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && typeof value.name === "string" ? (value as unknown as Definition) : undefined;
  } catch {
    return undefined;
  }
}

/** A hint of the server about a tool. Absent and unreadable count as not given. */
export function hints(
  definition: Definition,
  name: "readOnlyHint" | "destructiveHint" | "idempotentHint",
): boolean {
  return isRecord(definition.annotations) && definition.annotations[name] === true;
}
