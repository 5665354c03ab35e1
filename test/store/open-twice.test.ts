import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/store.js";
import { tempDir } from "../support/runtime.js";

/** Without these another process takes the index for abandoned and cuts it under the one that has it mapped. */
function locksOnIndex(path: string): number {
  const { ino } = statSync(`${path}-shm`);
  const mine = readFileSync("/proc/locks", "utf8").split("\n");
  return mine.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length;
}

test.runIf(process.platform === "linux")(
  "a process that opens its database again, also several times at once, keeps its locks",
  async () => {
    const path = join(tempDir(), "state.db");
    const open = async () => {
      const store = await openStore({ path });
      onTestFinished(() => store.close());
      return store;
    };
    const first = await open();
    first.db.exec("CREATE TABLE things (name TEXT); INSERT INTO things VALUES ('one')");
    expect(locksOnIndex(path)).toBeGreaterThan(0);
    await Promise.all([open(), open()]);
    expect(locksOnIndex(path)).toBeGreaterThan(0);
  },
);
