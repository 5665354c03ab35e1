import { shownName } from "../registry/aliases.js";
import type { CallScope } from "./scope.js";

/** What this session calls a tool; undefined when it does not have it. */
export function nameHere(tool: string, { view, services }: CallScope): string | undefined {
  if (!view.entries.has(tool) || view.statuses.get(tool)?.ok === false) return undefined;
  return shownName(tool, services.vocabulary ?? "hermes");
}

/** Names with an underscore are tools wherever they stand; single words only where the text says so. */
const NAMED_TOOL = /\b(?:[a-z]+(?:_[a-z0-9]+)+)\b|\b[a-z]+(?= tool\b)|(?<=\btool )[a-z]+\b/g;
/** Kept with the sentences, so that what stays is put together as it was. */
const SENTENCE_END = /((?<=[.;!?])\s+|\n)/;

/**
 * A hint with the tools of this session in its own spelling. What names a tool that it does not have is left out:
 * first one of two alternatives, else the whole sentence.
 */
export function hintHere(hint: string, scope: CallScope): string | undefined {
  const { view } = scope;
  const isMissing = (name: string) => view.isForeign(name) || view.statuses.get(name)?.ok === false;
  const isOther = (name: string) =>
    isMissing(name) || (view.entries.has(name) && nameHere(name, scope) !== name);
  if (hint.match(NAMED_TOOL)?.some(isOther) !== true) return hint;
  const parts = hint.split(SENTENCE_END);
  let kept = "";
  for (let index = 0; index < parts.length; index += 2) {
    const sentence = (parts[index] ?? "")
      .replace(/\b([a-z0-9_]+) or (?=[a-z]+_)/g, (all, name: string) => (isMissing(name) ? "" : all))
      .replace(/ or ([a-z]+_[a-z0-9_]+)\b/g, (all, name: string) => (isMissing(name) ? "" : all));
    if (sentence.match(NAMED_TOOL)?.some(isMissing) === true) continue;
    kept += sentence.replace(NAMED_TOOL, (name) => nameHere(name, scope) ?? name) + (parts[index + 1] ?? "");
  }
  const told = kept.trimEnd().replace(/;$/, ".");
  return told === "" ? undefined : told;
}
