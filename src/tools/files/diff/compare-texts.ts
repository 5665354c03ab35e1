import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { ToolError } from "../../../tool/errors.js";
import { COMPARE_THREAD } from "./compare-thread.gen.js";
import type { DiffOptions, Hunk } from "./types.js";

interface Comparison {
  readonly before: string;
  readonly after: string;
  readonly signal: AbortSignal;
}

/** More of a difference is not shown to anybody. */
export const MAX_CHARS = 400_000;
/** Nothing else runs while texts are compared on the main thread: it has this long, and texts of this size at most. */
const INLINE_MS = 20;
const INLINE_CHARS = 100_000;
/** Beyond this the smallest difference is not worth its time. */
const LINES_MS = 2_000;
const WORDS_MS = 1_000;
const MAX_EDITS = 20_000;

export interface TextDiff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** False when the texts were too different to find the smallest difference. */
  readonly smallest: boolean;
  /** True when there is more than can be shown. */
  readonly cut: boolean;
}

export async function diffTexts(texts: Comparison, shape: DiffOptions): Promise<TextDiff> {
  const { before, after, signal } = texts;
  const options = { ...shape, maxEditLength: MAX_EDITS };
  if (before.length + after.length <= INLINE_CHARS) {
    const { structuredPatch } = await import("diff");
    const quick = { ...options, timeout: INLINE_MS };
    const patch = structuredPatch("", "", before, after, undefined, undefined, quick);
    if (patch !== undefined) {
      return { hunks: patch.hunks, ...countLines(patch.hunks), smallest: true, cut: false };
    }
  }
  const job = { kind: "lines", before, after, room: MAX_CHARS, options: { ...options, timeout: LINES_MS } };
  const found = await inThread<Omit<TextDiff, "hunks"> & { readonly hunks: readonly PackedHunk[] }>(
    job,
    signal,
  );
  return { ...found, hunks: found.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.split("\n") })) };
}

type PackedHunk = Omit<Hunk, "lines"> & { readonly lines: string };

export function countLines(hunks: readonly Hunk[]): Pick<TextDiff, "added" | "removed"> {
  let added = 0;
  let removed = 0;
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) added++;
      else if (line.startsWith("-")) removed++;
    }
  }
  return { added, removed };
}

/** `[-old-]{+new+}`, as git shows words; undefined when the texts are too different. */
export async function compareWords({ before, after, signal }: Comparison): Promise<string | undefined> {
  if (before.length + after.length <= INLINE_CHARS) {
    const { diffWordsWithSpace } = await import("diff");
    const words = diffWordsWithSpace(before, after, { timeout: INLINE_MS });
    if (words !== undefined) {
      return words
        .map(({ value, added, removed }) => (added ? `{+${value}+}` : removed ? `[-${value}-]` : value))
        .join("");
    }
  }
  return inThread<string | undefined>(
    { kind: "words", before, after, options: { timeout: WORDS_MS } },
    signal,
  );
}

/** The thread is ended with the call, whatever it is about to find. */
async function inThread<Found>(job: object, signal: AbortSignal): Promise<Found> {
  signal.throwIfAborted();
  const library = createRequire(import.meta.url).resolve("diff");
  const worker = new Worker(COMPARE_THREAD, {
    eval: true,
    workerData: { library, job },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise<Found>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", (error: Error) =>
        reject(
          new ToolError(`The texts could not be compared: ${error.message}.`, {
            hint: "Compare smaller files, or use diff in the terminal.",
            cause: error,
          }),
        ),
      );
      worker.once("exit", () => reject(signal.reason ?? new Error("the comparing thread ended")));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
