import {
  closeSync,
  constants,
  existsSync,
  fsync,
  lstatSync,
  openSync,
  readlinkSync,
  statSync,
} from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** Not among node's constants: opens a folder without the right to list it. */
const O_PATH = 0o10000000;
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW;
const syncFile = promisify(fsync);

/** Linux shows where an open file lies and lets names be looked up from an open folder. */
const handlesHavePaths = process.platform === "linux" && existsSync("/proc/self/fd");

/**
 * A folder held open. What is done through it reaches this folder, whatever its path leads to by now: names
 * are looked up from the handle, not from the root. On other systems it is just the path. It is opened and closed at
 * once: handing that to another thread takes a hundred times as long.
 */
export class HeldFolder {
  readonly path: string;
  #fd: number | undefined;

  private constructor(path: string, fd: number | undefined) {
    this.path = path;
    this.#fd = fd;
  }

  /** `path` must be real: a part that is a link by now is refused. */
  static open(path: string): HeldFolder {
    if (handlesHavePaths) return HeldFolder.#at(path, openFolder(path));
    if (statSync(path).isDirectory()) return new HeldFolder(path, undefined);
    throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
  }

  static #at(path: string, fd: number): HeldFolder {
    if (liesAt(fd, path)) return new HeldFolder(path, fd);
    closeSync(fd);
    throw hasMoved(path);
  }

  /** A path for a name in this folder that system calls can use. */
  at(name: string): string {
    return this.#fd === undefined ? join(this.path, name) : `/proc/self/fd/${this.#fd}/${name}`;
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
    if (this.#fd === undefined) return { folder: new HeldFolder(path, undefined), made };
    return { folder: HeldFolder.#at(path, openFolder(this.at(name))), made };
  }

  /** Makes new names in it survive a power loss; some file systems cannot. */
  async sync(): Promise<void> {
    try {
      if (this.#fd !== undefined) return await syncFile(this.#fd);
      const handle = await fs.open(this.path, constants.O_RDONLY);
      await handle.sync().finally(() => handle.close());
    } catch {
      // The files themselves have been synced.
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
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
    return { folder: HeldFolder.open(path), changed: [] };
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  await ready;
  const above = await holdMade(dirname(path), ready);
  try {
    const { folder, made } = await above.folder.make(basename(path));
    if (made) return { folder, changed: [above.folder, ...above.changed] };
    above.folder.close();
    return { folder, changed: above.changed };
  } catch (error) {
    closeAll([above.folder, ...above.changed]);
    throw error;
  }
}

export function closeAll(folders: readonly HeldFolder[]): void {
  for (const folder of folders) folder.close();
}

/** Opens what lies at this real path and nothing else; a part that is a link by now is refused. */
export function openExactly(path: string, flags: number): number {
  const fd = openSync(path, handlesHavePaths ? flags | constants.O_NOFOLLOW : flags);
  if (!handlesHavePaths || liesAt(fd, path)) return fd;
  closeSync(fd);
  throw hasMoved(path);
}

function openFolder(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | FOLDER);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EACCES") return openSync(path, O_PATH | FOLDER);
    if ((code === "ELOOP" || code === "ENOTDIR") && isLink(path)) throw hasMoved(path);
    throw error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/**
 * Asked of the open file itself. One that was replaced since it was opened still tells the place it had.
 * Disks that ignore case may spell a name in another way.
 */
function liesAt(fd: number, path: string): boolean {
  const found = readlinkSync(`/proc/self/fd/${fd}`);
  return found === path || found === `${path} (deleted)` || found.toLowerCase() === path.toLowerCase();
}

function hasMoved(path: string): ToolError {
  return new ToolError(`${path} changed while it was being used: a part of it leads elsewhere now.`, {
    code: "denied",
    hint: "Another program is changing these folders. Look at them before you try again.",
    details: { path, moved: true },
  });
}
