// The program of a thread that runs scripts, one after the other.
import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, Order, ThreadData, ToThread } from "./protocol.js";
import { type Sandbox, SandboxMaker } from "./sandbox-maker.js";
import { ScriptRun } from "./script-run.js";

const data = workerData as ThreadData;
const stop = new Int32Array(data.stop);
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
    current = new ScriptRun({ sandbox, order, stop, post });
    current.begin();
  } catch (error) {
    post({ kind: "ended", ending: { how: "broken", reason: String(error) }, stdout: "", stderr: "" });
  }
}

parentPort?.on("message", (message: ToThread) => {
  if (typeof message === "string") current?.answer(message);
  else if (message.kind === "run") void begin(message);
  else current?.wake();
});
