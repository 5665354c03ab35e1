import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Whole old or whole new file at any moment, and on disk when this returns. Follows symbolic links. */
export async function writeDurably(file: string, text: string, mode?: number): Promise<void> {
  const { default: writeFileAtomic } = await import("write-file-atomic");
  await writeFileAtomic(file, text, mode === undefined ? {} : { mode });
  syncFolder(dirname(file));
}

function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Some file systems cannot sync a folder; the rename is then as durable as they make it.
  }
}
