// Cells, one after the other, in the global scope. A thread reads the channel, so that a cell that computes can be
// told to stop. Follows node-common.cjs.
const { Worker } = require("node:worker_threads");
const READER =
  "(" +
  ((readMessages) => {
    const net = require("node:net");
    const { parentPort } = require("node:worker_threads");
    readMessages(new net.Socket({ fd: 3, readable: true, writable: false }), (message) => {
      if (message[0] === "i") process.kill(process.pid, "SIGINT");
      parentPort.postMessage(message);
    });
  }) +
  ")(" +
  readMessages +
  ")";

const loadHere = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
let running;
process.on("SIGINT", () => {});

async function evaluate(cell) {
  const script = new vm.Script(cell.code, {
    filename: cell.name,
    importModuleDynamically: (specifier, _script, attributes) =>
      load(specifier, attributes && { with: attributes }),
  });
  const value = script.runInThisContext({ breakOnSigint: true });
  return cell.waits ? await value : value;
}

async function runCell(cell) {
  if (cell.tools) installTools(cell.tools);
  setStdin(cell.stdin);
  const outcome = { id: cell.id, exit: 0 };
  let interrupt;
  const stopped = new Promise((_, reject) => {
    interrupt = () =>
      reject(Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_INTERRUPTED" }));
  });
  running = { id: cell.id, interrupt };
  try {
    const value = await Promise.race([evaluate(cell), stopped]);
    if (cell.shows && value !== undefined) {
      outcome.result = util.inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: null });
      globalThis._ = value;
    }
  } catch (error) {
    if (error && error.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED")
      Object.assign(outcome, { exit: 130, error: "interrupted", trace: "interrupted\n" });
    else {
      const { trace, line } = described(error);
      Object.assign(outcome, { exit: 1, error: line, trace });
    }
  }
  stopped.catch(() => {});
  running = undefined;
  send("d", JSON.stringify(outcome));
}

// What fails between two cells, or behind the back of one, is told and not deadly.
process.on("uncaughtException", (error) => process.stderr.write(described(error).trace));

const worker = new Worker(READER, { eval: true });
worker.on("message", (message) => {
  if (message[0] === "r") takeAnswer(message);
  else if (message[0] === "c") void runCell(message[1]);
  else if (message[0] === "i" && running !== undefined && running.id === message[1]) running.interrupt();
});
send("h", "");
