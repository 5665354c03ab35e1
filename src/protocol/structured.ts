import { isRecord } from "../base/record.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import type { WireRecord } from "./wire-values.js";

/** The bound of one result in text form, kept for the other form too. */
const MAX_STRUCTURED_CHARS = 100_000;

/**
 * The structured part, where a format can carry it. A shortened result has none, and neither has one whose
 * object is far larger than its text: the bound on what a model receives holds for both forms.
 */
export function structuredObject(result: CallResult): WireRecord | undefined {
  const { structured } = result;
  if (!result.ok || result.truncated || !isRecord(structured)) return undefined;
  const length = jsonLength(structured);
  return length <= Math.max(MAX_STRUCTURED_CHARS, textOf(result.content).length) ? structured : undefined;
}

/** Infinite for what JSON cannot express (cycles, BigInt): such a value must not reach the wire. */
function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
