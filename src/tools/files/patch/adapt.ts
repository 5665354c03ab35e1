import type { Refusal } from "./guards.js";
import { indentationUnit } from "./indentation.js";
import { scriptBetween } from "./line-script.js";
import { type MergedLine, mergeLines } from "./merge-lines.js";
import type { Region } from "./regions.js";
import { type StrategyName, unescapeBlanks } from "./strategies.js";

export interface Replacement {
  readonly strategy: StrategyName;
  /** The whole text, with plain newlines. */
  readonly text: string;
  readonly region: Region;
  readonly oldText: string;
  readonly newText: string;
}

export type Adapted =
  | {
      readonly ok: true;
      /** What is to be replaced; wider than the match where its first line was sent without indentation. */
      readonly region: Region;
      readonly lines: readonly MergedLine[];
    }
  | ({ readonly ok: false } & Refusal);

/** The new text as it must be written at the place that matched. */
export function adaptNewText(replacement: Replacement): Adapted {
  const { strategy, text, oldText, newText } = replacement;
  const asItStands = strategy === "exact" || strategy === "escape_normalized";
  const region = asItStands ? replacement.region : withIndentation(text, replacement.region);
  const found = text.slice(region.start, region.end).split("\n");
  if (strategy === "exact") return { ok: true, region, lines: asSent(found, newText.split("\n")) };
  if (strategy === "escape_normalized") {
    const unescaped = unescapeLike({ oldText, newText, found: found.join("\n") });
    return unescaped.ok ? { ok: true, region, lines: asSent(found, unescaped.lines) } : unescaped;
  }
  const { sent, wanted } = sameBoundaries({ strategy, oldText, newText, found });
  if (wanted.length === 0) return { ok: true, region: withNewline(text, region), lines: [] };
  const lineStart = region.start === 0 ? 0 : text.lastIndexOf("\n", region.start - 1) + 1;
  const file = text.split("\n");
  const merged = mergeLines({
    sent,
    found,
    wanted,
    steps: scriptBetween(sent, wanted),
    file,
    unit: indentationUnit(file),
    insideLine: lineStart !== region.start,
  });
  return merged.ok ? { ok: true, region, lines: merged.lines } : merged;
}

/** Blanks in front of a match belong to it: they are the indentation of its first line. */
function withIndentation(text: string, region: Region): Region {
  const lineStart = region.start === 0 ? 0 : text.lastIndexOf("\n", region.start - 1) + 1;
  return text.slice(lineStart, region.start).trim() === "" ? { start: lineStart, end: region.end } : region;
}

/** Whole lines go together with the newline behind them. */
function withNewline(text: string, { start, end }: Region): Region {
  return { start, end: text[end] === "\n" ? end + 1 : end };
}

/** Lines that need no adapting, but must know which lines they stay or replace. */
function asSent(found: readonly string[], wanted: readonly string[]): readonly MergedLine[] {
  return scriptBetween(found, wanted).flatMap((step): MergedLine[] => {
    if (step.kind === "keep") return [{ text: wanted[step.wanted] ?? "", old: step.old }];
    return wanted.slice(step.wanted.from, step.wanted.to).map((text, index) => {
      const old = step.old.from + index;
      return old < step.old.to ? { text, old } : { text };
    });
  });
}

/** Both texts as lines, with as many old ones as were found. */
function sameBoundaries(edit: {
  strategy: StrategyName;
  oldText: string;
  newText: string;
  found: readonly string[];
}): { readonly sent: readonly string[]; readonly wanted: readonly string[] } {
  const { strategy, found } = edit;
  const split = strategy === "trimmed_boundary" ? withoutBlankEnds : (text: string) => text.split("\n");
  const sent = split(edit.oldText);
  const wanted = split(edit.newText);
  // A newline at the end of the old text that the file's last line does not have.
  if (sent.length === found.length + 1 && sent.at(-1) === "") {
    return { sent: sent.slice(0, -1), wanted: wanted.at(-1) === "" ? wanted.slice(0, -1) : wanted };
  }
  return { sent, wanted };
}

function withoutBlankEnds(text: string): string[] {
  const lines = text.split("\n");
  const isText = (line: string) => line.trim() !== "";
  return lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1);
}

/** \t and \r become characters only where the file has them; \n stays as it is sent, it may be meant. */
function unescapeLike(edit: {
  oldText: string;
  newText: string;
  found: string;
}): { readonly ok: true; readonly lines: readonly string[] } | ({ readonly ok: false } & Refusal) {
  const { oldText, newText, found } = edit;
  const meant = (["t", "r"] as const).filter((letter) => found.includes(unescapeBlanks(`\\${letter}`)));
  const written = newText.replace(/\\([tr\\])/g, (whole, letter: string) =>
    meant.some((each) => each === letter) ? unescapeBlanks(whole) : whole,
  );
  const inside = (text: string) => /\S[^\n]*\\t/.test(text.replace(/\\n/g, "\n").replace(/^(\\t)+/gm, ""));
  const unclear = newText.includes("\\\\") || (inside(newText) && !inside(oldText));
  if (written !== newText && unclear) {
    return {
      ok: false,
      message: "old_string fits only when its \\t are tabs, and it is unclear which \\t of new_string are.",
      hint: "Send real tabs in both texts, and \\t only where the file shall hold a backslash.",
    };
  }
  return { ok: true, lines: written.split("\n") };
}
