import { isRecord } from "../../base/record.js";
import type { Embedder, SearchableTool } from "../types.js";
import type { ModelEmbedder } from "./embedder.js";
import { PART_SIGN } from "./model-protocol.js";
import type { VectorCache } from "./vector-cache.js";

/** Written to the cache together: little is lost when the program ends in the middle. */
const SAVED_TOGETHER = 256;

/** One vector per tool, one after the other. */
export class ToolVectors {
  readonly #dimensions: number;
  readonly #values: Float32Array;

  constructor(count: number, dimensions: number) {
    this.#dimensions = dimensions;
    this.#values = new Float32Array(count * dimensions);
  }

  set(index: number, vector: Float32Array): void {
    this.#values.set(vector, index * this.#dimensions);
  }

  /** How alike a text and every tool are, or every `step`th of them. */
  similarities(vector: Float32Array, step = 1): Float32Array {
    const values = this.#values;
    const width = this.#dimensions;
    const stride = width * step;
    const count = Math.ceil(values.length / stride);
    const found = new Float32Array(count);
    let at = 0;
    // Four tools at a time: each number of the text is read once for all of them.
    for (; at + 4 <= count; at += 4) {
      const from = at * stride;
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let place = 0; place < width; place += 1) {
        const value = vector[place] as number;
        a += (values[from + place] as number) * value;
        b += (values[from + stride + place] as number) * value;
        c += (values[from + 2 * stride + place] as number) * value;
        d += (values[from + 3 * stride + place] as number) * value;
      }
      found[at] = a;
      found[at + 1] = b;
      found[at + 2] = c;
      found[at + 3] = d;
    }
    for (; at < count; at += 1) found[at] = this.similarity(at * step, vector);
    return found;
  }

  similarity(index: number, vector: Float32Array): number {
    const values = this.#values;
    const width = this.#dimensions;
    const from = index * width;
    // Two sums that do not wait for each other.
    let even = 0;
    let odd = 0;
    for (let place = 0; place < width; place += 2) {
      even += (values[from + place] as number) * (vector[place] as number);
      odd += (values[from + place + 1] as number) * (vector[place + 1] as number);
    }
    return even + odd;
  }
}

/** Vectors from the cache where there are any, from the model where not. */
export async function makeToolVectors(options: {
  readonly tools: readonly SearchableTool[];
  readonly embedder: Embedder | ModelEmbedder;
  readonly cache?: VectorCache | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}): Promise<ToolVectors> {
  const { embedder } = options;
  const texts = toolTexts(options.tools);
  const known = await embedTexts({ ...options, texts });
  const vectors = new ToolVectors(texts.length, embedder.dimensions);
  for (const [index, text] of texts.entries()) {
    const vector = known.get(text);
    if (vector !== undefined) vectors.set(index, vector);
  }
  return vectors;
}

async function embedTexts(options: {
  readonly texts: readonly string[];
  readonly embedder: Embedder | ModelEmbedder;
  readonly cache?: VectorCache | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}): Promise<ReadonlyMap<string, Float32Array>> {
  const { embedder, cache } = options;
  await cache?.load();
  const known = new Map<string, Float32Array>();
  const missing: string[] = [];
  for (const text of new Set(options.texts)) {
    const vector = cache?.get(text);
    if (vector === undefined) missing.push(text);
    else known.set(text, vector);
  }
  // Texts of one length go together: a batch takes as long as its longest.
  missing.sort((a, b) => a.length - b.length);
  const embed = "embedInBackground" in embedder ? embedder.embedInBackground : embedder.embed;
  for (let from = 0; from < missing.length; from += SAVED_TOGETHER) {
    const batch = missing.slice(from, from + SAVED_TOGETHER);
    const made = await embed(batch);
    const entries = batch.map((text, at) => ({ text, vector: made[at] ?? new Float32Array(0) }));
    await cache?.add(entries);
    for (const { text, vector } of entries) known.set(text, cache?.get(text) ?? vector);
    options.onProgress?.(Math.min(from + SAVED_TOGETHER, missing.length), missing.length);
  }
  return known;
}

/** What a tool is for stands at the beginning; what follows blurs its vector and costs time. */
const WANTED_LENGTH = 200;
const LONGEST_LENGTH = 300;
/** In characters; the model reads less than this. */
const LONGEST_PARAMETERS = 600;
/** A sentence that more tools share says nothing about any of them. */
const MOST_SHARERS = 2;
const CODE = /```[\s\S]*?(?:```|$)/g;
const ADDRESSES = /https?:\/\/\S+/g;
const MARKS = /[*#`>|]+|\p{Extended_Pictographic}|\uFE0F/gu;
const ENDS = /(?<=[.!?])\s+|\n+|\s-\s|(?<=:)\s+(?=\d\.)/;
const LIST_SIGN = /^\s*(?:\d+\.|[-•])\s*/;

/**
 * For each tool the text its vector is made of: what tells it from the others of this list. Names come without the
 * words that most of them share, descriptions as their first sentences, without mark-up and without what is repeated
 * from tool to tool.
 */
export function toolTexts(tools: readonly SearchableTool[]): readonly string[] {
  const sentences = tools.map(({ description }) => sentencesOf(description));
  const sharers = countSharers(sentences.map((own) => own.map((sentence) => sentence.toLowerCase())));
  const names = tools.map(({ name }) => wordsOf(name));
  const nameSharers = countSharers(names.map((words) => words.map((word) => word.toLowerCase())));
  return tools.map(({ parameters }, index) => {
    const name = ownName(names[index] ?? [], (word) => (nameSharers.get(word) ?? 0) > tools.length / 2);
    const all = sentences[index] ?? [];
    const own = all.filter((sentence) => (sharers.get(sentence.toLowerCase()) ?? 0) <= MOST_SHARERS);
    const purpose = firstOf(own.length > 0 ? own : all);
    return [`${name}:`, purpose === "" ? name : purpose, parametersText(parameters)]
      .map((part) => part.replaceAll(PART_SIGN, " "))
      .join(PART_SIGN);
  });
}

function parametersText({ properties }: SearchableTool["parameters"]): string {
  if (!isRecord(properties)) return "";
  return Object.entries(properties)
    .map(([name, schema]) => {
      const about = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
      return `${wordsOf(name).join(" ")}${about === "" ? "" : `: ${about}`}`;
    })
    .join(". ")
    .slice(0, LONGEST_PARAMETERS);
}

function sentencesOf(description: string): readonly string[] {
  const plain = description.replace(CODE, " ").replace(ADDRESSES, " ").replace(MARKS, " ");
  return plain
    .split(ENDS)
    .map((sentence) => sentence.replace(LIST_SIGN, "").replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

function firstOf(sentences: readonly string[]): string {
  let text = "";
  for (const sentence of sentences) {
    if (text !== "" && text.length + sentence.length > WANTED_LENGTH) break;
    text += `${sentence} `;
  }
  return text.slice(0, LONGEST_LENGTH).trim();
}

/** `getUserByID`, `get_user_by_id` → words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[\s_\-./:]+/)
    .filter((word) => word !== "");
}

/** `mcp_slack_slack_post_message` → `slack post message`, where most names begin with `mcp`. */
function ownName(words: readonly string[], isShared: (word: string) => boolean): string {
  const own: string[] = [];
  for (const word of words)
    if (!isShared(word.toLowerCase()) && own.at(-1)?.toLowerCase() !== word.toLowerCase()) own.push(word);
  return (own.length > 0 ? own : words).join(" ");
}

function countSharers(lists: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const item of new Set(list)) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
