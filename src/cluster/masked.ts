import { serializeSafely } from "../tool/serialize.js";

const DEEPEST = 64;

/** A copy that can be sent, with every secret in its texts masked. What cannot travel as it is travels as it would be written down. */
export function masked<Value>(value: Value, redact: (text: string) => string): Value {
  try {
    return copy(value, redact, DEEPEST) as Value;
  } catch {
    return copy(serializeSafely(value).safe, redact, DEEPEST) as Value;
  }
}

function copy(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "function" || typeof value === "symbol")
    throw new TypeError(`a ${typeof value} cannot travel`);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (depth === 0) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) return value.map((item) => copy(item, redact, depth - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return serializeSafely(value).safe;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key), copy(item, redact, depth - 1)]),
  );
}
