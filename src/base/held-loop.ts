/** Code that holds the event loop this long, in milliseconds, is named. */
export const HELD_LOOP_MS = 1_000;

const EVERY_MS = 250;

const watchers = new Set<(heldMs: number) => void>();
let timer: NodeJS.Timeout | undefined;
let lastTick = 0;
let lastUsage: NodeJS.CpuUsage = { user: 0, system: 0 };
let isNamed = false;

/** Whoever measures what it runs has found and named the code that held the loop. */
export function heldLoopIsNamed(): void {
  isNamed = true;
}

/** Told of a held loop that nobody has named: by a timer, mostly, or what goes on after something awaited. */
export function watchHeldLoop(onHeld: (heldMs: number) => void): () => void {
  watchers.add(onHeld);
  if (timer === undefined) {
    begin();
    timer = setInterval(look, EVERY_MS).unref();
  }
  return () => {
    watchers.delete(onHeld);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function begin(): void {
  lastTick = performance.now();
  lastUsage = process.cpuUsage();
  isNamed = false;
}

function look(): void {
  const heldMs = Math.round(performance.now() - lastTick - EVERY_MS);
  const { user, system } = process.cpuUsage(lastUsage);
  // A process that was stopped, or had no turn on a busy machine, was late as well, but not busy.
  const wasBusy = (user + system) / 1_000 > heldMs / 10;
  const told = heldMs >= HELD_LOOP_MS && wasBusy && !isNamed;
  begin();
  if (told) for (const tell of watchers) tell(heldMs);
}
