import { isRecord } from "../base/record.js";
export type WireRecord = Readonly<Record<string, unknown>>;

/** Own keys only, so that nothing inherited is ever taken for something the sender wrote. */
export function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The first of several spellings that is present. */
export function ownFirst(value: unknown, keys: readonly string[]): unknown {
  const present = isRecord(value) ? keys.find((key) => Object.hasOwn(value, key)) : undefined;
  return present === undefined ? undefined : own(value, present);
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
