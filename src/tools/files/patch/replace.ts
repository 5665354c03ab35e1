import { type Adapted, adaptNewText } from "./adapt.js";
import { similarLines } from "./did-you-mean.js";
import {
  escapedTooOften,
  type Refusal,
  refuseAmbiguous,
  refuseDeeperIndentation,
  refuseEscapeDrift,
  refuseEscapedNewlines,
  refuseUselessEdit,
} from "./guards.js";
import { lineNumberAt, occurrences, type Region, withoutOverlaps } from "./regions.js";
import type { FindRegions, StrategyName } from "./strategies.js";
import * as strategies from "./strategies.js";

export interface ReplaceRequest {
  readonly text: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export type ReplaceOutcome =
  | {
      readonly kind: "replaced";
      readonly text: string;
      readonly strategy: StrategyName;
      /** What was replaced, in positions of the old text. */
      readonly regions: readonly Region[];
    }
  | { readonly kind: "already_applied"; readonly line: number }
  | ({ readonly kind: "refused"; readonly notFound: boolean } & Refusal);

const isCertain = (strategy: StrategyName): boolean => !SIMILARITY_STRATEGIES.has(strategy);

/** Shorter texts occur by chance, so finding one proves nothing. */
const MIN_ALREADY_APPLIED_CHARS = 8;

/** Replaces one piece of text by another. Pure: either the whole new text or the reason why not. */
export function replaceText(request: ReplaceRequest): ReplaceOutcome {
  const useless = refuseUselessEdit(request.oldText, request.newText);
  if (useless !== undefined) return refused(useless);

  const verbatim = request.oldText.includes("\r") ? occurrences(request.text, request.oldText) : [];
  if (verbatim.length > 0) {
    const view = { ...newlineView(""), text: request.text };
    const exact = { ...request, newText: likeEndings(request) };
    return replaceMatch(exact, { strategy: "exact", regions: verbatim }, view);
  }
  const view = newlineView(request.text);
  const normalised: ReplaceRequest = {
    ...request,
    oldText: request.oldText.replaceAll("\r\n", "\n"),
    newText:
      view.hadCrlf || request.oldText.includes("\r\n")
        ? request.newText.replaceAll("\r\n", "\n")
        : request.newText,
  };
  const uselessNow = refuseUselessEdit(normalised.oldText, normalised.newText);
  if (uselessNow !== undefined) return refused(uselessNow);
  const certain = findMatch(view.text, normalised.oldText, isCertain);
  if (certain !== undefined) return replaceMatch(normalised, certain, view);
  const applied = standsAt(view.text, normalised.newText);
  if (applied !== undefined) return applied;
  const similar = findMatch(view.text, normalised.oldText, (name) => SIMILARITY_STRATEGIES.has(name));
  if (similar !== undefined) return replaceMatch(normalised, similar, view);
  return overEscaped(normalised, view) ?? notFound(normalised, view);
}

/** The new text is in the file already, exactly as sent; with `near`, at that place. */
function standsAt(text: string, newText: string, near?: Region): ReplaceOutcome | undefined {
  if (newText.trim().length < MIN_ALREADY_APPLIED_CHARS) return undefined;
  const there = occurrences(text, newText).find(
    ({ start, end }) => near === undefined || (start < near.end && near.start < end),
  );
  return there && { kind: "already_applied", line: lineNumberAt(text, there.start) };
}

/** Plain newlines in the new text are meant only where nothing but the line endings changes. */
function likeEndings({ oldText, newText }: ReplaceRequest): string {
  const plain = (text: string) => text.replaceAll("\r\n", "\n");
  const keep = plain(oldText) === plain(newText) || !oldText.includes("\r\n") || newText.includes("\r\n");
  return keep ? newText : newText.replaceAll("\n", "\r\n");
}

function replaceMatch(request: ReplaceRequest, match: Match, view: NewlineView): ReplaceOutcome {
  const { oldText, newText, replaceAll } = request;
  const { strategy } = match;
  if (match.regions.length > 1 && !replaceAll) return refused(refuseAmbiguous(view.text, match.regions));
  if (replaceAll && SIMILARITY_STRATEGIES.has(strategy)) {
    return refused({
      message: "old_string only resembles text in the file, and replace_all needs certain matches.",
      hint: "Read the file and send old_string exactly as it stands there.",
    });
  }
  const [only] = match.regions;
  if (strategy !== "exact" && only !== undefined && match.regions.length === 1) {
    const applied = standsAt(view.text, newText, only);
    if (applied !== undefined) return applied;
  }
  const parts: string[] = [];
  const regions: Region[] = [];
  let position = 0;
  for (const region of withoutOverlaps(match.regions)) {
    const found = view.text.slice(region.start, region.end);
    const adapted = adaptNewText({ strategy, text: view.text, region, oldText, newText });
    if (!adapted.ok) return refused(adapted);
    const written = adapted.lines.map((line) => line.text).join("\n");
    const refusal =
      refuseEscapeDrift({ found, oldText, newText }) ??
      refuseEscapedNewlines({ strategy, oldText, newText }) ??
      refuseDeeperIndentation({ strategy, text: view.text, region: adapted.region, adapted: written });
    if (refusal !== undefined) return refused(refusal);
    const original = view.toOriginal(adapted.region);
    parts.push(request.text.slice(position, original.start), withEndings(adapted, view));
    regions.push(original);
    position = original.end;
  }
  const text = parts.join("") + request.text.slice(position);
  if (text === request.text) {
    return refused({
      message: `The edit changes nothing: the file already reads like new_string (matched by ${strategy}).`,
      hint: "Read the file again; the change may be there already.",
    });
  }
  return { kind: "replaced", text, strategy, regions };
}

/** Lines that stay or take the place of another keep its line ending; others get the usual one. */
function withEndings({ region, lines }: Extract<Adapted, { ok: true }>, view: NewlineView): string {
  if (!view.hadCrlf) return lines.map((line) => line.text).join("\n");
  const usual = view.endingFor(view.toOriginal(region));
  const newlines = occurrences(view.text.slice(region.start, region.end), "\n");
  return lines
    .map(({ text, old }, index) => {
      const newline = old === undefined ? undefined : newlines[old];
      const ending = newline === undefined ? usual : view.endingAt(region.start + newline.start);
      return index === lines.length - 1 ? text : text + ending;
    })
    .join("");
}

/** Why an old text is not found that would be, were its quotes not escaped. */
function overEscaped({ oldText }: ReplaceRequest, view: NewlineView): ReplaceOutcome | undefined {
  const [quote] = /\\["']/.exec(oldText) ?? [];
  const meant = oldText.replace(/\\(["'])/g, "$1");
  if (quote === undefined || findMatch(view.text, meant, isCertain) === undefined) return undefined;
  return refused(escapedTooOften(quote));
}

function notFound(request: ReplaceRequest, view: NewlineView): ReplaceOutcome {
  const similar = similarLines(view.text, request.oldText);
  return {
    kind: "refused",
    notFound: true,
    message: "old_string was not found, neither exactly nor by any looser comparison.",
    hint:
      similar.length > 0
        ? `Did you mean:\n${similar.join("\n")}\nSend old_string exactly as the file has it.`
        : "Read the file and send old_string exactly as it stands there.",
  };
}

function refused(refusal: Refusal): ReplaceOutcome {
  return { kind: "refused", notFound: false, ...refusal };
}

/** From certain to bold. The first one that finds anything decides. */
export const STRATEGIES: readonly (readonly [StrategyName, FindRegions])[] = [
  ["exact", strategies.exact],
  ["line_trimmed", strategies.lineTrimmed],
  ["whitespace_normalized", strategies.whitespaceNormalized],
  ["indentation_flexible", strategies.indentationFlexible],
  ["escape_normalized", strategies.escapeNormalized],
  ["trimmed_boundary", strategies.trimmedBoundary],
  ["unicode_normalized", strategies.unicodeNormalized],
  ["block_anchor", strategies.blockAnchor],
  ["context_aware", strategies.contextAware],
];

/** These accept text that merely resembles the pattern. */
const SIMILARITY_STRATEGIES: ReadonlySet<StrategyName> = new Set(["block_anchor", "context_aware"]);

interface Match {
  readonly strategy: StrategyName;
  readonly regions: readonly Region[];
}

export function findMatch(
  text: string,
  pattern: string,
  accepts: (strategy: StrategyName) => boolean = () => true,
): Match | undefined {
  for (const [strategy, find] of STRATEGIES) {
    if (!accepts(strategy)) continue;
    const regions = find(text, pattern);
    if (regions.length > 0) return { strategy, regions };
  }
  return undefined;
}

/** Text with every CRLF as a plain newline, so that a pattern written either way fits. */
interface NewlineView {
  readonly text: string;
  readonly hadCrlf: boolean;
  toOriginal(region: Region): Region;
  /** How the newline at this position of the view is written in the original. */
  endingAt(position: number): "\n" | "\r\n";
  /** The line ending that text put into this (original) region should use. */
  endingFor(region: Region): "\n" | "\r\n";
}

function newlineView(original: string): NewlineView {
  const removed: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2)) {
    removed.push(at - removed.length);
  }
  const toOriginal = (position: number): number => position + countBelow(removed, position);
  const newlines = removed.length === 0 ? 0 : original.split("\n").length - 1;
  return {
    text: removed.length === 0 ? original : original.replaceAll("\r\n", "\n"),
    hadCrlf: removed.length > 0,
    toOriginal: ({ start, end }) => ({ start: toOriginal(start), end: toOriginal(end) }),
    endingAt: (position) => (removed[countBelow(removed, position)] === position ? "\r\n" : "\n"),
    endingFor: ({ start, end }) => {
      if (removed.length === 0) return "\n";
      const inside = original.slice(start, end);
      if (inside.includes("\n")) return inside.includes("\r\n") ? "\r\n" : "\n";
      return removed.length * 2 >= newlines ? "\r\n" : "\n";
    },
  };
}

/** How many entries of a sorted list are smaller than `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
