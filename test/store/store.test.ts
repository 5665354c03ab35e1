import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MIGRATIONS, migrate } from "../../src/store/migrations.js";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { openStore, type Store, type StoreOptions } from "../../src/store/store.js";

let folder: string;
let path: string;
let opened: Store[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-store-"));
  path = join(folder, "home", "state.db");
  opened = [];
});

afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ path, ...options });
  opened.push(store);
  return store;
}

/** A sound database with its content in the main file, as it lies on disk after a clean end. */
async function makeDatabase(rows = 50): Promise<void> {
  const store = await open();
  addRows(store, rows);
  store.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  // A copy, because the drivers may keep the original open after close.
  await copyFile(path, join(folder, "copy.db"));
  path = join(folder, "copy.db");
}

function addRows(store: Store, count: number): void {
  const insert = store.db.prepare(
    "INSERT INTO calls (owner, written_at, running, detail) VALUES (?, ?, 0, ?)",
  );
  for (let row = 0; row < count; row++) insert.run("nobody", row, JSON.stringify({ text: "x".repeat(200) }));
}

const countRows = (store: Store) => store.db.prepare("SELECT count(*) AS n FROM calls").get()?.n;
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
const pragma = (store: Store, name: string) =>
  Object.values(store.db.prepare(`PRAGMA ${name}`).get() ?? {})[0];

describe("opening", () => {
  test("a fresh database is private, in WAL mode and fully migrated", async () => {
    const store = await open();
    expect(store.notices).toEqual([]);
    expect(pragma(store, "user_version")).toBe(MIGRATIONS.length);
    expect(pragma(store, "journal_mode")).toBe("wal");
    expect(pragma(store, "synchronous")).toBe(1);
    expect(pragma(store, "busy_timeout")).toBe(5000);
    expect(pragma(store, "foreign_keys")).toBe(1);
    expect(await modeOf(join(folder, "home"))).toBe("700");
    for (const file of await readdir(join(folder, "home"))) {
      expect(await modeOf(join(folder, "home", file))).toBe("600");
    }
    expect(store.check()).toEqual([]);
  });

  test("what was stored is there again after a restart, without any notice", async () => {
    const first = await open();
    addRows(first, 3);
    await first.close();
    const second = await open();
    expect(second.notices).toEqual([]);
    expect(countRows(second)).toBe(3);
  });

  test("a database that others may read is made private", async () => {
    await makeDatabase();
    await chmod(path, 0o644);
    await open();
    expect(await modeOf(path)).toBe("600");
  });

  test("a database behind a symbolic link is synced where it really lies", async () => {
    await makeDatabase();
    const link = join(folder, "link.db");
    await symlink(path, link);
    const store = await open({ path: link });
    addRows(store, 1);
    await store.syncWal();
    expect(store.path).toBe(path);
  });

  test("a path that cannot be opened is refused with what to do", async () => {
    await expect(open({ path: folder })).rejects.toThrow(`The database ${folder} cannot be used`);
  });

  test("values survive a round trip through the driver, a lone blob or null included", async () => {
    const { db } = await open();
    for (const value of [null, "text", 1, 1.5, new Uint8Array([0, 255])]) {
      const statement = db.prepare("SELECT ? AS value");
      expect({ ...statement.get(value) }).toEqual({ value });
      expect(statement.all(value).map((row) => ({ ...row }))).toEqual([{ value }]);
    }
  });
});

describe("migrations", () => {
  const steps = ["CREATE TABLE one (a)", "CREATE TABLE two (b); INSERT INTO two VALUES (7)"];
  const openPlain = () => openDatabase(join(folder, "plain.db"));

  test("bring any earlier version to the newest, each step once", async () => {
    const db = await openPlain();
    migrate(db, { path, migrations: steps.slice(0, 1) });
    db.exec("INSERT INTO one VALUES (1)");
    migrate(db, { path, migrations: steps });
    migrate(db, { path, migrations: steps });
    expect(db.prepare("SELECT count(*) AS n FROM one").get()?.n).toBe(1);
    expect(db.prepare("SELECT count(*) AS n FROM two").get()?.n).toBe(1);
    db.close();
  });

  test("a step that fails leaves the database as the step before left it", async () => {
    const db = await openPlain();
    const broken = [...steps, "CREATE TABLE three (c); SELECT * FROM missing"];
    expect(() => migrate(db, { path, migrations: broken })).toThrow("missing");
    expect(db.prepare("PRAGMA user_version").get()?.user_version).toBe(2);
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'three'").all()).toEqual([]);
    db.close();
  });

  test("before tables change the database is kept as it was, and an older version names that copy", async () => {
    const older = ["CREATE TABLE notes (text)"];
    const newer = [...older, "DROP TABLE notes"];
    const first = await openStore({ path, migrations: older });
    first.db.exec("INSERT INTO notes VALUES ('kept')");
    await first.close();
    expect(await readdir(folder)).not.toContain("state.db.format-1");

    await (await openStore({ path, migrations: newer })).close();
    const copy = `${path}.format-1`;
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    await expect(openStore({ path, migrations: older })).rejects.toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining(copy),
    });
    const back = await openStore({ path: copy, migrations: older });
    expect(back.db.prepare("SELECT text FROM notes").all()).toEqual([{ text: "kept" }]);
    await back.close();
  });

  test("a database that cannot be kept is not changed", async () => {
    const older = ["CREATE TABLE notes (text)"];
    await (await openStore({ path, migrations: older })).close();
    await mkdir(`${path}.format-1`);
    await expect(openStore({ path, migrations: [...older, "DROP TABLE notes"] })).rejects.toThrow(/format-1/);
    await (await openStore({ path, migrations: older })).close();
  });

  test("a database of a newer version is refused and left alone", async () => {
    await makeDatabase();
    const db = openDatabase(path);
    db.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
    db.close();
    const before = await readFile(path);
    await expect(open()).rejects.toThrow(/format 99.*newer version.*Update hermes-tools/);
    expect(before.equals(await readFile(path))).toBe(true);
    expect((await readdir(folder)).filter((name) => name.includes("corrupt"))).toEqual([]);
  });
});

