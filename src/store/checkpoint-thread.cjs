// Moves the log of a database into its file, in a thread of its own: the copying and the syncs around it would hold up
// the event loop. It never waits for writers and none of them waits for it.
const { parentPort, workerData } = require("node:worker_threads");

// What was written meanwhile is left in the log, which begins anew only when nothing is; the rest of it is quickly done.
const ROUNDS = 4;
const [OUTSIDE, INSIDE] = [0, 1];

const { state } = workerData;
const leave = () => {
  Atomics.store(state, 0, OUTSIDE);
  Atomics.notify(state, 0);
};

let db;
let move;
try {
  const { DatabaseSync } = require(workerData.sqlite);
  db = new DatabaseSync(workerData.path);
  db.exec("PRAGMA synchronous = NORMAL");
  move = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
} finally {
  leave();
}

parentPort.on("message", (order) => {
  // The process ends, and does not wait for what begins now.
  if (Atomics.compareExchange(state, 0, OUTSIDE, INSIDE) !== OUTSIDE) return;
  try {
    if (order === "end") {
      db.close();
      parentPort.close();
      return;
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const { log, checkpointed } = move.get();
      if (log === checkpointed) break;
    }
    parentPort.postMessage("done");
  } finally {
    leave();
  }
});
