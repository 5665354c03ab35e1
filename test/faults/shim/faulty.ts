import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Which calls are meant, as faulty.c numbers them. */
export const CALLS = { writes: 1, opens: 2, syncs: 4, names: 8, reads: 16 } as const;

export interface Refusal {
  readonly calls: readonly (keyof typeof CALLS)[];
  /** The first that is refused, counted from now on, and how many after it. */
  readonly from: number;
  readonly count: number;
  readonly error: keyof typeof constants.errno;
}

/** Has a process refuse calls, move its clock, or write down what it does with its files. */
export interface Faulty {
  readonly env: Readonly<Record<string, string>>;
  refuse(refusal: Refusal): void;
  relent(): { readonly seen: number; readonly refused: number };
  stepClock(seconds: number): void;
  trace(): Buffer;
  remove(): void;
}

const SOURCE = fileURLToPath(new URL("./faulty.c", import.meta.url));
const FIELDS = 7;

export function makeFaulty(root: string, { tracing = false } = {}): Faulty {
  const folder = mkdtempSync(join(tmpdir(), "hermes-faulty-"));
  const library = join(folder, "faulty.so");
  const page = join(folder, "page");
  const trace = join(folder, "trace");
  execFileSync("gcc", ["-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"]);
  writeFileSync(page, Buffer.alloc(4096));
  const fd = openSync(page, "r+");
  let step = 0;
  const set = (values: readonly number[]) => {
    const bytes = Buffer.alloc(FIELDS * 8);
    for (const [at, value] of [...values, step].entries()) bytes.writeBigInt64LE(BigInt(value), at * 8);
    writeSync(fd, bytes, 0, bytes.length, 0);
  };
  return {
    env: {
      LD_PRELOAD: library,
      FAULTY_ROOT: root,
      FAULTY_PAGE: page,
      ...(tracing && { FAULTY_TRACE: trace }),
    },
    refuse({ calls, from, count, error }) {
      const mask = calls.reduce((sum, name) => sum | CALLS[name], 0);
      set([mask, from, count, constants.errno[error], 0, 0]);
    },
    relent() {
      const bytes = Buffer.alloc(FIELDS * 8);
      readSync(fd, bytes, 0, bytes.length, 0);
      set([0, 0, 0, 0, 0, 0]);
      return { seen: Number(bytes.readBigInt64LE(32)), refused: Number(bytes.readBigInt64LE(40)) };
    },
    stepClock(seconds) {
      step = seconds;
      set([0, 0, 0, 0, 0, 0]);
    },
    trace: () => readFileSync(trace),
    remove() {
      closeSync(fd);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
