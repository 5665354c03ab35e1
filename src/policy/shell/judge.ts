import { DANGEROUS, type DangerRule, HARDLINE } from "./danger-table.js";

export interface CommandVerdict {
  readonly verdict: "safe" | "danger" | "hardline";
  readonly rule: string;
  readonly reason: string;
  readonly span?: readonly [number, number];
}

/** A command too long to be judged with confidence gets the strictest answer that a person can lift. */
const LONGEST = 16_384;

/**
 * Judges a command line by the pattern table, over the text as written and over a normalised form. Patterns
 * see words, not meaning: this is a net for mistakes, not a boundary.
 */
export function judgeCommand(command: string): CommandVerdict {
  if (command.includes("\0"))
    return { verdict: "hardline", rule: "hardline.nul", reason: "contains a NUL character" };
  const spellings = [command, normalise(command)];
  const hard = firstMatch(HARDLINE, spellings);
  if (hard !== undefined) return { verdict: "hardline", ...hard };
  if (command.length > LONGEST) {
    return {
      verdict: "danger",
      rule: "danger.too-long",
      reason: `is ${command.length} characters long, too long to judge`,
    };
  }
  const danger = firstMatch(DANGEROUS, spellings);
  return danger === undefined
    ? { verdict: "safe", rule: "safe", reason: "" }
    : { verdict: "danger", ...danger };
}

function firstMatch(
  rules: readonly DangerRule[],
  spellings: readonly string[],
): Omit<CommandVerdict, "verdict"> | undefined {
  for (const rule of rules) {
    for (const [index, spelling] of spellings.entries()) {
      const match = rule.pattern.exec(spelling);
      if (match === null) continue;
      const found = { rule: rule.id, reason: rule.reason };
      return index === 0 ? { ...found, span: [match.index, match.index + match[0].length] } : found;
    }
  }
  return undefined;
}

/** Undoes the cheap disguises: colour codes, full-width letters, `r''m`, `\rm`, `${IFS}`, joined lines. */
function normalise(command: string): string {
  return command
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "")
    .normalize("NFKC")
    .replace(/\\\n/g, "")
    .replace(/\$\{IFS\}|\$IFS\b/g, " ")
    .replace(/\\([A-Za-z])/g, "$1")
    .replace(/''|""/g, "")
    .replace(/(["'])([\w./~$*-]+)\1/g, "$2");
}
