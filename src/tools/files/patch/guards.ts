import { indentOf, OPENER } from "./indentation.js";
import { lineNumberAt, type Region } from "./regions.js";
import type { StrategyName } from "./strategies.js";

/** Why an edit was not made. `lines` name places in the file that explain it. */
export interface Refusal {
  readonly message: string;
  readonly hint: string;
}

const MAX_LINES_NAMED = 5;

export function refuseUselessEdit(oldText: string, newText: string): Refusal | undefined {
  if (oldText.trim() === "") {
    return {
      message: "old_string is empty or only blanks, so it names no place in the file.",
      hint: "Send the lines to replace, with some context; use write_file for a new file.",
    };
  }
  if (oldText === newText) {
    return {
      message: "old_string and new_string are the same; there is nothing to change.",
      hint: "Send the changed text as new_string.",
    };
  }
  return undefined;
}

export function refuseAmbiguous(text: string, regions: readonly Region[]): Refusal {
  const lines = regions.slice(0, MAX_LINES_NAMED).map((region) => lineNumberAt(text, region.start));
  const more = regions.length > lines.length ? ", …" : "";
  return {
    message: `old_string matches ${regions.length} places (lines ${lines.join(", ")}${more}).`,
    hint: "Add surrounding lines until it is unique, or set replace_all to change every one.",
  };
}

/** Quotes escaped in both texts but not in the file: writing them would add backslashes. */
export function refuseEscapeDrift(edit: {
  readonly found: string;
  readonly oldText: string;
  readonly newText: string;
}): Refusal | undefined {
  const drifted = ["\\'", '\\"'].find(
    (quote) => edit.oldText.includes(quote) && edit.newText.includes(quote) && !edit.found.includes(quote),
  );
  return drifted === undefined ? undefined : escapedTooOften(drifted);
}

export function escapedTooOften(quote: string): Refusal {
  return {
    message: `The text was escaped once too often: it holds ${quote} but the file does not.`,
    hint: "Send the quotes as they stand in the file, without a backslash.",
  };
}

/** \n sent as two characters in both texts: the old one fits, the new one would be written as it is. */
export function refuseEscapedNewlines(edit: {
  readonly strategy: StrategyName;
  readonly oldText: string;
  readonly newText: string;
}): Refusal | undefined {
  const escaped = edit.oldText.includes("\\n") && edit.newText.includes("\\n");
  if (edit.strategy !== "escape_normalized" || !escaped) return undefined;
  return {
    message: "old_string fits only when its \\n are line breaks, so the \\n in new_string are unclear.",
    hint: "Send real line breaks in both texts.",
  };
}

const INDENTATION_BLIND: ReadonlySet<StrategyName> = new Set([
  "line_trimmed",
  "indentation_flexible",
  "block_anchor",
  "context_aware",
]);

/** The match ignored indentation, and the new text would stand deeper than what it replaces. */
export function refuseDeeperIndentation(edit: {
  readonly strategy: StrategyName;
  readonly text: string;
  readonly region: Region;
  readonly adapted: string;
}): Refusal | undefined {
  const { strategy, text, region, adapted } = edit;
  if (!INDENTATION_BLIND.has(strategy)) return undefined;
  const first = (block: string) => block.split("\n").find((line) => line.trim() !== "");
  const found = first(text.slice(region.start, region.end));
  const written = first(adapted);
  if (found === undefined || written === undefined) return undefined;
  if (indentOf(written).length <= indentOf(found).length) return undefined;
  const before = text.slice(0, region.start).trimEnd();
  const previous = before.slice(before.lastIndexOf("\n") + 1);
  if (OPENER.test(previous)) return undefined;
  return {
    message: `The new text would be indented deeper than the line it replaces (line ${lineNumberAt(text, region.start)}), and nothing before it opens a block.`,
    hint: "Read these lines and send old_string and new_string with the file's own indentation.",
  };
}
