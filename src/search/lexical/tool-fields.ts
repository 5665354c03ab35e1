import type { JsonSchema } from "../../tool/json-schema.js";
import type { SearchableTool } from "../types.js";

/** Parts of a tool whose words count differently. */
export const FIELDS = ["name", "lead", "rest", "parameterNames", "parameterTexts", "source", "tags"] as const;

/** Schemas of strangers may be deep or endless; what lies further in says little about the tool. */
const MAX_DEPTH = 4;
const MAX_PIECES = 400;
const MAX_TEXT = 4_000;
/** A shorter one is a heading, a number or an abbreviation. */
const MIN_LEAD = 15;
const LEAD_END = /[.!?](?=\s)|\n\s*\n|\n(?=\s*[-*#])/g;

/** The texts of a tool, field by field, in the order of FIELDS. */
export function fieldsOf(tool: SearchableTool): readonly (readonly string[])[] {
  const description = tool.description.slice(0, 4 * MAX_TEXT);
  const leadEnd = endOfLead(description);
  const names: string[] = [];
  const texts: string[] = [];
  collect(tool.parameters, { names, texts, depth: 0 });
  return [
    [tool.name],
    [description.slice(0, leadEnd)],
    [description.slice(leadEnd)],
    names,
    texts,
    tool.source === undefined ? [] : [tool.source],
    tool.tags ?? [],
  ];
}

/** The first sentence says what a tool does; the rest is often how to call it. */
function endOfLead(description: string): number {
  LEAD_END.lastIndex = MIN_LEAD;
  const end = LEAD_END.exec(description);
  return end === null ? description.length : end.index + 1;
}

interface Collected {
  readonly names: string[];
  readonly texts: string[];
  readonly depth: number;
}

function collect(schema: unknown, into: Collected): void {
  if (!isRecord(schema) || into.depth > MAX_DEPTH || isFull(into)) return;
  const deeper = { ...into, depth: into.depth + 1 };
  if (isRecord(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isFull(into)) return;
      into.names.push(name.slice(0, MAX_TEXT));
      addText(property, into);
      collect(property, deeper);
    }
  }
  if (Array.isArray(schema.enum)) {
    for (const value of schema.enum.slice(0, 50)) {
      if (typeof value === "string") into.texts.push(value.slice(0, 100));
    }
  }
  collect(schema.items, deeper);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const options = schema[key];
    if (Array.isArray(options)) for (const option of options.slice(0, 20)) collect(option, deeper);
  }
}

function isFull({ names, texts }: Collected): boolean {
  return names.length + texts.length > MAX_PIECES;
}

function addText(property: unknown, { texts }: Collected): void {
  if (!isRecord(property)) return;
  for (const key of ["title", "description"]) {
    const text = property[key];
    if (typeof text === "string") texts.push(text.slice(0, MAX_TEXT));
  }
}

function isRecord(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
