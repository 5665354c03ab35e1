import { constants, existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMissing, messageOf } from "../../base/errno.js";
import type { Database } from "../../store/driver.js";

/** The text of a file of the other home; undefined where there is none. */
export async function readSource(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (error instanceof TypeError) throw new Error("it is no UTF-8 text");
    throw error;
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/**
 * Work on a copy of a database: even reading one with SQLite may write beside it, and neither the other home nor, in a
 * dry run, this one is to be touched. Undefined where there is no such file.
 */
export async function withCopyOf<Result>(
  path: string,
  work: (db: Database) => Promise<Result> | Result,
): Promise<Result | undefined> {
  if (!existsSync(path)) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "hermes-migrate-"));
  try {
    await copyAtRest(path, join(folder, "copy.db"));
    const { openDatabase } = await import("../../store/sqlite-driver.js");
    const db = openDatabase(join(folder, "copy.db"));
    try {
      return await work(db);
    } finally {
      db.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A copy of a file that is being written would be neither the old nor the new one. */
async function copyAtRest(path: string, to: string): Promise<void> {
  const files = ["", "-wal"].filter((end) => existsSync(path + end));
  const before = await marksOf(path);
  for (const end of files) await copyFile(path + end, to + end, constants.COPYFILE_FICLONE);
  if (before !== (await marksOf(path)))
    throw new Error("it is being written to at this moment: stop the program that uses it, then try again");
}

async function marksOf(path: string): Promise<string> {
  const marks = ["", "-wal"].map(async (end) => {
    const found = await stat(path + end).catch(() => undefined);
    return found === undefined ? "-" : `${found.size} ${found.mtimeMs} ${found.ino}`;
  });
  return (await Promise.all(marks)).join("; ");
}

export function reasonOf(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}
