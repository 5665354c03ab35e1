import { isRecord } from "../../base/record.js";
import { resolveLocalRef } from "../../tool/schema-walk.js";

export type Fields = Readonly<Record<string, unknown>>;

const MOST_HOPS = 20;

/** Why a part of a document cannot become a tool. */
export class Unsupported extends Error {}

/** The object itself, or what its `$ref` points to in the same document. */
export function resolved(document: Fields, value: unknown): Fields | undefined {
  let current = value;
  for (let hop = 0; hop < MOST_HOPS; hop += 1) {
    if (!isRecord(current)) return undefined;
    if (typeof current.$ref !== "string") return current;
    if (!current.$ref.startsWith("#"))
      throw new Unsupported(`it refers to another file: ${current.$ref.slice(0, 80)}`);
    const target = resolveLocalRef(document, current.$ref);
    if (target === undefined)
      throw new Unsupported(`it refers to ${current.$ref.slice(0, 80)}, which is not there`);
    current = target;
  }
  throw new Unsupported("its references go round in circles");
}

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
