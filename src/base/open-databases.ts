import { readdirSync, readlinkSync } from "node:fs";

/**
 * The databases that this process has open. Closing any descriptor of an SQLite file, also one that was only read, drops
 * all POSIX locks that the process holds on it. Another process then takes the shared index beside it for abandoned and
 * cuts it to nothing while it is mapped here, which ends this process with SIGBUS.
 */
const opened = new Map<string, number>();
const openings = new Map<string, Promise<unknown>>();

/** The path of the real file. */
export function isOpenHere(path: string): boolean {
  return opened.has(path) || isHeld(path);
}

const everOpened = new Set<string>();

/**
 * Whether descriptors of it are left: a database that is told to close stays open, in the package for Node 20, until its
 * statements are collected. The next one that is opened goes on with its locks.
 */
function isHeld(path: string): boolean {
  if (!everOpened.has(path)) return false;
  try {
    return readdirSync("/proc/self/fd").some((name) => placeOf(name) === path);
  } catch {
    // No /proc: nobody can tell.
    return true;
  }
}

function placeOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

/** Returns what says that it was closed. */
export function noteOpen(path: string): () => void {
  everOpened.add(path);
  opened.set(path, (opened.get(path) ?? 0) + 1);
  return () => {
    const others = (opened.get(path) ?? 1) - 1;
    if (others === 0) opened.delete(path);
    else opened.set(path, others);
  };
}

/** Openings of one file wait for each other: one may still read what the other has locks on. */
export async function oneOpening<Value>(path: string, open: () => Promise<Value>): Promise<Value> {
  const turn = (openings.get(path) ?? Promise.resolve()).then(open, open);
  openings.set(path, turn);
  try {
    return await turn;
  } finally {
    if (openings.get(path) === turn) openings.delete(path);
  }
}