describe("damage", () => {
  const asideIn = async (place: string) =>
    (await readdir(place)).filter((name) => name.includes(".corrupt-"));

  async function expectReplaced(recovered: "all" | "some" | "none"): Promise<void> {
    const damaged = await readFile(path);
    const store = await open();
    expect(store.notices).toHaveLength(1);
    expect(store.notices[0]).toMatch(/was damaged .* is kept as .*\.corrupt-.*; a new one was made/);
    const rows = countRows(store);
    if (recovered === "none") expect(rows).toBe(0);
    else expect(rows).toBeGreaterThan(0);
    expect(store.notices[0]).toMatch(
      recovered === "none"
        ? /Nothing could be read|Nothing was in it/
        : /Recovered: \d+ calls of the journal/,
    );
    if (recovered === "some") expect(store.notices[0]).toContain("Lost: some calls of the journal");
    addRows(store, 1);
    await store.syncWal();
    expect(store.check()).toEqual([]);
    const kept = await asideIn(folder);
    expect(await readFile(join(folder, kept[0] ?? ""))).toEqual(damaged);
  }

  test("a file that is no database is kept aside, told, and replaced", async () => {
    await makeDatabase();
    await writeFile(path, "this is not a database ".repeat(1000));
    await expectReplaced("none");
  });

  test("a cut tail is found", async () => {
    await makeDatabase();
    await truncate(path, (await stat(path)).size - 5000);
    await expectReplaced("some");
  });

  test("an overwritten page is found", async () => {
    await makeDatabase();
    const bytes = await readFile(path);
    bytes.fill(0xff, 4096 * 3, 4096 * 3 + 100);
    await writeFile(path, bytes);
    await expectReplaced("all");
  });

  test("a database cut to nothing beside a full log is not taken for a new one", async () => {
    const store = await open();
    addRows(store, 50);
    const copy = join(folder, "copy.db");
    await writeFile(copy, "");
    await copyFile(`${path}-wal`, `${copy}-wal`);
    path = copy;
    await expectReplaced("none");
  });

  test("an empty file is used, and said to have been empty", async () => {
    path = join(folder, "empty.db");
    await writeFile(path, "");
    await utimes(path, 1, 1);
    expect((await open()).notices).toEqual([`${path} was empty; it starts anew.`]);
  });

  test("a flipped bit in the log is told, the rows before it remain, and the next start is quiet", async () => {
    await makeDatabase(50);
    const source = await open();
    for (let commit = 0; commit < 5; commit++) addRows(source, 1);
    const copy = join(folder, "flipped.db");
    await copyFile(path, copy);
    const log = await readFile(`${path}-wal`);
    // The second frame: 32 bytes of header, then 24 + 4096 bytes for each.
    log[32 + 4120 + 500] = (log[32 + 4120 + 500] ?? 0) ^ 4;
    await writeFile(`${copy}-wal`, log);

    path = copy;
    const store = await open();
    expect(store.notices).toHaveLength(1);
    expect(store.notices[0]).toMatch(/log of .* is damaged and is kept as .*; the \d+ last commits/);
    expect(countRows(store)).toBeGreaterThanOrEqual(50);
    expect(countRows(store)).toBeLessThan(55);
    await store.close();
    expect((await open()).notices).toEqual([]);
  });

  test("an intact log is no reason for a notice", async () => {
    await makeDatabase();
    const source = await open();
    addRows(source, 20);
    await copyFile(path, join(folder, "busy.db"));
    await copyFile(`${path}-wal`, join(folder, "busy.db-wal"));
    path = join(folder, "busy.db");
    const store = await open();
    expect(store.notices).toEqual([]);
    expect(countRows(store)).toBe(70);
  });
});

describe("syncing the log", () => {
  test("callers that arrive while a sync runs share the next one", async () => {
    const finish: (() => void)[] = [];
    const store = await open({ syncFile: () => new Promise((resolve) => finish.push(resolve)) });
    addRows(store, 1);
    const first = store.syncWal();
    const others = [store.syncWal(), store.syncWal(), store.syncWal()];
    expect(finish).toHaveLength(1);
    finish[0]?.();
    await first;
    await expect.poll(() => finish.length).toBe(2);
    finish[1]?.();
    await Promise.all(others);
    expect(finish).toHaveLength(2);
  });

  test("after a failed sync nothing is acknowledged until everything was written anew", async () => {
    let syncs = 0;
    const store = await open({
      syncFile: async () => {
        if (++syncs === 1) throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
      },
    });
    addRows(store, 5);
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
    await expect(store.syncWal()).rejects.toThrow("EIO");
    await store.syncWal();
    expect((await stat(`${path}-wal`)).size, "the log was moved into the database").toBe(0);
    addRows(store, 5);
    await store.syncWal();
    expect(syncs).toBe(2);
  });

  test("a database deleted while it is in use is reported, not written to in vain", async () => {
    const store = await open();
    addRows(store, 1);
    await store.syncWal();
    await rm(path);
    addRows(store, 1);
    await expect(store.syncWal()).rejects.toThrow(/state\.db was deleted or replaced.*Restart/);
  });
});
