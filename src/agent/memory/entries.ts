import { ToolError } from "../../tool/errors.js";
import type { MemoryContent, MemoryOperation } from "../../tool/host-capabilities.js";

/** What stands between two entries. */
export const JOINT = "\n§\n";

/** The entries of a file, in order. Whoever edits it by hand may leave blanks and empty entries. */
export function entriesIn(text: string): readonly string[] {
  return text
    .replaceAll("\r\n", "\n")
    .split(/^[ \t]*§[ \t]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function textOfEntries(entries: readonly string[]): string {
  return entries.join(JOINT);
}

export function contentOf(entries: readonly string[], maxChars: number): MemoryContent {
  return { entries, usedChars: textOfEntries(entries).length, maxChars };
}

/**
 * The entries after all operations; the size counts at the end only, so that one operation can make room for another.
 * What cannot be done is a ToolError that tells the entries, so that the model can try again.
 */
export function changed(
  entries: readonly string[],
  operations: readonly MemoryOperation[],
  maxChars: number,
): readonly string[] {
  const before = contentOf(entries, maxChars);
  const after = operations.reduce((current, operation) => applied(current, operation, before), entries);
  const { usedChars } = contentOf(after, maxChars);
  // Somebody may have written more into the file than fits; taking out of it is never refused.
  if (usedChars <= maxChars || usedChars < before.usedChars) return after;
  throw refused(`It would take ${usedChars} of ${maxChars} characters; nothing was changed.`, {
    before,
    hint: "Replace or remove entries first, or do both with operations in one call.",
  });
}

function applied(
  entries: readonly string[],
  operation: MemoryOperation,
  before: MemoryContent,
): readonly string[] {
  if (operation.action === "add") {
    const content = cleaned(operation.content, before);
    return entries.includes(content) ? entries : [...entries, content];
  }
  const index = matching(entries, operation.oldText, before);
  if (operation.action === "remove") return entries.toSpliced(index, 1);
  const content = cleaned(operation.content, before);
  const others = entries.toSpliced(index, 1);
  return others.includes(content) ? others : entries.with(index, content);
}

/** An entry that holds a joint would be two the next time it is read. */
function cleaned(content: string, before: MemoryContent): string {
  const [only, ...others] = entriesIn(content);
  if (only === undefined || others.length > 0) {
    const why = only === undefined ? "An entry needs content" : "One entry cannot hold a line with only §";
    throw refused(`${why}; nothing was changed.`, { before });
  }
  return only;
}

/** Where the entry is that is meant: the very text counts before a part of it. */
function matching(entries: readonly string[], oldText: string, before: MemoryContent): number {
  const sought = oldText.trim();
  if (sought === "") throw refused("old_text is empty; nothing was changed.", { before });
  const exact = entries.indexOf(sought);
  if (exact >= 0) return exact;
  const found = entries.flatMap((entry, index) => (entry.includes(sought) ? index : []));
  const [first, second] = found;
  if (first === undefined) {
    throw refused(`No entry holds ${JSON.stringify(preview(sought))}; nothing was changed.`, {
      before,
      hint: "Take old_text from current_entries.",
    });
  }
  if (second === undefined || new Set(found.map((index) => entries[index])).size === 1) return first;
  const previews = found.map((index) => `- ${preview(entries[index] ?? "")}`).join("\n");
  throw refused(
    `Multiple entries hold ${JSON.stringify(preview(sought))}; nothing was changed:\n${previews}`,
    {
      before,
      hint: "Give a part that only one of them holds.",
    },
  );
}

const PREVIEW_CHARS = 80;

function preview(entry: string): string {
  return entry.length <= PREVIEW_CHARS
    ? entry
    : `${entry.slice(0, PREVIEW_CHARS).replace(/[\ud800-\udbff]$/, "")}…`;
}

function refused(
  message: string,
  { before, hint }: { readonly before: MemoryContent; readonly hint?: string },
): ToolError {
  const { entries, usedChars, maxChars } = before;
  const usage = usageText({ usedChars, maxChars });
  const current = `current_entries (${usage}): ${toldEntries(entries)}`;
  return new ToolError(message, {
    code: "invalid_arguments",
    hint: hint === undefined ? current : `${hint} ${current}`,
    details: { current_entries: entries, usage },
  });
}

/** Messages of errors are cut at 2,000 characters: what would not fit whole is told by the beginnings. */
const MOST_TOLD_CHARS = 1_400;

function toldEntries(entries: readonly string[]): string {
  const whole = JSON.stringify(entries);
  return whole.length <= MOST_TOLD_CHARS ? whole : JSON.stringify(entries.map(preview));
}

/** `67% — 1,474/2,200 chars`. */
export function usageText({ usedChars, maxChars }: Omit<MemoryContent, "entries">): string {
  const percent = Math.round((usedChars / maxChars) * 100);
  return `${percent}% — ${usedChars.toLocaleString("en-US")}/${maxChars.toLocaleString("en-US")} chars`;
}
