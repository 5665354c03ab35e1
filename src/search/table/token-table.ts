import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { readWordpieces, type Wordpieces } from "../semantic/wordpiece.js";

const FILE = "tool-vectors-128.bin";
/** Of the file that comes with the package; another one would find other tools without anybody knowing why. */
export const TABLE_SHA256 = "6ee6f2c2450b273e5874429fcb8d6b88f88a61552af57c6d1d58558ad52b4f3e";

const HEADER_BYTES = 28;
const MAGIC = "HTV1";
/** Pieces that are read of name, description and parameters of a tool: so the vectors were trained. */
const MOST_PIECES = [46, 76, 60] as const;
const LONGEST_REQUEST = 512;

/**
 * A vector for every word piece; that of a text is their weighted sum. No order of words, no model to run: it tells what
 * texts are about in microseconds. docs/tool-search-ranking.md describes the file.
 */
export class TokenTable {
  readonly dimensions: number;
  readonly #wordpieces: Wordpieces;
  readonly #fieldWeights: Float32Array;
  readonly #requestWeights: Float32Array;
  readonly #toolWeights: Float32Array;
  readonly #vectors: Int8Array;

  constructor(file: Uint8Array) {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const text = (from: number, to: number) => new TextDecoder().decode(file.subarray(from, to));
    if (text(0, 4) !== MAGIC) throw new Error("the file of word vectors is not one");
    const pieces = view.getUint32(4, true);
    this.dimensions = view.getUint32(8, true);
    const vocabularyBytes = view.getUint32(12, true);
    const floats = (at: number, count: number) =>
      Float32Array.from({ length: count }, (_, index) => view.getFloat32(at + 4 * index, true));
    this.#fieldWeights = floats(16, 3);
    const weightsAt = HEADER_BYTES + vocabularyBytes;
    this.#wordpieces = readWordpieces(text(HEADER_BYTES, weightsAt));
    this.#requestWeights = floats(weightsAt, pieces);
    this.#toolWeights = floats(weightsAt + 4 * pieces, pieces);
    const vectorsAt = weightsAt + 8 * pieces;
    if (file.byteLength !== vectorsAt + pieces * this.dimensions)
      throw new Error("the file of word vectors is cut off");
    this.#vectors = new Int8Array(file.buffer, file.byteOffset + vectorsAt, pieces * this.dimensions);
  }

  /** Of the whole request, then of each wish when there are several. */
  requestVectors(wishes: readonly string[]): readonly Float32Array[] {
    const whole = this.#requestVector(wishes.join(" "));
    return wishes.length < 2 ? [whole] : [whole, ...wishes.map((wish) => this.#requestVector(wish))];
  }

  /** From 0 to 1: how much of a request is in words it was made for. Of the rest it can only guess. */
  familiarity(request: string): number {
    return this.#wordpieces.familiarity(request);
  }

  /** From name, description and parameters. */
  toolVector(texts: readonly string[]): Float32Array {
    const sum = new Float32Array(this.dimensions);
    for (const [field, most] of MOST_PIECES.entries()) {
      const weight = this.#fieldWeights[field] ?? 0;
      for (const piece of this.#wordpieces.pieces(texts[field] ?? "", most))
        this.#add(sum, piece, weight * (this.#toolWeights[piece] ?? 0));
    }
    return lengthOne(sum);
  }

  #requestVector(text: string): Float32Array {
    const sum = new Float32Array(this.dimensions);
    for (const piece of this.#wordpieces.pieces(text, LONGEST_REQUEST))
      this.#add(sum, piece, this.#requestWeights[piece] ?? 0);
    return lengthOne(sum);
  }

  #add(sum: Float32Array, piece: number, weight: number): void {
    if (weight === 0) return;
    const from = piece * this.dimensions;
    for (let place = 0; place < sum.length; place += 1)
      sum[place] = (sum[place] as number) + weight * (this.#vectors[from + place] as number);
  }
}

function lengthOne(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares > 0)
    for (let place = 0; place < vector.length; place += 1)
      vector[place] = (vector[place] as number) / Math.sqrt(squares);
  return vector;
}

let opened: Promise<TokenTable> | undefined;

/** One for the whole process; it is read with the first search. */
export function openTokenTable(): Promise<TokenTable> {
  opened ??= readTable();
  return opened;
}

async function readTable(): Promise<TokenTable> {
  const file = await readTableFile();
  // Beside this thread: it takes longer than everything else here.
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", file as Uint8Array<ArrayBuffer>)).toString(
    "hex",
  );
  if (digest !== TABLE_SHA256) throw new Error(`${FILE} is damaged: install hermes-tools again`);
  return new TokenTable(file);
}

/** In the build it lies with the search, whatever the depth of the file that holds this code. */
async function readTableFile(): Promise<Buffer> {
  for (const place of ["./", "../search/", "../../search/", "../../dist/search/"]) {
    const path = fileURLToPath(new URL(`${place}${FILE}`, import.meta.url));
    const file = await readFile(path).catch(() => undefined);
    if (file !== undefined) return file;
  }
  throw new Error(`${FILE} is missing: install hermes-tools again, or in a clone: npm run build`);
}
