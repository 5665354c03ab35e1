// Watches the main thread from beside it: while it does not move on, this asks what it is doing. Only the inspector can
// interrupt code that holds the loop, and only from another thread.
const { parentPort, workerData } = require("node:worker_threads");
const { Session } = require("node:inspector");

const { everyMs, shared } = workerData;
const beats = new Int32Array(shared);
/** Of code that never ends, the first seconds say enough. */
const MOST_STACKS = 25;
const STACK = `(() => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  try {
    return String(new Error().stack);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
})()`;

let beat = -1;
let stillTicks = 0;
let stacks = [];
let isAsking = false;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now === beat) {
    stillTicks += 1;
    // Once may be chance: this thread was due at the same time. A process that was stopped misses one tick here, too.
    if (stillTicks >= 2 && stacks.length < MOST_STACKS && !isAsking) ask();
    return;
  }
  if (stacks.length > 0) parentPort.postMessage({ beat, stacks });
  beat = now;
  stillTicks = 0;
  stacks = [];
}, everyMs);

function ask() {
  const asked = beat;
  const session = new Session();
  session.connectToMainThread();
  isAsking = true;
  session.post("Runtime.evaluate", { expression: STACK, returnByValue: true }, (_error, answer) => {
    isAsking = false;
    // A process waits with its end for open sessions.
    session.disconnect();
    const stack = answer?.result?.value;
    // The answer may come when the loop goes on again, and then of something else.
    if (typeof stack === "string" && asked === Atomics.load(beats, 0)) stacks.push(stack);
  });
}
