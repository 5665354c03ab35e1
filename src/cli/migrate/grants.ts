import { addGrants } from "../../config/edit-grants.js";
import type { AllowlistEntry, GrantEntry } from "../../config/types.js";
import { isTooWide } from "../../config/wide-pattern.js";
import { ORIGINAL_WORDS } from "../../policy/grants/original-words.js";
import { checked, type Tree } from "./settings.js";
import { failed, type Homes, kept, migrated, type Step, skipped } from "./step.js";

/** `command_allowlist`: exact commands, patterns, and the words the original uses for kinds of danger. */
export function planGrants({ home }: Homes, config: { readonly theirs: Tree; readonly ours: Tree }): Step[] {
  const { command_allowlist: given } = config.theirs;
  if (given === undefined || given === null) return [];
  // The original reads one text as a list of one.
  const written = typeof given === "string" ? [given] : given;
  if (!Array.isArray(written))
    return [failed({ kind: "grant", name: "command_allowlist", reason: "it is no list" })];
  const here = Array.isArray(config.ours.command_allowlist) ? config.ours.command_allowlist : [];
  return written.map((entered: unknown) => {
    const item = { kind: "grant", name: String(entered), to: "command_allowlist" } as const;
    if (typeof entered !== "string" || entered.trim() === "")
      return failed({ ...item, reason: "it is no text; it approves nothing" });
    const text = entered.trim();
    const entry = entryOf(text);
    if (entry.pattern !== undefined && isTooWide(entry.pattern))
      return skipped({ ...item, reason: "it has no bound: such a pattern approves nothing dangerous here" });
    if (here.some((other: AllowlistEntry) => isSame(other, entry)))
      return kept({ ...item, reason: "it is here already" });
    return migrated(item, async () => checked(await addGrants({ home, entries: [entry], covers: isSame })));
  });
}

function entryOf(text: string): GrantEntry {
  const origin = "Hermes Agent";
  if (Object.hasOwn(ORIGINAL_WORDS, text.toLowerCase())) return { rule: text, origin };
  return /[*?[]/.test(text) ? { pattern: text, origin } : { command: text, origin };
}

function isSame(one: AllowlistEntry, other: AllowlistEntry): boolean {
  return subjectOf(one) === subjectOf(other);
}

function subjectOf(entry: AllowlistEntry): string {
  return typeof entry === "string" ? entry : (entry.command ?? entry.pattern ?? entry.rule ?? "");
}
