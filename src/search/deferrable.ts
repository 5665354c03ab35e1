import { type Entry, isForeign } from "../registry/entry.js";
import { CORE_TOOLS } from "../registry/toolset-table.js";

/** Not every platform has the last one, but where it is there it is as basic as the others. */
const CORE: ReadonlySet<string> = new Set([...CORE_TOOLS, "send_message"]);

/**
 * Whether a tool may be hidden behind the search: what servers and plugins bring, and built-in tools outside the core
 * list. The person's own modules never are, nor is what replaces a core tool or talks to the person: a model that does
 * not see those does not think of them.
 */
export function isDeferrable(entry: Entry): boolean {
  const mayHide = isForeign(entry.provenance) || entry.provenance.kind === "builtin";
  return mayHide && !isNeverHidden(entry.name) && entry.interactive !== true;
}

/** Whoever brings it. */
export function isNeverHidden(name: string): boolean {
  return CORE.has(name);
}
