import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Bytes by their SHA-256, each kept once; readable by their owner only. */
export class KeptBytes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(digest: string, bytes: Uint8Array): Promise<void> {
    const place = this.#place(digest);
    const there = await stat(place).catch(() => undefined);
    if (there?.size === bytes.byteLength) return;
    await mkdir(join(this.#folder, digest.slice(0, 2)), { recursive: true, mode: 0o700 });
    const partial = `${place}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      const file = await open(partial, "wx", 0o600);
      try {
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
      await rename(partial, place);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async get(digest: string): Promise<Uint8Array | undefined> {
    return readFile(this.#place(digest)).catch(() => undefined);
  }

  /** Removes what nobody uses any more. */
  async sweep(isUsed: (digest: string) => boolean): Promise<void> {
    const names = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of names) {
      if (!entry.isFile() || isUsed(entry.name)) continue;
      const place = join(entry.parentPath ?? entry.path, entry.name);
      // A young one may belong to a process that is about to write its record.
      if (await isOld(place)) await rm(place, { force: true });
    }
  }

  #place(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest);
  }
}

const YOUNG_MS = 60 * 60 * 1000;

async function isOld(place: string): Promise<boolean> {
  const found = await stat(place).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > YOUNG_MS;
}
