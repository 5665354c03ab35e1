import { open } from "node:fs/promises";
import { isRecord } from "../../base/record.js";

export interface Metrics {
  /** Lines that hold metrics. */
  readonly lines: number;
  readonly latest?: Readonly<Record<string, unknown>> | undefined;
  /** Evenly spread over the whole run, the last line included. */
  readonly history: readonly Readonly<Record<string, unknown>>[];
  /** Lines that could not be read. */
  readonly broken: number;
}

const MAX_LINE_CHARS = 64 * 1024;

/** Reads JSON lines as they stand now, in one pass and bounded memory, however long the run is. */
export async function readMetrics(file: string, most: number): Promise<Metrics> {
  let kept: Record<string, unknown>[] = [];
  let every = 1;
  let lines = 0;
  let broken = 0;
  let latest: Record<string, unknown> | undefined;
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return { lines: 0, history: [], broken: 0 };
  try {
    for await (const line of handle.readLines({ encoding: "utf8" })) {
      if (line.trim() === "") continue;
      const value = line.length > MAX_LINE_CHARS ? undefined : recordIn(line);
      if (value === undefined) {
        broken += 1;
        continue;
      }
      if (lines % every === 0) kept.push(value);
      lines += 1;
      latest = value;
      if (kept.length > most * 2) {
        kept = kept.filter((_one, index) => index % 2 === 0);
        every *= 2;
      }
    }
  } finally {
    await handle.close();
  }
  const step = Math.max(1, Math.ceil(kept.length / most));
  const history = kept.filter((_one, index) => index % step === 0);
  if (latest !== undefined && history.at(-1) !== latest) history.push(latest);
  return { lines, latest, history, broken };
}

function recordIn(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    // The last line may be half written.
    return undefined;
  }
}

/** The end of what the trainer printed. */
export async function logTail(file: string, chars: number): Promise<string> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, chars * 4);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString("utf8").slice(-chars);
  } finally {
    await handle.close();
  }
}
