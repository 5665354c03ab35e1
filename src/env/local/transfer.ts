import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errnoOf, isMissing } from "../../base/errno.js";
import { isAtOrBelow } from "../../base/path.js";
import { ToolError } from "../../tool/errors.js";
import type { Transfer, TransferReport } from "../environment.js";
import { fileError } from "./file-errors.js";
import { closeAll, HeldFolder, holdMade } from "./held-folder.js";

const CHUNK_BYTES = 1024 * 1024;
/** A folder that is being filled; its own mode may forbid that. */
const FILLING_MODE = 0o700;

/**
 * Copies a file, or a folder with everything in it, on this machine. Modes and times are kept. Links are
 * copied as links and never followed, except where `from` and `to` themselves lead. A folder is poured into
 * one that exists; files are replaced whole. Pipes, sockets and devices are left out.
 */
export async function copyTree({ from, to, signal }: Transfer): Promise<TransferReport> {
  for (const path of [from, to]) requireUsable(path);
  refuseCancelled(signal);
  const source = await fs.realpath(from).catch((error: unknown) => {
    throw fileError({ error, path: from, action: "copy" });
  });
  const folders: HeldFolder[] = [];
  try {
    const target = await wherePathLeads(to);
    if (isAtOrBelow(target, source)) throw intoItself(from, to);
    const held = HeldFolder.open(dirname(source));
    folders.push(held);
    const made = await holdMade(dirname(target));
    folders.push(made.folder, ...made.changed);
    const copy = new Copy(signal);
    await copy.entry(
      { folder: held, name: basename(source), path: source },
      { folder: made.folder, name: basename(target), path: target },
    );
    if (copy.files === 0 && copy.folders === 0) throw nothingToCopy(from);
    return { files: copy.files, bytes: copy.bytes };
  } catch (error) {
    throw fileError({ error, path: to, action: "copy to" });
  } finally {
    closeAll(folders);
  }
}

/** A name in a folder that is held open, so that nobody can put another folder in its place. */
interface Place {
  readonly folder: HeldFolder;
  readonly name: string;
  readonly path: string;
}

class Copy {
  files = 0;
  folders = 0;
  bytes = 0;
  readonly #signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  async entry(from: Place, to: Place): Promise<void> {
    refuseCancelled(this.#signal);
    const stats = await fs.lstat(from.folder.at(from.name));
    if (stats.isDirectory()) return this.#folder(from, to, stats);
    if (stats.isSymbolicLink()) return this.#link(from, to);
    if (stats.isFile()) return this.#file(from, to);
  }

  async #folder(from: Place, to: Place, stats: Stats): Promise<void> {
    const source = HeldFolder.open(from.path);
    const held = [source];
    try {
      const { folder: target, made } = await to.folder.make(to.name);
      held.push(target);
      this.folders += 1;
      if (made) await fs.chmod(target.at("."), FILLING_MODE);
      for (const name of await fs.readdir(source.at("."))) {
        await this.entry(
          { folder: source, name, path: join(from.path, name) },
          { folder: target, name, path: join(to.path, name) },
        );
      }
      if (!made) return;
      await fs.chmod(target.at("."), stats.mode & 0o7777);
      await fs.utimes(target.at("."), stats.atime, stats.mtime);
    } finally {
      closeAll(held);
    }
  }

  async #link(from: Place, to: Place): Promise<void> {
    const target = await fs.readlink(from.folder.at(from.name));
    await replace(to, (temporary) => fs.symlink(target, temporary));
    this.files += 1;
  }

  async #file(from: Place, to: Place): Promise<void> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const source = await fs.open(from.folder.at(from.name), flags).catch((error: unknown) => {
      throw fileError({ error, path: from.path, action: "copy" });
    });
    try {
      const stats = await source.stat();
      // It was a file a moment ago.
      if (!stats.isFile()) return;
      await replace(to, async (temporary) => {
        const target = await fs.open(temporary, "wx", 0o600);
        try {
          await this.#content(source, target);
          await target.chmod(stats.mode & 0o7777);
          await target.utimes(stats.atime, stats.mtime);
        } finally {
          await target.close();
        }
      });
      this.files += 1;
    } finally {
      await source.close();
    }
  }

  async #content(source: fs.FileHandle, target: fs.FileHandle): Promise<void> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      refuseCancelled(this.#signal);
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      await target.writeFile(buffer.subarray(0, bytesRead));
      this.bytes += bytesRead;
    }
  }
}

/** Made beside it and put in its place: a link that is there is replaced, not followed. */
async function replace(to: Place, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = to.folder.at(`.hermes-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await make(temporary);
    await fs.rename(temporary, to.folder.at(to.name));
  } catch (error) {
    await fs.rm(temporary, { force: true });
    const code = errnoOf(error);
    if (code !== "EISDIR" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    throw new ToolError(`Cannot copy to ${to.path}: a folder is there.`, {
      cause: error,
      hint: "Name a file in that folder, or another place.",
    });
  }
}

/** Links that are there are followed to the folder they lead to; the rest does not exist yet. */
async function wherePathLeads(path: string): Promise<string> {
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return join(await wherePathLeads(dirname(path)), basename(path));
  }
}

function requireUsable(path: string): void {
  if (isAbsolute(path) && !path.includes("\0")) return;
  throw new ToolError(`The path ${JSON.stringify(path)} is not absolute or holds a NUL byte.`, {
    code: "invalid_arguments",
    hint: "Give an absolute path.",
  });
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new ToolError("Cancelled; what had been copied until then is there.", { code: "cancelled" });
}

function intoItself(from: string, to: string): ToolError {
  return new ToolError(`Cannot copy ${from} to ${to}: that is the same place or lies inside it.`, {
    code: "invalid_arguments",
    hint: "Name a place outside of what is copied.",
  });
}

function nothingToCopy(from: string): ToolError {
  return new ToolError(`Cannot copy ${from}: it is not a file or a folder (a device, pipe or socket).`, {
    hint: "Name a regular file or a folder.",
  });
}
