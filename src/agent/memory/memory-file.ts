import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { syncFolder } from "../../store/wal-sync.js";
import { ToolError } from "../../tool/errors.js";

/** Far beyond what memory may take; somebody has put something else there. */
const MAX_BYTES = 1_000_000;

/** A file as it was read: its text, to be changed, and its bytes, to be compared. */
export interface ReadFile {
  /** Links resolved, so that a link into somebody's own folder stays one. */
  readonly path: string;
  readonly text: string;
  /** Undefined where there is no file yet. */
  readonly bytes: Buffer | undefined;
  readonly mode: number;
}

export async function readMemoryFile(given: string): Promise<ReadFile> {
  const path = await realpath(given).catch(() => given);
  try {
    const { size, mode } = await stat(path);
    if (size > MAX_BYTES) throw unusable(path, `holds ${size} bytes`);
    const bytes = await readFile(path);
    return { path, text: decoded(path, bytes), bytes, mode: mode & 0o777 };
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return { path, text: "", bytes: undefined, mode: 0o600 };
  }
}

/** Bytes that are no text would be lost by writing the text back. */
function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unusable(path, "holds bytes that are no UTF-8 text");
  }
}

function unusable(path: string, why: string): ToolError {
  return new ToolError(`${path} ${why}; it was left as it is.`, {
    code: "failed",
    hint: "The person has to mend it, or to move it away.",
  });
}

/**
 * Replaces the file by the text unless somebody has changed it since it was read: then false, and nothing has happened.
 * Editors know nothing of our lock, so the last look comes when the new file is whole and on disk.
 */
export async function swapMemoryFile(read: ReadFile, text: string): Promise<boolean> {
  const { path, bytes, mode } = read;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeDrafts(path);
  return replaceIf(async () => isSame(await readFile(path).catch(() => undefined), bytes), {
    path,
    text,
    mode,
  });
}

/** The file that goes with it; only we write it. */
export async function replaceBeside(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceIf(async () => true, { path, text, mode: 0o600 });
}

async function replaceIf(
  mayReplace: () => Promise<boolean>,
  { path, text, mode }: { readonly path: string; readonly text: string; readonly mode: number },
): Promise<boolean> {
  const draft = join(dirname(path), `${draftPrefix(path)}${randomBytes(6).toString("hex")}.tmp`);
  try {
    const handle = await open(draft, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (!(await mayReplace())) return false;
    await rename(draft, path);
    await syncFolder(dirname(path));
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

function draftPrefix(path: string): string {
  return `.${basename(path).replace(/^\./, "")}.`;
}

/** What a person wrote in his own way stays beside the file that is written in ours. */
export async function keepCopy({ path, bytes }: ReadFile): Promise<void> {
  if (bytes !== undefined) await writeFile(`${path}.bak`, bytes, { mode: 0o600 });
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

/** Left by processes that were killed; whoever holds the lock is the only one that has a draft. */
async function removeDrafts(path: string): Promise<void> {
  const isDraft = (name: string): boolean => name.startsWith(draftPrefix(path)) && name.endsWith(".tmp");
  for (const name of (await readdir(dirname(path))).filter(isDraft))
    await rm(join(dirname(path), name), { force: true });
}
