import { isMainThread, Worker } from "node:worker_threads";
import { HELD_LOOP_THREAD } from "./held-loop-thread.gen.js";
import { placesIn } from "./stack.js";

/** Code that holds the event loop this long, in milliseconds, is named. */
export const HELD_LOOP_MS = 1_000;

const EVERY_MS = 200;

interface Watched {
  readonly folder: string;
  readonly onHeld: (where: string, heldMs: number) => void;
}

const watched = new Set<Watched>();
/** The number of turns of the timer below: it stands still while the loop is held. */
const beats = new Int32Array(new SharedArrayBuffer(4));
let thread: WatchingThread | undefined;
/** The beat after which somebody who measures what it runs has named the code that held the loop. */
let named = -1;
/** How long the loop was held after a beat, where nobody has named it and the thread has not yet told what it saw. */
const unnamed = new Map<number, number>();
const MOST_UNNAMED = 20;

interface WatchingThread {
  /** Resolves when it can see; never rejects. */
  readonly ready: Promise<void>;
  end(): void;
}

/** Whoever measures what it runs has found and named the code that held the loop. */
export function heldLoopIsNamed(): void {
  named = Atomics.load(beats, 0);
}

/**
 * Told when code of this folder held the loop and nobody has named it: a timer, mostly, or what goes on after something
 * awaited. `where` is its file and line.
 */
export function watchHeldLoop(
  folder: string,
  onHeld: Watched["onHeld"],
): { readonly ready: Promise<void>; stop(): void } {
  const one: Watched = { folder, onHeld };
  watched.add(one);
  // Only the main thread can be looked at.
  if (isMainThread) thread ??= begin();
  return {
    ready: thread?.ready ?? Promise.resolve(),
    stop() {
      watched.delete(one);
      if (watched.size > 0) return;
      thread?.end();
      thread = undefined;
    },
  };
}

function begin(): WatchingThread {
  // What was named before has nothing to do with what comes now.
  Atomics.add(beats, 0, 1);
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const heldMs = Math.round(now - last - EVERY_MS);
    last = now;
    const beat = Atomics.add(beats, 0, 1);
    if (heldMs < HELD_LOOP_MS || beat === named) return;
    unnamed.set(beat, heldMs);
    const [oldest = beat] = unnamed.keys();
    if (unnamed.size > MOST_UNNAMED) unnamed.delete(oldest);
  }, EVERY_MS).unref();
  const worker = new Worker(HELD_LOOP_THREAD, {
    eval: true,
    workerData: { everyMs: EVERY_MS, shared: beats.buffer },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.on("message", judge);
  return {
    ready: new Promise((resolve) => {
      worker.once("online", () => {
        worker.unref();
        resolve();
      });
      // A Node without an inspector, say: then only what is measured is named.
      worker.on("error", () => resolve());
      worker.once("exit", () => resolve());
    }),
    end() {
      clearInterval(timer);
      void worker.terminate();
    },
  };
}

/** Names whoever was found in at least half of the looks: other code may have had a part of the time. */
function judge({ beat, stacks }: { readonly beat: number; readonly stacks: readonly string[] }): void {
  const heldMs = unnamed.get(beat);
  if (heldMs === undefined) return;
  unnamed.delete(beat);
  for (const { folder, onHeld } of watched) {
    const places = stacks.flatMap((stack) => placesIn(folder, stack).slice(0, 1));
    const [first] = places;
    if (first !== undefined && places.length * 2 >= stacks.length) onHeld(first, heldMs);
  }
}
