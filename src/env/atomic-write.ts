import { createHash, randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "../tool/errors.js";
import { isMissing } from "./file-errors.js";

export interface AtomicWrite {
  /** A real path: links are already followed. */
  readonly path: string;
  readonly data: Uint8Array;
  /** Write only over exactly this content; `sha256: undefined` = only if nothing is there. */
  readonly expected?: { readonly sha256: string | undefined } | undefined;
}

export interface Written {
  readonly created: boolean;
  readonly dirsCreated: boolean;
}

/** One writer per file at a time in this process, so that comparing and swapping is one step. */
const writers = new Map<string, Promise<unknown>>();

export async function writeAtomically(request: AtomicWrite): Promise<Written> {
  const before = writers.get(request.path) ?? Promise.resolve();
  const mine = before.then(() => replaceFile(request));
  const settled = mine.catch(() => {});
  writers.set(request.path, settled);
  try {
    return await mine;
  } finally {
    if (writers.get(request.path) === settled) writers.delete(request.path);
  }
}

async function replaceFile({ path, data, expected }: AtomicWrite): Promise<Written> {
  const existing = await existingFile(path);
  if (expected !== undefined) await requireContent(path, expected.sha256);
  const folder = dirname(path);
  const firstMade = await fs.mkdir(folder, { recursive: true });
  const temporary = join(folder, `.hermes-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeDurably({ path: temporary, data, like: existing });
    // Looked at again at the last moment: another program may have written while we did.
    if (expected !== undefined) await requireContent(path, expected.sha256);
    await putInPlace({ temporary, path, mustBeNew: expected !== undefined && expected.sha256 === undefined });
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
  await syncFolders(folder, firstMade);
  return { created: existing === undefined, dirsCreated: firstMade !== undefined };
}

async function existingFile(path: string): Promise<Stats | undefined> {
  let stats: Stats;
  try {
    stats = await fs.stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  if (!stats.isFile()) {
    throw new ToolError(
      `Cannot write ${path}: it is ${stats.isDirectory() ? "a folder" : "not a regular file (a device, pipe or socket)"}.`,
      { hint: "Name a regular file." },
    );
  }
  // Replacing needs only the folder's permission; a read-only file must stay as it is all the same.
  await fs.access(path, constants.W_OK);
  return stats;
}

async function requireContent(path: string, sha256: string | undefined): Promise<void> {
  const actual = await hashOf(path);
  if (actual === sha256) return;
  const what =
    actual === undefined
      ? "it no longer exists"
      : sha256 === undefined
        ? "it exists already"
        : "its content has changed since it was read";
  throw new ToolError(`Did not write ${path}: ${what}.`, {
    hint: "Read the file again and repeat the change on what it holds now.",
    details: { conflict: true, path, expected_sha256: sha256 ?? null, actual_sha256: actual ?? null },
  });
}

async function hashOf(path: string): Promise<string | undefined> {
  try {
    return createHash("sha256")
      .update(await fs.readFile(path))
      .digest("hex");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function writeDurably(file: {
  path: string;
  data: Uint8Array;
  like: Stats | undefined;
}): Promise<void> {
  const handle = await fs.open(file.path, "wx");
  try {
    await handle.writeFile(file.data);
    if (file.like !== undefined) await keepIdentity(handle, file.like);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepIdentity(handle: fs.FileHandle, like: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== like.uid || now.gid !== like.gid) {
    // Only root may give a file away; for others the content counts more than the owner.
    await handle.chown(like.uid, like.gid).catch(() => {});
  }
  await handle.chmod(like.mode & 0o7777);
}

async function putInPlace(move: { temporary: string; path: string; mustBeNew: boolean }): Promise<void> {
  if (!move.mustBeNew) return fs.rename(move.temporary, move.path);
  try {
    // Unlike rename, link refuses to replace: two programs creating one file cannot both succeed.
    await fs.link(move.temporary, move.path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return requireContent(move.path, undefined);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    return fs.rename(move.temporary, move.path);
  }
  await fs.rm(move.temporary, { force: true });
}

/** Makes the new name, and every folder made on the way to it, survive a power loss. */
async function syncFolders(folder: string, firstMade: string | undefined): Promise<void> {
  await syncFolder(folder);
  if (firstMade === undefined) return;
  const last = dirname(firstMade);
  for (let next = folder; next !== last && next !== dirname(next); ) {
    next = dirname(next);
    await syncFolder(next);
  }
}

async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await fs.open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some file systems cannot sync a folder; the file itself has been synced.
  }
}
