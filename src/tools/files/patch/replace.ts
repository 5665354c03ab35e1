import { adaptNewText } from "./adapt.js";
import { similarLines } from "./did-you-mean.js";
import { findMatch, type Match, SIMILARITY_STRATEGIES } from "./find-match.js";
import {
  type Refusal,
  refuseAmbiguous,
  refuseDeeperIndentation,
  refuseEscapeDrift,
  refuseEscapedNewlines,
  refuseUselessEdit,
} from "./guards.js";
import { type NewlineView, newlineView } from "./line-endings.js";
import { lineNumberAt, occurrences, type Region, withoutOverlaps } from "./regions.js";
import type { StrategyName } from "./strategies.js";

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

/** Shorter texts occur by chance, so finding one proves nothing. */
const MIN_ALREADY_APPLIED_CHARS = 8;

/** Replaces one piece of text by another. Pure: either the whole new text or the reason why not. */
export function replaceText(request: ReplaceRequest): ReplaceOutcome {
  const useless = refuseUselessEdit(request.oldText, request.newText);
  if (useless !== undefined) return refused(useless);

  const verbatim = request.oldText.includes("\r") ? occurrences(request.text, request.oldText) : [];
  if (verbatim.length > 0) {
    const view = { ...newlineView(""), text: request.text };
    return replaceMatch(request, { strategy: "exact", regions: verbatim }, view);
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
  const certain = findMatch(view.text, normalised.oldText, (name) => !SIMILARITY_STRATEGIES.has(name));
  if (certain !== undefined) return replaceMatch(normalised, certain, view);
  if (normalised.newText.length >= MIN_ALREADY_APPLIED_CHARS) {
    const [applied] = occurrences(view.text, normalised.newText);
    if (applied !== undefined)
      return { kind: "already_applied", line: lineNumberAt(view.text, applied.start) };
  }
  const similar = findMatch(view.text, normalised.oldText, (name) => SIMILARITY_STRATEGIES.has(name));
  return similar === undefined ? notFound(normalised, view) : replaceMatch(normalised, similar, view);
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
  const parts: string[] = [];
  const regions: Region[] = [];
  let position = 0;
  for (const region of withoutOverlaps(match.regions)) {
    const found = view.text.slice(region.start, region.end);
    const adapted = adaptNewText({ strategy, found, oldText, newText });
    const refusal =
      refuseEscapeDrift({ found, oldText, newText }) ??
      refuseEscapedNewlines({ strategy, oldText, newText }) ??
      refuseDeeperIndentation({ strategy, text: view.text, region, adapted });
    if (refusal !== undefined) return refused(refusal);
    const original = view.toOriginal(region);
    const written = view.endingFor(original) === "\n" ? adapted : adapted.replaceAll("\n", "\r\n");
    parts.push(request.text.slice(position, original.start), written);
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
