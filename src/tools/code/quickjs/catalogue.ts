import { createLexicalIndex } from "../../../search/lexical/index.js";
import type { LexicalIndex } from "../../../search/types.js";
import { clip } from "../../../tool/preview.js";
import { describeSignature } from "../../../tool/signature.js";
import type { NestedTool } from "../../../tool/tool.js";
import { declarationsOf } from "../../../tool/typescript-declarations.js";

const DEFAULT_FOUND = 10;
const MAX_FOUND = 50;
const SHORT_DESCRIPTION = 160;

export interface FoundTool {
  readonly name: string;
  readonly description: string;
  readonly signature: string;
}

/** What a script can ask about the tools it may call. The index is made on the first search. */
export class Catalogue {
  readonly #tools: readonly NestedTool[];
  #index: LexicalIndex | undefined;

  constructor(tools: readonly NestedTool[]) {
    this.#tools = tools;
  }

  /** Tools that fit the query, best first. */
  search(query: string, limit: unknown): readonly FoundTool[] {
    this.#index ??= createLexicalIndex(this.#tools);
    return this.#index.search(query, { limit: wholeNumber(limit) }).flatMap(({ index }) => {
      const tool = this.#tools[index];
      return tool === undefined ? [] : [brief(tool)];
    });
  }

  /** The declaration of one tool, with its whole description; undefined when there is none of this name. */
  describe(name: string): string | undefined {
    const tool = this.#tools.find((candidate) => candidate.name === name);
    return tool && declarationsOf([tool], { maxDescriptionChars: 4_000 });
  }
}

function brief({ name, description, parameters }: NestedTool): FoundTool {
  const [firstLine = ""] = description.trim().split("\n");
  return {
    name,
    description: clip(firstLine, SHORT_DESCRIPTION),
    signature: describeSignature(name, parameters),
  };
}

function wholeNumber(limit: unknown): number {
  const given = typeof limit === "number" && Number.isFinite(limit) ? Math.floor(limit) : DEFAULT_FOUND;
  return Math.min(Math.max(1, given), MAX_FOUND);
}
