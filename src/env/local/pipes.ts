import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Both ends of a kernel pipe, as descriptors of this process. */
export interface PipePair {
  readonly readEnd: number;
  readonly writeEnd: number;
}

const BATCH = 8;
const REFILL_BELOW = 2;

/**
 * Real pipes for children. What node calls "pipe" is a socket, and a program that opens /dev/stdout,
 * /dev/stderr or /dev/stdin then fails; a real pipe can also be given to stdout and stderr at once, which
 * keeps their order. Node cannot make one, so named pipes are made in batches, opened and unlinked at once:
 * nothing stays on disk.
 */
export class PipeStock {
  readonly #folder: string;
  readonly #path: string | undefined;
  #idle: PipePair[] = [];
  #refilling: Promise<boolean> | undefined;
  #closed = false;

  constructor(options: { readonly folder: string; readonly path?: string | undefined }) {
    this.#folder = options.folder;
    this.#path = options.path;
  }

  /** A pair that the caller must close, or `undefined` where none can be made (a full disk, no mkfifo). */
  async take(): Promise<PipePair | undefined> {
    // Several callers may wait for one batch that is too small for all of them.
    while (this.#idle.length === 0) if (!(await this.#refill())) return undefined;
    const pair = this.#idle.pop();
    if (this.#idle.length < REFILL_BELOW) void this.#refill();
    return pair;
  }

  close(): void {
    this.#closed = true;
    for (const pair of this.#idle) closePair(pair);
    this.#idle = [];
  }

  /** False when no pipe could be made. */
  #refill(): Promise<boolean> {
    this.#refilling ??= makePairs(this.#folder, this.#path)
      .then((pairs) => {
        if (this.#closed) pairs.forEach(closePair);
        else this.#idle.push(...pairs);
        return !this.#closed && pairs.length > 0;
      })
      .catch(() => false)
      .finally(() => {
        this.#refilling = undefined;
      });
    return this.#refilling;
  }
}

/**
 * A descriptor from which a child reads `data`: a file that has no name any more. A pipe would not do, since
 * opening /dev/stdin after its writer is done waits for ever. Undefined where no file can be made.
 */
export async function inputFile(folder: string, data: string | Uint8Array): Promise<number | undefined> {
  const name = join(folder, `hermes-stdin-${randomBytes(8).toString("hex")}`);
  try {
    await writeFile(name, data, { mode: 0o600, flag: "wx" });
    return openSync(name, constants.O_RDONLY);
  } catch {
    return undefined;
  } finally {
    await rm(name, { force: true });
  }
}

export function closePair(pair: PipePair): void {
  closeSync(pair.readEnd);
  closeSync(pair.writeEnd);
}

async function makePairs(parent: string, path: string | undefined): Promise<PipePair[]> {
  const folder = await mkdtemp(join(parent, "hermes-pipes-"));
  try {
    const names = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)));
    await new Promise<void>((resolve, reject) => {
      const env = path === undefined ? {} : { PATH: path };
      execFile("mkfifo", names, { env, timeout: 5_000 }, (error) => (error ? reject(error) : resolve()));
    });
    return openAll(names);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function openAll(names: readonly string[]): PipePair[] {
  const pairs: PipePair[] = [];
  try {
    for (const name of names) pairs.push(openPair(name));
  } catch {
    // Out of descriptors: what was opened so far is still good.
  }
  return pairs;
}

function openPair(name: string): PipePair {
  // With both directions held open, neither of the other two opens has to wait for a partner.
  const holder = openSync(name, constants.O_RDWR);
  try {
    const readEnd = openSync(name, constants.O_RDONLY);
    try {
      return { readEnd, writeEnd: openSync(name, constants.O_WRONLY) };
    } catch (error) {
      closeSync(readEnd);
      throw error;
    }
  } finally {
    closeSync(holder);
  }
}
