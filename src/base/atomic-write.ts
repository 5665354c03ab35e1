import { open } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Whole old or whole new file at any moment, and on disk when this returns. Follows symbolic links. Of files that can be
 * made again, `sync: false` spares the wait for the disk.
 */
export async function replaceFile(file: {
  readonly path: string;
  readonly data: string | Buffer;
  readonly mode?: number | undefined;
  readonly sync?: boolean;
}): Promise<void> {
  const { path, data, mode, sync = true } = file;
  const { default: writeFileAtomic } = await import("write-file-atomic");
  await writeFileAtomic(path, data, { fsync: sync, mode });
  if (sync) await syncFolder(dirname(path));
}

async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // Some file systems cannot sync a folder; the rename is then as durable as they make it.
  }
}
