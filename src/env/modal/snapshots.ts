import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import { errnoOf } from "../../base/errno.js";

export interface SavedSnapshot {
  readonly imageId: string;
  /** The image its sandbox had been made from. */
  readonly image: string;
  /** ISO 8601. */
  readonly savedAt: string;
}

/** One writer at a time in this process; between processes the file is old or new, never half. */
let writing: Promise<unknown> = Promise.resolve();

/** Which snapshot belongs to which task: `modal_snapshots.json` in the state folder. */
export class SnapshotFile {
  readonly #file: string;

  constructor(stateDir: string) {
    this.#file = join(stateDir, "modal_snapshots.json");
  }

  async get(task: string): Promise<SavedSnapshot | undefined> {
    return (await this.#read()).get(task);
  }

  /** Without a snapshot, forgets the task. */
  set(task: string, snapshot: SavedSnapshot | undefined): Promise<void> {
    const write = async () => {
      const all = await this.#read();
      if (snapshot === undefined) all.delete(task);
      else all.set(task, snapshot);
      await mkdir(join(this.#file, ".."), { recursive: true, mode: 0o700 });
      await replaceFile({
        path: this.#file,
        data: `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`,
        mode: 0o600,
      });
    };
    const written = writing.then(write);
    writing = written.catch(() => {});
    return written;
  }

  /** A file that cannot be understood holds nothing that could be restored. */
  async #read(): Promise<Map<string, SavedSnapshot>> {
    try {
      const parsed: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      if (typeof parsed !== "object" || parsed === null) return new Map();
      return new Map(
        Object.entries(parsed).filter((entry): entry is [string, SavedSnapshot] => isSaved(entry[1])),
      );
    } catch (error) {
      if (error instanceof SyntaxError || errnoOf(error) === "ENOENT") return new Map();
      throw error;
    }
  }
}

function isSaved(value: unknown): value is SavedSnapshot {
  const { imageId, image, savedAt } = (value ?? {}) as Record<string, unknown>;
  return typeof imageId === "string" && typeof image === "string" && typeof savedAt === "string";
}
