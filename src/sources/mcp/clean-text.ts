import { stripControls } from "../../base/visible-text.js";
import { wholeCharacters } from "../../call/bounds.js";
import { stripFraming } from "../../call/framing.js";

export const LONGEST_DESCRIPTION = 2_000;
export const LONGEST_PARAMETER_TEXT = 1_000;

/** Text beyond so many times what is shown is dropped before any work is done on it. */
const RAW_FACTOR = 2;
const LONGEST_VALUE = 4_096;
const MAX_ROUNDS = 6;

/**
 * Text of a server as a model or a person may see it: nothing hidden, nothing that reorders or overwrites, nothing
 * that looks like a turn or a call of the conversation, and not too much of it.
 */
export function cleanText(raw: unknown, maxChars: number = LONGEST_DESCRIPTION): string {
  if (typeof raw !== "string") return "";
  const most = maxChars * RAW_FACTOR;
  const cut = raw.length > most ? wholeCharacters(raw, most) : raw;
  let current = cut;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // What one takes out may bring together what the other looks for.
    const next = stripFraming(stripControls(current));
    if (next === current) break;
    current = next;
  }
  current = current.trim();
  return current.length <= maxChars ? current : `${wholeCharacters(current, maxChars - 2).trimEnd()} …`;
}

/** One line of it, for lists and questions. */
export function cleanLine(raw: unknown, maxChars: number): string {
  return cleanText(String(raw).replace(/\s+/g, " "), maxChars);
}

/** Whether a text may be passed on as it is: cleaning would not change it. */
export function isClean(text: string): boolean {
  if (text.length > LONGEST_VALUE) return false;
  return stripFraming(stripControls(text)) === text;
}
