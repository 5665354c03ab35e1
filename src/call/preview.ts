import type { CallRecord } from "./call-record.js";

/** A glimpse of what a call was given, for those who look on. */
export function previewOf({ scope, target }: CallRecord): string {
  return scope.services.redact(previewOfArguments(target.arguments)).slice(0, PREVIEW_CHARS);
}

const PREVIEW_CHARS = 200;
/** Masked before it is cut: a secret that is cut in two is no longer recognised. */
const UNMASKED_CHARS = 4_096;
const PREVIEW_FIELDS = 4;

/** A glimpse of arguments that nobody has checked yet: they may be huge, cyclic or not JSON at all. */
function previewOfArguments(raw: unknown): string {
  if (typeof raw === "string") return raw.slice(0, UNMASKED_CHARS);
  if (typeof raw !== "object" || raw === null) return String(raw);
  // Listing the keys of a long array takes seconds.
  if (Array.isArray(raw)) return `[${raw.length} items]`;
  try {
    const shown: Record<string, string> = {};
    let left = PREVIEW_FIELDS;
    for (const key in raw) {
      const value: unknown = Reflect.get(raw, key);
      shown[key.slice(0, 40)] =
        typeof value === "string"
          ? value.slice(0, UNMASKED_CHARS)
          : typeof value === "object"
            ? "…"
            : String(value);
      if (--left === 0) break;
    }
    return JSON.stringify(shown);
  } catch {
    return "";
  }
}
