import type { Review } from "../../call/scope.js";

const TEXT = '"((?:[^"\\\\\\u0000-\\u001f]|\\\\.)*)"';
const FIELD = `"(decision|reason)"\\s*:\\s*${TEXT}`;
const ANSWER = new RegExp(`^\\s*\\{\\s*${FIELD}\\s*,\\s*${FIELD}\\s*\\}\\s*$`);

const DECISIONS: ReadonlyMap<string, Review["decision"]> = new Map([
  ["APPROVE", "approve"],
  ["DENY", "deny"],
  ["ESCALATE", "escalate"],
]);

const LONGEST_REASON = 300;

/**
 * Reads `{"decision": …, "reason": …}` and nothing else. The text is matched as a whole instead of being
 * searched, so that an answer around or inside another answer, or a field given twice, is no answer.
 */
export function readAnswer(content: string): Review {
  const match = ANSWER.exec(content);
  if (match === null) return escalate("its answer was not the one JSON object it was asked for");
  const [, firstName, firstValue = "", secondName, secondValue = ""] = match;
  if (firstName === secondName) return escalate("its answer gave a field twice");
  const [decision, reason] = firstName === "decision" ? [firstValue, secondValue] : [secondValue, firstValue];
  const known = DECISIONS.get(decision);
  if (known === undefined) return escalate("its decision was none of APPROVE, DENY and ESCALATE");
  const words = plainReason(reason);
  return words === undefined ? escalate("its reason could not be read") : { decision: known, reason: words };
}

export function escalate(why: string): Review {
  return { decision: "escalate", reason: `the reviewer gave no verdict: ${why}` };
}

/** The reason is shown to a person and to the model: one short line without anything that steers a screen. */
function plainReason(encoded: string): string | undefined {
  try {
    const text = JSON.parse(`"${encoded}"`) as string;
    const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
    return line === "" ? "no reason given" : line.slice(0, LONGEST_REASON);
  } catch {
    return undefined;
  }
}
