import { sha256 } from "../../base/hash.js";
import { momentOf } from "../../config/grant-entry.js";
import type { AllowlistEntry } from "../../config/types.js";
import { isTooWide } from "../../config/wide-pattern.js";

/** An approval that was given for good, read from `command_allowlist`. */
export interface Grant {
  /** Stays the same as long as what it covers, its scope and its date stay the same. */
  readonly id: string;
  /** `text` is a bare text of the file, which may be a command, a pattern, a rule or a kind of danger. */
  readonly kind: "command" | "pattern" | "rule" | "text";
  readonly text: string;
  readonly scope?: string | undefined;
  readonly added?: string | undefined;
  readonly expires?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly maxUses?: number | undefined;
  readonly origin?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** It has no bound (`python *`), so it covers nothing by its text. */
  readonly tooWide: boolean;
}

export interface GrantPlace {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

export function grantOf(entry: AllowlistEntry, place: GrantPlace = {}): Grant {
  const { kind, text } = subjectOf(entry);
  const fields = typeof entry === "string" ? {} : entry;
  const { scope, added, expires, origin, max_uses: maxUses } = fields;
  const expiresAt = expires === undefined ? undefined : (momentOf(expires) ?? 0);
  return {
    id: grantId(entry),
    kind,
    text,
    scope,
    added,
    expires,
    expiresAt,
    maxUses,
    origin,
    file: place.file,
    line: place.line,
    tooWide: kind !== "rule" && kind !== "command" && isTooWide(text),
  };
}

export function grantId(entry: AllowlistEntry): string {
  const { kind, text } = subjectOf(entry);
  const { scope, added } = typeof entry === "string" ? {} : entry;
  return sha256(JSON.stringify([kind, text, scope, added])).slice(0, 8);
}

function subjectOf(entry: AllowlistEntry): Pick<Grant, "kind" | "text"> {
  if (typeof entry === "string") return { kind: "text", text: entry.trim() };
  if (entry.command !== undefined) return { kind: "command", text: entry.command.trim() };
  if (entry.pattern !== undefined) return { kind: "pattern", text: entry.pattern.trim() };
  return { kind: "rule", text: (entry.rule ?? "").trim() };
}
