import { serializeOutput } from "../tool/serialize.js";

/** As much of the arguments as the journal keeps. */
const KEPT_CHARS = 64 * 1024;
/** What is kept of a long text when there is more than that. */
const PIECE_CHARS = 4_096;

/**
 * Arguments as the journal gets them, masked. Those of ordinary size are there whole; of larger ones long texts are
 * cut first, since writing out and masking a megabyte only to throw it away takes longer than most calls.
 */
export function journaledArguments(
  value: unknown,
  redact: (text: string) => string,
): { readonly json: string; readonly bytes?: number } {
  const chars = textChars(value, 0);
  if (chars <= KEPT_CHARS) return { json: redact(serializeOutput(value)) };
  return { json: redact(serializeOutput(shortened(value, redact))), bytes: chars };
}

/** Characters of all texts in a value; counting stops where it is known to be too much for cutting to matter. */
function textChars(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 50) return 8;
  let sum = 0;
  for (const [key, inner] of Object.entries(value)) sum += key.length + textChars(inner, depth + 1);
  return sum;
}

function shortened(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return shortText(value, redact);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, redact));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner, redact)]));
}

/** Masked before it is cut: of a secret that stands across the cut, no half may stay. */
function shortText(text: string, redact: (text: string) => string): string {
  if (text.length <= 2 * PIECE_CHARS) return text;
  const piece = redact(text.slice(0, 2 * PIECE_CHARS)).slice(0, PIECE_CHARS);
  return `${piece}… (${text.length} characters)`;
}
