import { createHash, randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname } from "node:path";
import { ToolError } from "../../tool/errors.js";
import { conflict, isMissing } from "./file-errors.js";
import { closeAll, HeldFolder, holdMade, type MadeFolder } from "./held-folder.js";

export interface AtomicWrite {
  /** A real path: links are already followed, and one that is on the way now is refused. */
  readonly path: string;
  readonly data: Uint8Array;
  /** Write only over exactly this content; `sha256: undefined` = only if nothing is there. */
  readonly expected?: { readonly sha256: string | undefined } | undefined;
  /** Permission bits; without them those of the replaced file. */
  readonly mode?: number | undefined;
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

async function replaceFile({ path, data, expected, mode }: AtomicWrite): Promise<Written> {
  const { folder, changed } =
    expected?.sha256 === undefined
      ? await holdMade(dirname(path))
      : await holdExisting(path, expected.sha256);
  const place: Place = { folder, name: basename(path), path };
  try {
    const existing = await existingFile(place);
    if (expected !== undefined) await requireContent(place, expected.sha256);
    await replaceIn(place, { data, like: existing, expected, mode });
    for (const each of [folder, ...changed]) await each.sync();
    return { created: existing === undefined, dirsCreated: changed.length > 0 };
  } finally {
    await closeAll([folder, ...changed]);
  }
}

/** For a file that must be there: its folder is not made only to find out that it is not. */
async function holdExisting(path: string, sha256: string): Promise<MadeFolder> {
  try {
    return { folder: await HeldFolder.open(dirname(path)), changed: [] };
  } catch (error) {
    if (isMissing(error)) throw conflict({ path, expected: sha256, actual: undefined });
    throw error;
  }
}

/** A name in a folder that is held open, so that nobody can put another folder in its place. */
interface Place {
  readonly folder: HeldFolder;
  readonly name: string;
  /** For messages. */
  readonly path: string;
}

async function replaceIn(
  place: Place,
  content: Pick<AtomicWrite, "data" | "expected" | "mode"> & { readonly like: Stats | undefined },
): Promise<void> {
  const { expected, data, like, mode } = content;
  const temporary = place.folder.at(`.hermes-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeDurably({ path: temporary, data, like, mode });
    // Looked at again at the last moment: another program may have written while we did.
    if (expected !== undefined) await requireContent(place, expected.sha256);
    const mustBeNew = expected !== undefined && expected.sha256 === undefined;
    await putInPlace({ temporary, place, mustBeNew });
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
}

async function existingFile({ folder, name, path }: Place): Promise<Stats | undefined> {
  let stats: Stats;
  try {
    stats = await fs.lstat(folder.at(name));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  if (stats.isSymbolicLink()) throw isLinkNow(path);
  if (!stats.isFile()) {
    throw new ToolError(
      `Cannot write ${path}: it is ${stats.isDirectory() ? "a folder" : "not a regular file (a device, pipe or socket)"}.`,
      { hint: "Name a regular file." },
    );
  }
  // Replacing needs only the folder's permission; a read-only file must stay as it is all the same.
  await fs.access(folder.at(name), constants.W_OK);
  return stats;
}

function isLinkNow(path: string): ToolError {
  return new ToolError(`Did not write ${path}: it is a link.`, {
    code: "denied",
    hint: "Look where it leads and name that place. If it was a file before, another program has changed it.",
    details: { path, moved: true },
  });
}

async function requireContent(place: Place, expected: string | undefined): Promise<void> {
  const actual = await hashOf(place);
  if (actual !== expected) throw conflict({ path: place.path, expected, actual });
}

async function hashOf({ folder, name }: Place): Promise<string | undefined> {
  let handle: fs.FileHandle;
  try {
    handle = await fs.open(folder.at(name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return createHash("sha256")
      .update(await handle.readFile())
      .digest("hex");
  } finally {
    await handle.close();
  }
}

async function writeDurably(file: {
  path: string;
  data: Uint8Array;
  like: Stats | undefined;
  mode: number | undefined;
}): Promise<void> {
  const handle = await fs.open(file.path, "wx");
  try {
    await handle.writeFile(file.data);
    if (file.like !== undefined) await keepIdentity(handle, file.like);
    if (file.mode !== undefined) await handle.chmod(file.mode & 0o7777);
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

async function putInPlace(move: { temporary: string; place: Place; mustBeNew: boolean }): Promise<void> {
  const target = move.place.folder.at(move.place.name);
  if (!move.mustBeNew) return fs.rename(move.temporary, target);
  try {
    // Unlike rename, link refuses to replace: two programs creating one file cannot both succeed.
    await fs.link(move.temporary, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return requireContent(move.place, undefined);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    return fs.rename(move.temporary, target);
  }
  await fs.rm(move.temporary, { force: true });
}
