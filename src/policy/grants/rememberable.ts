import type { JudgedSegment } from "../../call/scope.js";
import { isAltered } from "./altered.js";
import { isOpaque } from "./opaque.js";

/** What nobody can check at a glance is not worth remembering. */
const LONGEST = 2_000;

/**
 * What "always" would write down for the parts that were asked about: each one's exact text. Nothing at all
 * when one of them cannot be remembered, because the line would be asked about again in spite of it.
 */
export function rememberable(
  segments: readonly JudgedSegment[],
  redact: (text: string) => string = (text) => text,
): string[] {
  const asked = segments.filter((segment) => segment.verdict !== "safe");
  const all = asked.every(
    (segment) => canRemember(segment) && redact(segment.canonical) === segment.canonical,
  );
  return all ? [...new Set(asked.map((segment) => segment.canonical))] : [];
}

function canRemember(segment: JudgedSegment): boolean {
  if (segment.verdict === "hardline" || isOpaque(segment)) return false;
  if (isAltered({ command: segment.text })) return false;
  // Invisible characters could make the shown text differ from the saved one.
  return segment.canonical.length <= LONGEST && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(segment.canonical);
}
