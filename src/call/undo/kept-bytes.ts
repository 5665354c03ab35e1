import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { sha256 } from "../../base/hash.js";
import type { EnvironmentFiles } from "../../env/environment.js";

/** What files held before they were changed, each under a name of its own in a folder that only its owner sees. */
export class KeptBytes {
  readonly #folder: string;
  #made = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps what is at this path now; answers the name it has here. */
  async keep(path: string, files: EnvironmentFiles): Promise<string> {
    await this.#makeFolder();
    const name = randomBytes(12).toString("hex");
    const copy = join(this.#folder, name);
    if (files.keepAside !== undefined) await files.keepAside(path, copy);
    else await writeFile(copy, await files.read(path, { real: true }), { flag: "wx", mode: 0o600 });
    return name;
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return readFile(join(this.#folder, name)).catch(() => undefined);
  }

  async drop(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }

  /** True the first time it is asked about this in an hour, also by other processes: the sweep takes the note away. */
  async isNews(what: string): Promise<boolean> {
    await this.#makeFolder();
    const note = join(this.#folder, `told-${sha256(what).slice(0, 24)}`);
    if (await isOld(note)) await rm(note, { force: true });
    try {
      await writeFile(note, "", { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  async #makeFolder(): Promise<void> {
    if (!this.#made) await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#made = true;
  }

  /** Removes what nobody uses any more. */
  async sweep(isUsed: (name: string) => boolean): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      if (isUsed(name)) continue;
      const place = join(this.#folder, name);
      // A young one may belong to a process that is about to write its record.
      if (await isOld(place)) await rm(place, { force: true });
    }
  }
}

const YOUNG_MS = 60 * 60 * 1000;

/** By when it got its name here: the content may be years old. */
async function isOld(place: string): Promise<boolean> {
  const found = await stat(place).catch(() => undefined);
  return found !== undefined && Date.now() - found.ctimeMs > YOUNG_MS;
}
