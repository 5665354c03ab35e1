import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { usableHome } from "../../src/config/paths.js";
import { openStore } from "../../src/store/store.js";
import { tempDir } from "../support/runtime.js";

/** Without these another process takes the index for abandoned and cuts it under the one that has it mapped. */
const locksOnIndex = (path: string) => locksOn(`${path}-shm`);

function locksOn(path: string): number {
  const { ino } = statSync(path);
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

test.runIf(process.platform === "linux")(
  "and keeps them when it opens one that was told to close, whose statements are still there",
  async () => {
    const path = join(tempDir(), "state.db");
    const first = await openStore({ path });
    first.db.exec("CREATE TABLE things (name TEXT); INSERT INTO things VALUES ('one')");
    const statement = first.db.prepare("SELECT name FROM things");
    expect(statement.all()).toEqual([{ name: "one" }]);
    await first.close();
    const second = await openStore({ path });
    onTestFinished(() => second.close());
    expect(second.db.prepare("SELECT name FROM things").all()).toEqual([{ name: "one" }]);
    expect(locksOnIndex(path)).toBeGreaterThan(0);
    expect(() => statement.all()).toThrow();
  },
);

test.runIf(process.platform === "linux")(
  "and keeps them when another runtime looks whose home it is",
  async () => {
    const home = tempDir();
    const store = await openStore({ path: join(home, "state.db") });
    onTestFinished(() => store.close());
    const lockedHere = () => locksOn(join(home, "state.db"));
    store.db.exec("CREATE TABLE things (name TEXT)");
    const before = lockedHere();
    expect(before).toBeGreaterThan(0);
    expect(usableHome(home)).toBe(home);
    expect(lockedHere()).toBe(before);
  },
);
