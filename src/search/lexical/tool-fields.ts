import { isRecord } from "../../base/record.js";
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
  collect(tool.parameters, { names, texts }, 0);
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
}

function collect(schema: unknown, into: Collected, depth: number): void {
  if (!isRecord(schema) || depth > MAX_DEPTH || isFull(into)) return;
  const { properties, enum: values, items, anyOf, oneOf, allOf } = schema;
  if (isRecord(properties)) {
    for (const name of Object.keys(properties)) {
      if (isFull(into)) return;
      const property = properties[name];
      into.names.push(name.slice(0, MAX_TEXT));
      addText(property, into);
      collect(property, into, depth + 1);
    }
  }
  if (Array.isArray(values)) {
    for (const value of values.slice(0, 50)) {
      if (typeof value === "string") into.texts.push(value.slice(0, 100));
    }
  }
  if (items !== undefined) collect(items, into, depth + 1);
  if (anyOf !== undefined) collectEach(anyOf, into, depth + 1);
  if (oneOf !== undefined) collectEach(oneOf, into, depth + 1);
  if (allOf !== undefined) collectEach(allOf, into, depth + 1);
}

function collectEach(options: unknown, into: Collected, depth: number): void {
  if (Array.isArray(options)) for (const option of options.slice(0, 20)) collect(option, into, depth);
}

function isFull({ names, texts }: Collected): boolean {
  return names.length + texts.length > MAX_PIECES;
}

function addText(property: unknown, { texts }: Collected): void {
  if (!isRecord(property)) return;
  const { title, description } = property;
  if (typeof title === "string") texts.push(title.slice(0, MAX_TEXT));
  if (typeof description === "string") texts.push(description.slice(0, MAX_TEXT));
}
