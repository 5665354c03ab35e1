import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testRuntime } from "../../support/runtime.js";

interface Sqlite {
  readonly DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void };
}

const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Sqlite;

function make(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const PEOPLE = `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, born TEXT, photo BLOB);
  INSERT INTO people VALUES (1, 'Ada', '1815-12-10', x'00ff'), (2, 'Grace', '1906-12-09', NULL);`;

async function open(options: { answer?: "once" | "deny"; flags?: Readonly<Record<string, unknown>> } = {}) {
  const asked: string[] = [];
  const { runtime, cwd, home } = await testRuntime([], { builtins: true, flags: options.flags ?? {} });
  const session = await runtime.openSession({
    approver: {
      ask: async (request) => {
        asked.push(request.reason);
        return options.answer ?? "once";
      },
    },
  });
  const call = (args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call(
      { name: "database_query", arguments: { connection_string: "sqlite:people.db", ...args } },
      { signal },
    );
  return { call, cwd, home, asked };
}

describe("database_query on SQLite", () => {
  it("gives rows as objects, with bound values", async () => {
    const { call, cwd, asked } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    const list = await call({ query: "SELECT name, born FROM people WHERE id = ?", params: [2] });
    expect(list.structured).toMatchObject({
      rows: [{ name: "Grace", born: "1906-12-09" }],
      row_count: 1,
      columns: ["name", "born"],
      truncated: false,
      dialect: "sqlite",
    });
    const named = await call({ query: "SELECT name FROM people WHERE name = $who", params: { who: "Ada" } });
    expect(named.structured).toMatchObject({ rows: [{ name: "Ada" }] });
    const hostile = await call({
      query: "SELECT name FROM people WHERE name = ?",
      params: ["x' OR 1=1 --"],
    });
    expect(hostile.structured).toMatchObject({ rows: [] });
    const values = await call({
      query: "SELECT photo, 9007199254740993 AS big, 1 AS a, 2 AS a FROM people LIMIT 1",
    });
    expect(values.structured).toMatchObject({
      rows: [{ photo: "base64:AP8=", big: "9007199254740993", a: 1, a_2: 2 }],
    });
    expect(asked).toEqual([]);
  });

  it("a write fails with SQLite's refusal, whatever the text looks like, and leaves everything as it was", async () => {
    const { call, cwd, asked } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    for (const query of [
      "DELETE FROM people",
      "/* SELECT */ UPDATE people SET name = 'x'",
      "WITH gone AS (SELECT 1) INSERT INTO people (name) SELECT 'y' FROM gone",
      "SELECT 1; DROP TABLE people",
      "PRAGMA user_version = 7",
      "CREATE TABLE more (a)",
    ]) {
      const { error } = await call({ query });
      expect([query, error?.message]).toEqual([
        query,
        expect.stringMatching(/SQLite refused: .*(?:read-?only)/),
      ]);
      expect(error?.hint).toContain("readonly: false");
    }
    await call({ query: "PRAGMA query_only = OFF; DELETE FROM people" });
    const { structured } = await call({ query: "SELECT count(*) AS n FROM people" });
    expect(structured).toMatchObject({ rows: [{ n: 2 }] });
    expect(asked).toEqual([]);
  });

  it("readonly: false asks a person, who may say no", async () => {
    const no = await open({ answer: "deny" });
    make(join(no.cwd, "people.db"), PEOPLE);
    const denied = await no.call({ query: "DELETE FROM people", readonly: false });
    expect(denied.error?.code).toBe("denied");
    expect(no.asked[0]).toMatch(/may change the database/);

    const yes = await open();
    make(join(yes.cwd, "people.db"), PEOPLE);
    const done = await yes.call({ query: "DELETE FROM people WHERE id = 1", readonly: false });
    expect(done.structured).toMatchObject({ changed_rows: 1, row_count: 0 });
    const several = await yes.call({
      query: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); SELECT sum(a) AS s FROM t",
      readonly: false,
    });
    expect(several.structured).toMatchObject({ rows: [{ s: 3 }] });
  });

  it("reaches no other file: neither ATTACH nor VACUUM INTO", async () => {
    const { call, cwd } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    make(join(cwd, "other.db"), "CREATE TABLE secret (a); INSERT INTO secret VALUES ('hidden')");
    for (const readonly of [true, false]) {
      for (const query of [
        `ATTACH '${join(cwd, "other.db")}' AS o; SELECT * FROM o.secret`,
        `ATTACH '${cwd}' || '/other.db' AS o; SELECT * FROM o.secret`,
        `VACUUM INTO '${join(cwd, "copy.db")}'`,
      ]) {
        const { error } = await call({ query, readonly });
        expect([query, error?.message]).toEqual([query, expect.stringContaining("refused")]);
      }
    }
    expect(existsSync(join(cwd, "copy.db"))).toBe(false);
    expect((await call({ query: "VACUUM", readonly: false })).error).toBeUndefined();
  });

  it("cuts what is too much and says so, without computing the rest", async () => {
    const { call, cwd } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT";
    const rows = await call({ query: `${endless} i FROM n`, max_rows: 3 });
    expect(rows.structured).toMatchObject({
      row_count: 3,
      truncated: true,
      truncated_by: expect.stringContaining("max_rows"),
    });
    const exact = await call({ query: `${endless} i FROM n LIMIT 3`, max_rows: 3 });
    expect(exact.structured).toMatchObject({ row_count: 3, truncated: false });
    const bytes = await call({ query: `${endless} hex(zeroblob(40000)) AS h FROM n`, max_rows: 10_000 });
    expect(bytes.structured).toMatchObject({
      truncated: true,
      truncated_by: expect.stringContaining("size"),
    });
    const long = await call({ query: "SELECT hex(zeroblob(200000)) AS h" });
    expect(long.structured).toMatchObject({ cut_values: 1 });
  });

  it("a query that computes for ever ends with its time, and with the call", async () => {
    const { call, cwd } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    const late = await call({ query: endless, timeout: 1 });
    expect(late.error).toMatchObject({ code: "timeout", message: expect.stringContaining("after 1 s") });
    const controller = new AbortController();
    const cancelled = call({ query: endless }, controller.signal);
    setTimeout(() => controller.abort(), 300);
    expect((await cancelled).error?.code).toBe("cancelled");
  });

  it("explains", async () => {
    const { call, cwd } = await open();
    make(join(cwd, "people.db"), PEOPLE);
    const { structured } = await call({ query: "SELECT * FROM people WHERE id = 1", explain: true });
    expect(JSON.stringify(structured)).toContain("SEARCH people USING INTEGER PRIMARY KEY");
  });

  it("says what is wrong: no file, no database, no table, no kind", async () => {
    const { call, cwd } = await open();
    expect((await call({ query: "SELECT 1" })).error?.message).toContain("There is no database");
    expect(existsSync(join(cwd, "people.db"))).toBe(false);
    writeFileSync(
      join(cwd, "people.db"),
      "just some text that is long enough to be looked at as a database file".repeat(20),
    );
    expect((await call({ query: "SELECT * FROM a" })).error?.message).toContain("no SQLite database");
    expect((await call({ connection_string: "oracle://x/y", query: "SELECT 1" })).error).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("oracle"),
    });
    expect((await call({ connection_string: "shop", query: "SELECT 1" })).error?.message).toContain(
      "no configured database",
    );
  });

  it("a configured database is called by its name", async () => {
    const first = await open();
    make(join(first.cwd, "people.db"), PEOPLE);
    const { call } = await open({
      flags: { databases: { staff: { url: `sqlite:${join(first.cwd, "people.db")}` } } },
    });
    const { structured } = await call({
      connection_string: "staff",
      query: "SELECT count(*) AS n FROM people",
    });
    expect(structured).toMatchObject({ rows: [{ n: 2 }] });
  });

  it("a file of secrets stays closed when a person says no, also behind a link; others are open unasked", async () => {
    const { call, cwd, home, asked } = await open({ answer: "deny" });
    mkdirSync(join(home, ".ssh"));
    make(join(home, ".ssh", "id_rsa"), PEOPLE);
    make(join(home, "notes.db"), PEOPLE);
    symlinkSync(join(home, ".ssh", "id_rsa"), join(cwd, "linked.db"));
    const ask = (file: string) =>
      call({ connection_string: `sqlite:${file}`, query: "SELECT name FROM people" });
    for (const file of ["~/.ssh/id_rsa", join(home, ".ssh/id_rsa"), "linked.db"]) {
      const { error, content } = await ask(file);
      expect([file, error?.code, asked.pop()]).toEqual([
        file,
        "denied",
        expect.stringContaining("/.ssh/id_rsa"),
      ]);
      expect(JSON.stringify(content)).not.toContain("Ada");
    }
    expect((await ask("~/notes.db")).structured).toMatchObject({
      rows: [{ name: "Ada" }, { name: "Grace" }],
    });
  });
});
