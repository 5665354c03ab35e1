/** One module, which then ends as any Node program does. */
export const NODE_SCRIPT = `
const socket = new net.Socket({ fd: IN, readable: true, writable: false });
readMessages(socket, takeAnswer);
holdOpen = (needed) => (needed ? socket.ref() : socket.unref());
socket.unref();
setStdin(config.stdin);
installTools(config.tools);

function fail(error) {
  const { trace, line } = described(error);
  process.stderr.write(trace);
  send("x", JSON.stringify({ error: line }));
  process.exitCode = 1;
}
process.on("uncaughtException", (error) => {
  if (process.listenerCount("uncaughtException") > 1) return;
  fail(error);
  process.exit(1);
});

const linked = new Map();
function synthetic(specifier, namespace) {
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(
    names,
    function () {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { identifier: specifier },
  );
}
async function moduleOf(specifier, _referencing, extra = {}) {
  const attributes = extra.attributes ?? extra.assert ?? {};
  const key = specifier + JSON.stringify(attributes);
  if (!linked.has(key)) {
    const namespace =
      specifier === "hermes_tools"
        ? { ...hermes, default: hermes }
        : await load(specifier, Object.keys(attributes).length > 0 ? { with: attributes } : undefined);
    linked.set(key, synthetic(specifier, namespace));
  }
  return linked.get(key);
}

async function runScript() {
  const name = path.join(process.cwd(), "script.mjs");
  const emitWarning = process.emitWarning;
  // The module interface of vm is marked as experimental, which the script's author need not know.
  process.emitWarning = () => {};
  const script = new vm.SourceTextModule(config.code, {
    identifier: "script.mjs",
    initializeImportMeta(meta) {
      meta.url = pathToFileURL(name).href;
      meta.filename = name;
      meta.dirname = process.cwd();
    },
    async importModuleDynamically(specifier, referencing, attributes) {
      if (specifier !== "hermes_tools") return load(specifier, attributes && { with: attributes });
      const made = await moduleOf(specifier);
      if (made.status === "unlinked") await made.link(() => {});
      await made.evaluate();
      return made;
    },
  });
  await script.link(moduleOf);
  process.emitWarning = emitWarning;
  send("h", "");
  await script.evaluate();
}

let over = false;
process.on("exit", (code) => {
  if (over || code !== 0) return;
  fail(new Error("the script waits for something that will never come"));
  process.exitCode = 13;
});
runScript().then(
  () => (over = true),
  (error) => {
    over = true;
    send("h", "");
    fail(error);
    process.exit(1);
  },
);
`;

/**
 * Cells, one after the other, in the global scope. A thread reads the channel, so that a cell that computes can
 * be told to stop.
 */
export const NODE_CELLS = String.raw`
const { Worker } = require("node:worker_threads");
const READER = "(" + function (readMessages) {
  const net = require("node:net");
  const { parentPort } = require("node:worker_threads");
  readMessages(new net.Socket({ fd: 3, readable: true, writable: false }), (message) => {
    if (message[0] === "i") process.kill(process.pid, "SIGINT");
    parentPort.postMessage(message);
  });
} + ")(" + readMessages + ")";

const loadHere = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
let running;
process.on("SIGINT", () => {});

async function evaluate(cell) {
  const script = new vm.Script(cell.code, {
    filename: cell.name,
    importModuleDynamically: (specifier, _script, attributes) => load(specifier, attributes && { with: attributes }),
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
    interrupt = () => reject(Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_INTERRUPTED" }));
  });
  running = { id: cell.id, interrupt };
  try {
    const value = await Promise.race([evaluate(cell), stopped]);
    if (cell.shows && value !== undefined) {
      outcome.result = util.inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: null });
      globalThis._ = value;
    }
  } catch (error) {
    if (error && error.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") Object.assign(outcome, { exit: 130, error: "interrupted", trace: "interrupted\n" });
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
`;
