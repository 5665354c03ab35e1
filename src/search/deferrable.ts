import { type Entry, isForeign } from "../registry/entry.js";
import { CORE_TOOLS } from "../registry/toolset-table.js";

const CORE: ReadonlySet<string> = new Set(CORE_TOOLS);

/**
 * Whether a tool may be hidden behind the search. Built-in tools and the person's own modules never are, nor is
 * what replaces a core tool or talks to the person: a model that does not see those does not think of them.
 */
export function isDeferrable(entry: Entry): boolean {
  return isForeign(entry.provenance) && !CORE.has(entry.name) && entry.interactive !== true;
}
