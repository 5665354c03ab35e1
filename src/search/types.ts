import type { JsonSchema } from "../tool/json-schema.js";

/** What finding a tool looks at. */
export interface SearchableTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** The server, plugin or file it comes from. */
  readonly source?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface Hit {
  /** Position in the list the index was made of. */
  readonly index: number;
  /** Comparable within one answer only. */
  readonly score: number;
  /** By judge (`words`, `table`, `model`): how far it lies above the mean of all tools, in deviations. */
  readonly marks?: Readonly<Record<string, number>> | undefined;
}

/** Finds tools by words alone: no waiting, no files, no model. */
export interface LexicalIndex {
  readonly size: number;
  /** Best first; ties in the order of the list. */
  search(query: string, options: { readonly limit: number }): readonly Hit[];
}

/** Turns texts into vectors of length one. */
export interface Embedder {
  /** Names model and version: vectors of different ones must never meet. */
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Reads the wishes of one request together: the vector of the whole, then one for each when there are several. */
  embedRequest(wishes: readonly string[]): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** The best that can be had at this moment: words at once, meaning as soon as vectors are there. */
export interface ToolFinder {
  readonly size: number;
  search(query: string, options: { readonly limit: number }): Promise<readonly Hit[]>;
}

/** `words +3.1, table +1.8`: how far each judge sets it above the other tools, in deviations; the strongest first. */
export function whyFound(marks: Hit["marks"]): string {
  if (marks === undefined) return "words";
  return Object.entries(marks)
    .sort(([, one], [, other]) => other - one)
    .map(([judge, mark]) => `${judge} ${mark < 0 ? "−" : "+"}${Math.abs(mark).toFixed(1)}`)
    .join(", ");
}
