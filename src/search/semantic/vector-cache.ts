import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as othersTurn } from "node:timers/promises";
import { replaceFile } from "../../base/atomic-write.js";

/**
 * Vectors on disk, by the hash of what they stand for. One file of records of one length, each with its own check:
 *
 *   16 bytes  key: the start of the SHA-256 of model id and text
 *    4 bytes  scale, a 32-bit float
 *    n bytes  the vector, a signed byte per dimension, to be multiplied by the scale
 *    4 bytes  check: the start of the SHA-256 of all of the above
 *
 * Records are only ever appended, each batch by a single write, so several processes may add at once. What fails its
 * check is left out and disappears when the file is next written anew; a cache is never a reason to fail.
 */
export class VectorCache {
  readonly #path: string;
  readonly #model: string;
  readonly #dimensions: number;
  readonly #record: number;
  /** As they lie in the file: most of a large one is never asked for, and numbers take four times the room. */
  #known = new Map<string, Buffer>();

  constructor(options: { readonly path: string; readonly model: string; readonly dimensions: number }) {
    this.#path = options.path;
    this.#model = options.model;
    this.#dimensions = options.dimensions;
    this.#record = KEY_BYTES + SCALE_BYTES + options.dimensions + CHECK_BYTES;
  }

  /** Reads the file anew. */
  async load(): Promise<void> {
    const bytes = await readFile(this.#path).catch(() => Buffer.alloc(0));
    const known = new Map<string, Buffer>();
    let damaged = bytes.length % this.#record !== 0;
    for (let from = 0; from + this.#record <= bytes.length; from += this.#record) {
      if (from % (READ_TOGETHER * this.#record) === 0) await othersTurn();
      const record = bytes.subarray(from, from + this.#record);
      if (checkOf(record).equals(record.subarray(-CHECK_BYTES)))
        known.set(record.toString("base64", 0, KEY_BYTES), record);
      else damaged = true;
    }
    // What was added meanwhile may not have been in the file yet.
    for (const [key, record] of this.#known) if (!known.has(key)) known.set(key, record);
    this.#known = known;
    if (damaged || bytes.length > LARGEST_FILE) await this.#writeAnew(bytes.length > LARGEST_FILE);
  }

  get(text: string): Float32Array | undefined {
    const record = this.#known.get(this.#keyOf(text).toString("base64"));
    return record === undefined ? undefined : this.#vectorOf(record);
  }

  async add(entries: readonly { readonly text: string; readonly vector: Float32Array }[]): Promise<void> {
    const records = entries.map(({ text, vector }) => {
      const record = this.#recordOf(this.#keyOf(text), vector);
      this.#known.set(record.toString("base64", 0, KEY_BYTES), record);
      return record;
    });
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      await appendFile(this.#path, Buffer.concat(records), { mode: 0o600 });
    } catch {
      // A full or read-only disk costs time at the next start, nothing else.
    }
  }

  /** Other processes may add meanwhile; what they lose by this they compute again. */
  async #writeAnew(empty: boolean): Promise<void> {
    if (empty) this.#known.clear();
    const data = Buffer.concat([...this.#known.values()]);
    await replaceFile({ path: this.#path, data, mode: 0o600, sync: false }).catch(() => undefined);
  }

  #keyOf(text: string): Buffer {
    const hash = createHash("sha256").update(`${this.#model}\0${text}`).digest();
    return hash.subarray(0, KEY_BYTES);
  }

  #recordOf(key: Buffer, vector: Float32Array): Buffer {
    const record = Buffer.alloc(this.#record);
    key.copy(record);
    let largest = 0;
    for (const value of vector) largest = Math.max(largest, Math.abs(value));
    const scale = largest < SMALLEST_VALUE ? 1 : Math.fround(largest / LARGEST_BYTE);
    record.writeFloatLE(scale, KEY_BYTES);
    for (let at = 0; at < this.#dimensions; at += 1)
      record.writeInt8(Math.round(bounded((vector[at] ?? 0) / scale)), KEY_BYTES + SCALE_BYTES + at);
    checkOf(record).copy(record, this.#record - CHECK_BYTES);
    return record;
  }

  #vectorOf(record: Buffer): Float32Array {
    const scale = record.readFloatLE(KEY_BYTES);
    const vector = new Float32Array(this.#dimensions);
    for (let at = 0; at < this.#dimensions; at += 1)
      vector[at] = record.readInt8(KEY_BYTES + SCALE_BYTES + at) * scale;
    return vector;
  }
}

const KEY_BYTES = 16;
const SCALE_BYTES = 4;
const CHECK_BYTES = 4;
/** Checking so many takes a few milliseconds; then whatever else waits in this process goes on. */
const READ_TOGETHER = 1_024;
const LARGEST_BYTE = 127;
/** Less than this in every dimension is no direction at all, and too small for a float to scale. */
const SMALLEST_VALUE = 1e-30;
/** About 160,000 vectors: far more than any catalogue, so most of it is definitions of the past. */
const LARGEST_FILE = 64 * 1024 * 1024;

function bounded(value: number): number {
  return Math.max(-LARGEST_BYTE, Math.min(LARGEST_BYTE, value));
}

function checkOf(record: Buffer): Buffer {
  const hash = createHash("sha256").update(record.subarray(0, -CHECK_BYTES)).digest();
  return hash.subarray(0, CHECK_BYTES);
}
