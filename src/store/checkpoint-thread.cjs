// Moves the log of a database into its file, in a thread of its own: the copying and the syncs around it would hold up
// the event loop. It never waits for writers and none of them waits for it.
const { parentPort, workerData } = require("node:worker_threads");

// What was written meanwhile is left in the log, which begins anew only when nothing is; the rest of it is quickly done.
const ROUNDS = 4;

const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(workerData.path);
db.exec("PRAGMA synchronous = NORMAL");
const move = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort.on("message", () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { log, checkpointed } = move.get();
    if (log === checkpointed) break;
  }
  parentPort.postMessage("done");
});
