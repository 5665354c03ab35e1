import { clip } from "../../../tool/preview.js";
import { describeSignature } from "../../../tool/signature.js";
import type { NestedTool } from "../../../tool/tool.js";
import { declarationsOf } from "../../../tool/typescript-declarations.js";

const DEFAULT_FOUND = 10;
const MAX_FOUND = 50;
const MAX_QUERY_WORDS = 20;
const SHORT_DESCRIPTION = 160;

export interface FoundTool {
  readonly name: string;
  readonly description: string;
  readonly signature: string;
}

/** What a script can ask about the tools it may call. The words are gathered on the first search. */
export class Catalogue {
  readonly #tools: readonly NestedTool[];
  #words: readonly { readonly name: Set<string>; readonly rest: Set<string> }[] | undefined;

  constructor(tools: readonly NestedTool[]) {
    this.#tools = tools;
  }

  /** Tools that share words with the query, best first; words of the name count most, rare words more. */
  search(query: string, limit: unknown): readonly FoundTool[] {
    const wanted = [...new Set(wordsOf(query))].slice(0, MAX_QUERY_WORDS);
    this.#words ??= this.#tools.map(({ name, description, parameters }) => ({
      name: new Set(wordsOf(name)),
      rest: new Set(wordsOf(`${description} ${parameterNames(parameters)}`)),
    }));
    const scores = new Float64Array(this.#tools.length);
    for (const word of wanted) this.#addScores(word, scores);
    return [...scores.keys()]
      .filter((index) => (scores[index] ?? 0) > 0)
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
      .slice(0, wholeNumber(limit))
      .flatMap((index) => {
        const tool = this.#tools[index];
        return tool === undefined ? [] : [brief(tool)];
      });
  }

  /** The declaration of one tool, with its whole description; undefined when there is none of this name. */
  describe(name: string): string | undefined {
    const tool = this.#tools.find((candidate) => candidate.name === name);
    return tool && declarationsOf([tool], { maxDescriptionChars: 4_000 });
  }

  #addScores(word: string, scores: Float64Array): void {
    const matches: [number, number][] = [];
    for (const [index, { name, rest }] of (this.#words ?? []).entries()) {
      const weight = matchIn(name, word) * 3 + matchIn(rest, word);
      if (weight > 0) matches.push([index, weight]);
    }
    const rarity = Math.log(1 + this.#tools.length / (matches.length || 1));
    for (const [index, weight] of matches) scores[index] = (scores[index] ?? 0) + weight * rarity;
  }
}

function matchIn(words: ReadonlySet<string>, wanted: string): number {
  if (words.has(wanted)) return 1;
  if (wanted.length < 3) return 0;
  for (const word of words)
    if (word.startsWith(wanted) || (word.length > 2 && wanted.startsWith(word))) return 0.5;
  return 0;
}

function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function parameterNames(parameters: NestedTool["parameters"]): string {
  const { properties } = parameters;
  return typeof properties === "object" && properties !== null ? Object.keys(properties).join(" ") : "";
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
