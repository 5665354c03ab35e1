// The program of a thread that runs scripts, one after the other.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { AdaptiveSpin } from "./adaptive-spin.js";
import { type FromThread, type Order, SHARED, type ThreadData, type ToThread } from "./protocol.js";
import { type Sandbox, SandboxMaker } from "./sandbox-maker.js";
import { ScriptRun } from "./script-run.js";

const data = workerData as ThreadData;
const shared = new Int32Array(data.shared);
const opening = SandboxMaker.open(data);
/** The engine of the next script, made while nobody waits for it. */
let next = prepare(data.memoryBytes);
let current: ScriptRun | undefined;

function prepare(memoryBytes: number): Promise<Sandbox> {
  const made = opening.then((maker) => maker.make(memoryBytes));
  // The script that needs it is told.
  made.catch(() => undefined);
  return made;
}

async function begin(order: Order): Promise<void> {
  const { memoryBytes } = order.limits;
  const post = (message: FromThread) => {
    parentPort?.postMessage(message);
    if (typeof message === "object" && message.kind === "ended") next = prepare(memoryBytes);
  };
  try {
    const prepared = await next;
    const sandbox = prepared.memoryBytes === memoryBytes ? prepared : await prepare(memoryBytes);
    current = new ScriptRun({ sandbox, order, shared, post });
    current.begin();
    takeAnswers();
  } catch (error) {
    post({ kind: "ended", ending: { how: "broken", reason: String(error) }, stdout: "", stderr: "" });
  }
}

function take(message: ToThread): void {
  if (typeof message === "string") current?.answer(message);
  else if (message.kind === "run") void begin(message);
  else current?.wake();
}

/** Waits for messages without the event loop, which would take as long again to pass one on. */
function takeAnswers(): void {
  while (parentPort !== null && current?.waitsForMessage === true) {
    const sent = Atomics.load(shared, SHARED.sent);
    const received = receiveMessageOnPort(parentPort);
    if (received !== undefined) take(received.message as ToThread);
    else if (!isSentSoon(sent)) Atomics.wait(shared, SHARED.sent, sent);
  }
}

const spin = new AdaptiveSpin();

function isSentSoon(sent: number): boolean {
  const until = spin.begin();
  if (until === undefined) return false;
  while (performance.now() < until) {
    if (Atomics.load(shared, SHARED.sent) === sent) continue;
    spin.paidOff();
    return true;
  }
  spin.failed();
  return false;
}

parentPort?.on("message", (message: ToThread) => {
  take(message);
  takeAnswers();
});
