import type { ToolTexts } from "../tool-texts.js";
import type { Embedder } from "../types.js";
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
