import { constants, existsSync, readlinkSync } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** Not among node's constants: opens a folder without the right to list it. */
const O_PATH = 0o10000000;
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Linux shows where an open file lies and lets names be looked up from an open folder. */
const handlesHavePaths = process.platform === "linux" && existsSync("/proc/self/fd");

/**
 * A folder held open. What is done through it reaches this folder, whatever its path leads to by now: names
 * are looked up from the handle, not from the root. On other systems it is just the path.
 */
export class HeldFolder {
  readonly path: string;
  readonly #handle: fs.FileHandle | undefined;

  private constructor(path: string, handle: fs.FileHandle | undefined) {
    this.path = path;
    this.#handle = handle;
  }

  /** `path` must be real: a part that is a link by now is refused. */
  static async open(path: string): Promise<HeldFolder> {
    if (!handlesHavePaths) {
      if ((await fs.stat(path)).isDirectory()) return new HeldFolder(path, undefined);
      throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    }
    const handle = await openFolder(path);
    if (liesAt(handle, path)) return new HeldFolder(path, handle);
    await handle.close();
    throw hasMoved(path);
  }

  /** A path for a name in this folder that system calls can use. */
  at(name: string): string {
    return this.#handle === undefined ? join(this.path, name) : `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** Makes a folder in this one unless it is there, and holds it. */
  async make(name: string): Promise<{ readonly folder: HeldFolder; readonly made: boolean }> {
    const made = await fs.mkdir(this.at(name)).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    const path = join(this.path, name);
    const handle = this.#handle === undefined ? undefined : await openFolder(this.at(name));
    if (handle === undefined || liesAt(handle, path)) return { folder: new HeldFolder(path, handle), made };
    await handle.close();
    throw hasMoved(path);
  }

  /** Makes new names in it survive a power loss; some file systems cannot. */
  async sync(): Promise<void> {
    try {
      if (this.#handle !== undefined) return await this.#handle.sync();
      const handle = await fs.open(this.path, constants.O_RDONLY);
      await handle.sync().finally(() => handle.close());
    } catch {
      // The files themselves have been synced.
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

export interface MadeFolder {
  readonly folder: HeldFolder;
  /** Folders that got a new one on the way, the nearest first; held as well. */
  readonly changed: readonly HeldFolder[];
}

/**
 * Holds a folder, making it and those above it where they are missing, though not before `ready`. The caller closes
 * all of them.
 */
export async function holdMade(path: string, ready?: Promise<unknown>): Promise<MadeFolder> {
  try {
    return { folder: await HeldFolder.open(path), changed: [] };
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  await ready;
  const above = await holdMade(dirname(path), ready);
  try {
    const { folder, made } = await above.folder.make(basename(path));
    if (made) return { folder, changed: [above.folder, ...above.changed] };
    await closeAll([above.folder]);
    return { folder, changed: above.changed };
  } catch (error) {
    await closeAll([above.folder, ...above.changed]);
    throw error;
  }
}

export async function closeAll(folders: readonly HeldFolder[]): Promise<void> {
  await Promise.all(folders.map((folder) => folder.close()));
}

/** Opens what lies at this real path and nothing else; a part that is a link by now is refused. */
export async function openExactly(path: string, flags: number): Promise<fs.FileHandle> {
  const handle = await fs.open(path, handlesHavePaths ? flags | constants.O_NOFOLLOW : flags);
  if (!handlesHavePaths || liesAt(handle, path)) return handle;
  await handle.close();
  throw hasMoved(path);
}

async function openFolder(path: string): Promise<fs.FileHandle> {
  try {
    return await fs.open(path, constants.O_RDONLY | FOLDER);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EACCES") return fs.open(path, O_PATH | FOLDER);
    if ((code === "ELOOP" || code === "ENOTDIR") && (await isLink(path))) throw hasMoved(path);
    throw error;
  }
}

function isLink(path: string): Promise<boolean> {
  return fs.readlink(path).then(
    () => true,
    () => false,
  );
}

/**
 * Asked of the open file itself. One that was replaced since it was opened still tells the place it had.
 * Disks that ignore case may spell a name in another way.
 */
function liesAt(handle: fs.FileHandle, path: string): boolean {
  const found = readlinkSync(`/proc/self/fd/${handle.fd}`);
  return found === path || found === `${path} (deleted)` || found.toLowerCase() === path.toLowerCase();
}

function hasMoved(path: string): ToolError {
  return new ToolError(`${path} changed while it was being used: a part of it leads elsewhere now.`, {
    code: "denied",
    hint: "Another program is changing these folders. Look at them before you try again.",
    details: { path, moved: true },
  });
}
