import type { ToolTexts } from "../tool-texts.js";
import type { Embedder } from "../types.js";
import type { ModelEmbedder } from "./embedder.js";
import { PART_SIGN } from "./model-protocol.js";
import { SIMILARITIES } from "./similarities.gen.js";
import type { VectorCache } from "./vector-cache.js";

/** Written to the cache together: little is lost when the program ends in the middle. */
const SAVED_TOGETHER = 256;

/** What the declarations of Node leave out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

interface Similarities {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  similarities(text: number, tools: number, count: number, bytes: number, scales: number, out: number): void;
}

/** Compiled once; every list of vectors has memory of its own. */
let compiled: object | undefined;

const PAGE_BYTES = 65_536;
/** As many numbers are compared at a time. */
const LANES = 16;
const LARGEST = 127;

/** One vector per tool, a byte per number. */
export class ToolVectors {
  readonly #count: number;
  readonly #width: number;
  readonly #bytes: Int8Array;
  readonly #floats: Float32Array;
  readonly #compare: Similarities["similarities"];

  constructor(count: number, dimensions: number) {
    compiled ??= new WebAssembly.Module(Buffer.from(SIMILARITIES, "base64"));
    const { memory, similarities } = new WebAssembly.Instance(compiled).exports as Similarities;
    this.#count = count;
    this.#width = Math.ceil(dimensions / LANES) * LANES;
    // A text, the tools, what a byte of each is worth, an answer for each.
    memory.grow(Math.ceil((this.#width + count * (this.#width + 8)) / PAGE_BYTES));
    this.#bytes = new Int8Array(memory.buffer);
    this.#floats = new Float32Array(memory.buffer);
    this.#compare = similarities;
  }

  set(index: number, vector: Float32Array): void {
    this.#floats[this.#scalesAt / 4 + index] = this.#write(vector, this.#width * (index + 1));
  }

  /** How alike a text and every tool are. */
  similarities(vector: Float32Array): Float32Array {
    const worth = this.#write(vector, 0);
    const answersAt = this.#scalesAt + 4 * this.#count;
    this.#compare(0, this.#width, this.#count, this.#width, this.#scalesAt, answersAt);
    const found = this.#floats.slice(answersAt / 4, answersAt / 4 + this.#count);
    for (let index = 0; index < found.length; index += 1) found[index] = (found[index] as number) * worth;
    return found;
  }

  get #scalesAt(): number {
    return this.#width * (this.#count + 1);
  }

  /** What one of its bytes is worth. */
  #write(vector: Float32Array, at: number): number {
    let largest = 0;
    for (const value of vector) largest = Math.max(largest, Math.abs(value));
    const scale = largest === 0 ? 0 : LARGEST / largest;
    for (let place = 0; place < vector.length; place += 1)
      this.#bytes[at + place] = Math.round((vector[place] as number) * scale);
    return largest / LARGEST;
  }
}

/** Vectors from the cache where there are any, from the model where not. */
export async function makeToolVectors(options: {
  readonly texts: readonly ToolTexts[];
  readonly embedder: Embedder | ModelEmbedder;
  readonly cache?: VectorCache | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}): Promise<ToolVectors> {
  const { embedder } = options;
  const texts = options.texts.map((parts) =>
    parts.map((part) => part.replaceAll(PART_SIGN, " ")).join(PART_SIGN),
  );
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
