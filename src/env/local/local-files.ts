import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, read, readFile } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, isAbsolute, resolve as resolvePath } from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { EnvironmentFiles, ReadRange, StreamRange, WriteReport } from "../environment.js";
import { type AtomicWrite, writeAtomically } from "./atomic-write.js";
import { reach } from "./far-disks.js";
import { fileError } from "./file-errors.js";
import { closeAll, HeldFolder, holdMade, openExactly } from "./held-folder.js";
import { looking, realPath, statOf, toStat, typeOf } from "./look.js";

const STREAM_CHUNK = 1024 * 1024;
const readPart = promisify(read);
const readWhole = promisify(readFile);

export interface LocalFilesOptions {
  /** What `~` stands for. */
  readonly home: () => string;
}

export function createLocalFiles(options: LocalFilesOptions): EnvironmentFiles {
  return {
    resolve: (path, cwd) => resolveAgainst({ path, cwd, home: options.home() }),
    realpath: (path) => guarded(path, "resolve", () => looking(() => realPath(path))),
    stat: (path) => guarded(path, "look at", () => looking(() => statOf(path))),
    list: (path) => guarded(path, "list", () => listFolder(path)),
    read: (path, range) => guarded(path, "read", () => readBytes(path, range)),
    stream: (path, range) => streamBytes(path, range),
    write: (path, data, writeOptions) => guarded(path, "write", () => writeBytes(path, data, writeOptions)),
    writeWhenReady: (path, data, writeOptions) =>
      guarded(path, "write", () => writeBytes(path, data, writeOptions)),
    keepAside: (path, copy) => guarded(path, "keep", () => keepAside(resolvePath(path), copy)),
    remove: (path) => guarded(path, "remove", () => removeEntry(resolvePath(path))),
    rename: (from, to) =>
      guarded(from, "rename", () => {
        refuseUnusable(to);
        return renameEntry(resolvePath(from), resolvePath(to));
      }),
    async *watch(path, watchOptions) {
      refuseUnusable(path);
      const { watchLocal } = await import("./watch.js");
      yield* watchLocal(resolvePath(path), watchOptions);
    },
  };
}

function resolveAgainst({ path, cwd, home }: { path: string; cwd: string; home: string }): string {
  refuseUnusable(path);
  refuseUnusable(cwd);
  if (path === "~") return resolvePath(home);
  if (path.startsWith("~/")) return resolvePath(home, path.slice(2));
  return resolvePath(cwd, path);
}

function refuseUnusable(path: string): void {
  if (path === "") throw new ToolError("The path is empty.", { code: "invalid_arguments" });
  if (path.includes("\0")) {
    throw new ToolError(`The path ${JSON.stringify(path)} holds a NUL byte, which no file name can.`, {
      code: "invalid_arguments",
    });
  }
}

async function guarded<T>(path: string, action: string, work: () => Promise<T>): Promise<T> {
  refuseUnusable(path);
  if (!isAbsolute(path)) {
    throw new ToolError(`The path ${JSON.stringify(path)} is not absolute.`, {
      code: "invalid_arguments",
      hint: "Resolve it against the working directory first.",
    });
  }
  try {
    await reach(path);
    return await work();
  } catch (error) {
    throw fileError({ error, path, action });
  }
}

async function listFolder(path: string) {
  const entries = await fs.readdir(path, { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Non-blocking, because opening a named pipe would otherwise wait for a writer for ever. */
function openForReading(path: string, exactly: boolean): { readonly fd: number; readonly size: number } {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const fd = exactly ? openExactly(resolvePath(path), flags) : openSync(path, flags);
  try {
    const stats = fstatSync(fd);
    if (stats.isFile()) return { fd, size: stats.size };
    throw new ToolError(
      `${path} is ${stats.isDirectory() ? "a folder" : "not a regular file (a device, pipe or socket)"}.`,
      { hint: "Name a regular file." },
    );
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

async function readBytes(path: string, range: ReadRange = {}): Promise<Uint8Array> {
  const { fd, size } = openForReading(path, range.real === true);
  try {
    if (range.start === undefined && range.end === undefined) return await readWhole(fd);
    const start = Math.max(0, range.start ?? 0);
    const wanted = Math.max(0, Math.min(range.end ?? size, size) - start);
    const buffer = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await readPart(fd, buffer, filled, wanted - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

async function* streamBytes(path: string, range: StreamRange = {}): AsyncGenerator<Uint8Array> {
  const { fd } = await guarded(path, "read", async () => openForReading(path, range.real === true));
  const { into = [] } = range;
  try {
    for (let position = Math.max(0, range.start ?? 0), turn = 0; ; turn++) {
      const buffer = into[turn % into.length] ?? Buffer.allocUnsafeSlow(STREAM_CHUNK);
      const { bytesRead } = await readPart(fd, buffer, 0, buffer.length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    closeSync(fd);
  }
}

async function writeBytes(
  path: string,
  data: Uint8Array,
  options?: Omit<AtomicWrite, "path" | "data">,
): Promise<WriteReport> {
  const { stats, ...report } = await writeAtomically({ path: resolvePath(path), data, ...options });
  return { ...report, stat: stats && toStat(stats) };
}

/** A link is removed itself, not what it points to; a folder only when it is empty. */
async function removeEntry(path: string): Promise<void> {
  const folder = HeldFolder.open(dirname(path));
  try {
    const place = folder.at(basename(path));
    const stats = await fs.lstat(place);
    await (stats.isDirectory() ? fs.rmdir(place) : fs.unlink(place));
  } finally {
    folder.close();
  }
}

async function renameEntry(from: string, to: string): Promise<void> {
  const source = HeldFolder.open(dirname(from));
  const held = [source];
  try {
    const old = source.at(basename(from));
    await fs.lstat(old);
    const { folder: target, changed } = await holdMade(dirname(to));
    held.push(target, ...changed);
    try {
      await fs.rename(old, target.at(basename(to)));
    } catch (error) {
      if (errnoOf(error) !== "EXDEV") throw error;
      await moveAcrossDevices({ from: old, target, name: basename(to) });
    }
  } finally {
    closeAll(held);
  }
}

async function moveAcrossDevices(move: { from: string; target: HeldFolder; name: string }): Promise<void> {
  const { from, target } = move;
  const temporary = target.at(`.hermes-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await fs.cp(from, temporary, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await fs.rename(temporary, target.at(move.name));
  } catch (error) {
    await fs.rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await fs.rm(from, { recursive: true });
}

/**
 * A second name for the same file costs nothing, and files are replaced, not written over. Only a file that has
 * other names already, or lies on another disk, is copied: somebody could change it through them.
 */
export async function keepAside(path: string, copy: string): Promise<void> {
  const folder = HeldFolder.open(dirname(path));
  try {
    const place = folder.at(basename(path));
    if (await linked(place, copy)) return;
    const source = await fs.open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await fs.writeFile(copy, source.createReadStream({ autoClose: false }), { flag: "wx", mode: 0o600 });
    } finally {
      await source.close();
    }
  } finally {
    folder.close();
  }
}

async function linked(place: string, copy: string): Promise<boolean> {
  try {
    await fs.link(place, copy);
  } catch {
    return false;
  }
  const stats = lstatSync(copy);
  // A link to a file is not the file.
  if (stats.isFile() && stats.nlink === 2) return true;
  await fs.rm(copy);
  return false;
}
