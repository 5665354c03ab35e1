/**
 * The databases that this process has open. Closing any descriptor of an SQLite file, also one that was only read, drops
 * all POSIX locks that the process holds on it. Another process then takes the shared index beside it for abandoned and
 * cuts it to nothing while it is mapped here, which ends this process with SIGBUS.
 */
const opened = new Map<string, number>();
const openings = new Map<string, Promise<unknown>>();

export function isOpenHere(path: string): boolean {
  return opened.has(path);
}

/** Returns what says that it was closed. */
export function noteOpen(path: string): () => void {
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
