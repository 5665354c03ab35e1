import { diffWordsWithSpace } from "diff";
import { reindent } from "./reindent.js";
import type { StrategyName } from "./strategies.js";
import { plainText } from "./unicode.js";

export interface Replacement {
  readonly strategy: StrategyName;
  /** What the file holds at the matched place. */
  readonly found: string;
  readonly oldText: string;
  readonly newText: string;
}

/** The new text as it must be written at a place that matched loosely. */
export function adaptNewText(replacement: Replacement): string {
  const { strategy, found, oldText, newText } = replacement;
  switch (strategy) {
    case "exact":
      return newText;
    case "escape_normalized":
      return unescapeLike(newText, found);
    case "trimmed_boundary":
      return reindented(found, oldText.trim(), newText.trim());
    case "unicode_normalized":
      return keepTypography(replacement);
    default:
      return reindented(found, oldText, newText);
  }
}

function reindented(found: string, oldText: string, newText: string): string {
  const pair = { sent: oldText.split("\n"), found: found.split("\n") };
  return reindent(newText.split("\n"), pair).join("\n");
}

/** \t and \r become characters only where the file has them; \n stays as it is sent, it may be meant. */
function unescapeLike(newText: string, found: string): string {
  const tabs = found.includes("\t") ? newText.replaceAll("\\t", "\t") : newText;
  return found.includes("\r") ? tabs.replaceAll("\\r", "\r") : tabs;
}

/** Words that the edit does not change keep the quotes and dashes the file has. */
function keepTypography({ found, oldText, newText }: Replacement): string {
  const plainFound = plainText(found);
  const plainOld = plainText(oldText);
  let position = 0;
  let result = "";
  for (const change of diffWordsWithSpace(oldText, newText)) {
    if (change.added) {
      result += change.value;
      continue;
    }
    const start = plainOld.positionOf(position);
    const end = plainOld.positionOf(position + change.value.length);
    position += change.value.length;
    if (change.removed) continue;
    const origin = start === undefined || end === undefined ? undefined : plainFound.originOf({ start, end });
    result += origin === undefined ? change.value : found.slice(origin.start, origin.end);
  }
  return result;
}
