import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import type { FileChange } from "../environment.js";

const LOOKS_AT_ONCE = 64;

/** What was seen of a file or folder that is watched. */
export interface Entry {
  readonly isFolder: boolean;
  /** Changes whenever the file does. */
  readonly signature: string;
}

/** Two changes nobody has been told of yet, as one. */
export function combined(
  before: FileChange["change"] | undefined,
  now: FileChange["change"],
): FileChange["change"] | undefined {
  if (before === "created") return now === "removed" ? undefined : "created";
  if (before === "removed" && now === "created") return "changed";
  return now;
}

/** Links are looked at themselves. Of folders only their identity counts: their times change with each file. */
export async function look(path: string): Promise<Entry | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? undefined : { isFolder: stats.isDirectory(), signature: signatureOf(stats) };
}

function signatureOf(stats: Stats): string {
  const { dev, ino, mode, size, mtimeMs, ctimeMs } = stats;
  return stats.isDirectory()
    ? `${dev}:${ino}:${mode}`
    : `${dev}:${ino}:${mode}:${size}:${mtimeMs}:${ctimeMs}`;
}

export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += LOOKS_AT_ONCE) {
    await Promise.all(items.slice(at, at + LOOKS_AT_ONCE).map(work));
  }
}
