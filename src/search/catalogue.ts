import { nearest } from "../config/did-you-mean.js";
import type { Entry } from "../registry/entry.js";
import { clip } from "../tool/preview.js";
import { compactSignature } from "../tool/typescript-declarations.js";
import { type SearchableTool, type ToolFinder, whyFound } from "./types.js";

const SHORT_DESCRIPTION = 240;
const SIGNATURE_CHARS = 600;

export interface Match {
  readonly name: string;
  readonly source: string;
  readonly description: string;
  /** Enough to call the tool by, mostly. */
  readonly signature: string;
  /** Only for those who want to know more (`-v`). */
  readonly found_by?: string | undefined;
}

/** The hidden tools of one session: a slice of its own view, never of the registry. */
export class Catalogue {
  readonly entries: readonly Entry[];
  readonly #finderFor: (tools: readonly SearchableTool[]) => ToolFinder;
  #finder: ToolFinder | undefined;

  constructor(options: {
    /** The tools of the session that can be hidden and are ready, sorted by name. */
    readonly entries: readonly Entry[];
    finderFor(tools: readonly SearchableTool[]): ToolFinder;
  }) {
    this.entries = options.entries;
    this.#finderFor = options.finderFor;
  }

  /** True when it was made of exactly these versions. */
  isOf(entries: readonly Entry[]): boolean {
    return entries.length === this.entries.length && entries.every((entry, at) => entry === this.entries[at]);
  }

  async search(
    query: string,
    { limit, explains }: { readonly limit: number; readonly explains: boolean },
  ): Promise<readonly Match[]> {
    this.#finder ??= this.#finderFor(this.entries.map(searchable));
    const hits = await this.#finder.search(query, { limit });
    return hits.flatMap(({ index, marks }) => {
      const entry = this.entries[index];
      if (entry === undefined) return [];
      return [explains ? { ...matchOf(entry), found_by: whyFound(marks) } : matchOf(entry)];
    });
  }

  /** Where the tools come from, most tools first. */
  sources(): readonly { readonly source: string; readonly tools: number }[] {
    const counts = new Map<string, number>();
    for (const entry of this.entries) counts.set(entry.toolset, (counts.get(entry.toolset) ?? 0) + 1);
    return [...counts]
      .map(([source, tools]) => ({ source, tools }))
      .sort((a, b) => b.tools - a.tools || (a.source < b.source ? -1 : 1));
  }

  similar(name: string): readonly string[] {
    return nearest(
      name,
      this.entries.map((entry) => entry.name),
    );
  }
}

export function searchable(entry: Entry): SearchableTool {
  const { name, description, parameters, toolset, tags } = entry;
  return { name, description, parameters, source: toolset, tags };
}

function matchOf(entry: Entry): Match {
  return {
    name: entry.name,
    source: entry.toolset,
    description: clip(entry.description.trim().replace(/\s+/g, " "), SHORT_DESCRIPTION),
    signature: compactSignature(entry, SIGNATURE_CHARS),
  };
}
