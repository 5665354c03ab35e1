import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isRecord } from "../../base/record.js";
import { replaceBeside } from "./memory-file.js";

/** Where an entry came from: who outside had been heard when it was written down, and in which conversation. */
export interface EntrySource {
  readonly heard: readonly string[];
  readonly session: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** By the digest of the entry: whoever edits one by hand has written it himself. */
export type EntrySources = Readonly<Record<string, EntrySource>>;

/** Beside the files that people read and edit, which hold nothing but the entries. */
export async function readSources(path: string): Promise<EntrySources> {
  try {
    const read: unknown = JSON.parse(await readFile(path, "utf8"));
    return isRecord(read) ? (read as EntrySources) : {};
  } catch {
    return {};
  }
}

/** Sources of entries that are gone are forgotten. */
export async function writeSources(
  path: string,
  sources: EntrySources,
  entries: readonly string[],
): Promise<void> {
  const kept = entries.flatMap((entry) => {
    const key = digestOf(entry);
    const source = sources[key];
    return source === undefined ? [] : [[key, source] as const];
  });
  await replaceBeside(path, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

export function digestOf(entry: string): string {
  return createHash("sha256").update(entry).digest("hex").slice(0, 32);
}
