import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  lstatSync,
  open,
  type Stats,
  write,
} from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { errnoOf, isMissing } from "../../base/errno.js";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { conflict } from "./file-errors.js";
import { lockPath } from "./file-lock.js";
import { closeAll, HeldFolder, holdMade, type MadeFolder } from "./held-folder.js";
import { temporaryName } from "./unfinished-writes.js";

export interface AtomicWrite {
  /** A real path: links are already followed, and one that is on the way now is refused. */
  readonly path: string;
  readonly data: Uint8Array;
  /** Write only over exactly this content; `sha256: undefined` = only if nothing is there. */
  readonly expected?: { readonly sha256: string | undefined } | undefined;
  /** Permission bits; without them those of the replaced file. */
  readonly mode?: number | undefined;
  /** Nothing but the temporary file is made before this. */
  readonly ready?: Promise<unknown> | undefined;
}

export interface Written {
  readonly created: boolean;
  readonly dirsCreated: boolean;
  /** The file that was put in place, if it still lies there untouched. */
  readonly stats: Stats | undefined;
}

/** One writer per file at a time in this process, so that comparing and swapping is one step. */
const writers = new Map<string, Promise<unknown>>();

export async function writeAtomically(request: AtomicWrite): Promise<Written> {
  // It may fail while the bytes are still being written, and is waited for only then.
  request.ready?.catch(() => {});
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

async function replaceFile(request: AtomicWrite): Promise<Written> {
  const { path, expected, ready } = request;
  const { folder, changed } =
    expected?.sha256 === undefined
      ? await holdMade(dirname(path), ready)
      : await holdExisting(path, expected.sha256);
  const place: Place = { folder, name: basename(path), path };
  try {
    const existing = await existingFile(place);
    const mustBeNew = expected !== undefined && expected.sha256 === undefined;
    if (mustBeNew && existing !== undefined) await requireContent(place, undefined);
    const stats = await replaceIn(place, { ...request, like: existing });
    // Without it a power loss may take back what was acknowledged.
    await Promise.all([folder, ...changed].map((each) => each.sync()));
    return { created: existing === undefined, dirsCreated: changed.length > 0, stats };
  } finally {
    closeAll([folder, ...changed]);
  }
}

/** For a file that must be there: its folder is not made only to find out that it is not. */
async function holdExisting(path: string, sha256: string): Promise<MadeFolder> {
  try {
    return { folder: HeldFolder.open(dirname(path)), changed: [] };
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
  content: AtomicWrite & { readonly like: Stats | undefined },
): Promise<Stats | undefined> {
  const { expected, data, like, mode, ready } = content;
  const temporary = place.folder.at(temporaryName(place.folder.path));
  const writing = writeDurably({ path: temporary, data, like, mode });
  // Looking and replacing is one step for all processes that lock; others are noticed up to the last moment.
  const locked = lockPath(place.path);
  locked.catch(() => {});
  try {
    const written = await writing;
    await ready;
    await locked;
    if (expected !== undefined) await requireContent(place, expected.sha256);
    const mustBeNew = expected !== undefined && expected.sha256 === undefined;
    await putInPlace({ temporary, place, mustBeNew });
    // Before the next writer has its turn: what it puts there is no reason to doubt this one.
    const found = lstatSync(place.path, { throwIfNoEntry: false });
    return found !== undefined && isSameFile(written, found) ? found : undefined;
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  } finally {
    locked.then(
      (release) => release(),
      () => {},
    );
  }
}

function isSameFile(written: Stats, found: Stats): boolean {
  return (
    written.dev === found.dev &&
    written.ino === found.ino &&
    written.size === found.size &&
    written.mtimeMs === found.mtimeMs
  );
}

async function existingFile({ folder, name, path }: Place): Promise<Stats | undefined> {
  const stats = lstatSync(folder.at(name), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) throw isLinkNow(path);
  if (!stats.isFile()) {
    throw new ToolError(
      `Cannot write ${path}: it is ${stats.isDirectory() ? "a folder" : "not a regular file (a device, pipe or socket)"}.`,
      { hint: "Name a regular file." },
    );
  }
  // Replacing needs only the folder's permission; a read-only file must stay as it is all the same.
  if (!isOwnAndWritable(stats)) await fs.access(folder.at(name), constants.W_OK);
  return stats;
}

/** Saves asking the system in the usual case. */
function isOwnAndWritable({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & constants.S_IWUSR) !== 0;
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
    return sha256(await handle.readFile());
  } finally {
    await handle.close();
  }
}

/** Where writing can be told to sync, that is one step less. Elsewhere it would promise less than a sync does. */
const SYNCING = process.platform === "linux" ? constants.O_SYNC : 0;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SYNCING;

const openFile = promisify(open);
const writeFile = promisify(write);
const syncFile = promisify(fsync);

async function writeDurably(file: {
  path: string;
  data: Uint8Array;
  like: Stats | undefined;
  mode: number | undefined;
}): Promise<Stats> {
  const { path, data, like } = file;
  const wanted = file.mode ?? like?.mode;
  const fd = await openFile(path, NEW_FILE, wanted === undefined ? 0o666 : wanted & 0o777);
  try {
    // In one piece where the system takes it: node's own writeFile would cut it into many.
    for (let done = 0; done < data.byteLength; ) {
      done += (await writeFile(fd, data, done, data.byteLength - done, null)).bytesWritten;
    }
    const stats = fstatSync(fd);
    const changed = keepIdentity({ fd, stats, like, wanted });
    if (changed || SYNCING === 0 || data.byteLength === 0) await syncFile(fd);
    return stats;
  } finally {
    closeSync(fd);
  }
}

/** Gives a new file the owner and the mode of the one it replaces; answers whether that took anything. */
function keepIdentity(file: {
  fd: number;
  stats: Stats;
  like: Stats | undefined;
  wanted: number | undefined;
}): boolean {
  const { fd, stats, like, wanted } = file;
  const isForeign = like !== undefined && (stats.uid !== like.uid || stats.gid !== like.gid);
  if (isForeign) giveAway(fd, like);
  // Opening let the umask take bits away, and changing the owner may have done so too.
  const isOther = wanted !== undefined && (isForeign || (stats.mode & 0o7777) !== (wanted & 0o7777));
  if (isOther) fchmodSync(fd, wanted & 0o7777);
  return isForeign || isOther;
}

/** Only root may give a file away; for others the content counts more than the owner. */
function giveAway(fd: number, { uid, gid }: Stats): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {}
}

async function putInPlace(move: { temporary: string; place: Place; mustBeNew: boolean }): Promise<void> {
  const target = move.place.folder.at(move.place.name);
  if (!move.mustBeNew) return fs.rename(move.temporary, target);
  try {
    // Unlike rename, link refuses to replace: two programs creating one file cannot both succeed.
    await fs.link(move.temporary, target);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST") return requireContent(move.place, undefined);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    return fs.rename(move.temporary, target);
  }
  await fs.rm(move.temporary, { force: true });
}
