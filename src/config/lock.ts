import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errnoOf } from "../base/errno.js";
import { type Failure, failure } from "../tool/errors.js";

const WAIT_MS = 10_000;
// A holder only reads, edits and writes one small file.
const STALE_MS = 30_000;
/** A holder writes its number right after making the file; one that was killed in between never does. */
const NAMELESS_MS = 2_000;

/** Runs `work` while holding `<file>.lock`, so that writers in any process take turns. */
export async function withFileLock<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result | Failure> {
  const lock = `${file}.lock`;
  const mine = `${process.pid} ${uniqueWord()}`;
  const deadline = performance.now() + WAIT_MS;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  while (!tryTake(lock, mine)) {
    if (performance.now() > deadline) {
      return failure(
        "timeout",
        `${file} is being changed by another process`,
        `try again; if no other hermes is running, delete ${lock}`,
      );
    }
    breakIfStale(lock);
    await delay(2 + Math.random() * 15);
  }
  try {
    return await work();
  } finally {
    if (readQuietly(lock) === mine) rmSync(lock, { force: true });
  }
}

function tryTake(lock: string, content: string): boolean {
  try {
    writeFileSync(lock, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function breakIfStale(lock: string): void {
  const content = readQuietly(lock);
  if (content === undefined || !isStale(lock, content)) return;
  // Renaming has one winner; if a new holder slipped in between, it is put back.
  const aside = `${lock}.${uniqueWord()}`;
  try {
    renameSync(lock, aside);
    const moved = readQuietly(aside);
    if (moved !== undefined && moved !== content) tryTake(lock, moved);
    rmSync(aside, { force: true });
  } catch {
    // Another process broke it first.
  }
}

function isStale(lock: string, content: string): boolean {
  const pid = Number(content.split(" ")[0]);
  if (pid > 0 && !isAlive(pid)) return true;
  const takenAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return takenAt !== undefined && Date.now() - takenAt > (pid > 0 ? STALE_MS : NAMELESS_MS);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

function readQuietly(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function uniqueWord(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
}
