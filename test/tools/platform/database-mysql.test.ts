// @needs mariadbd mariadb-install-db
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DatabaseServer, startMariadb } from "../../support/database-server.js";
import { testRuntime } from "../../support/runtime.js";

let server: DatabaseServer;

beforeAll(async () => {
  server = await startMariadb();
  await admin(`CREATE DATABASE shop;
    CREATE TABLE shop.fruit (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50), price DECIMAL(8,2), big BIGINT, seen DATETIME, raw VARBINARY(10));
    INSERT INTO shop.fruit (name, price, big, seen, raw) VALUES ('apple', 0.40, 7, '2026-05-01 10:00:00', x'00ff'), ('melon', 2.50, 9007199254740993, NULL, NULL);
    CREATE USER staff@'127.0.0.1' IDENTIFIED BY 'ge:heim'; GRANT ALL ON shop.* TO staff@'127.0.0.1';`);
}, 60_000);

afterAll(() => server?.stop());

async function admin(sql: string): Promise<unknown> {
  const connection = await createConnection({
    host: "127.0.0.1",
    port: server.port,
    user: "root",
    multipleStatements: true,
  });
  try {
    const [rows] = await connection.query(sql);
    return rows;
  } finally {
    await connection.end();
  }
}

async function open(flags: Readonly<Record<string, unknown>> = { "security.allowed_hosts": ["127.0.0.1"] }) {
  const asked: string[] = [];
  const { runtime } = await testRuntime([], { builtins: true, flags });
  const session = await runtime.openSession({
    approver: {
      ask: async ({ reason }) => {
        asked.push(reason);
        return "once";
      },
    },
  });
  const call = (args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call(
      {
        name: "database_query",
        arguments: { connection_string: `mysql://staff:ge%3Aheim@127.0.0.1:${server.port}/shop`, ...args },
      },
      { signal },
    );
  return { call, asked };
}

describe("database_query on MariaDB", () => {
  it("gives rows with exact values", async () => {
    const { call } = await open();
    const { structured, error } = await call({
      query: "SELECT name, price, big, seen, raw FROM fruit WHERE id > ? ORDER BY id",
      params: [0],
    });
    expect(error).toBeUndefined();
    expect(structured).toMatchObject({
      rows: [
        { name: "apple", price: "0.40", big: 7, seen: "2026-05-01 10:00:00", raw: "base64:AP8=" },
        { name: "melon", price: "2.50", big: "9007199254740993", seen: null },
      ],
      columns: ["name", "price", "big", "seen", "raw"],
      dialect: "mysql",
    });
  });

  it("writes fail with the server's refusal", async () => {
    const { call, asked } = await open();
    for (const query of [
      "DELETE FROM fruit",
      "/* SELECT */ UPDATE fruit SET name = 'x'",
      "INSERT INTO fruit (name) VALUES ('x') RETURNING id",
      "DROP TABLE fruit",
      "CREATE TABLE t (a INT)",
      "TRUNCATE fruit",
    ]) {
      const { error } = await call({ query });
      expect([query, error?.message]).toEqual([query, expect.stringContaining("READ ONLY transaction")]);
      expect(error?.hint).toContain("readonly: false");
    }
    expect((await call({ query: "COMMIT; DELETE FROM fruit" })).error?.message).toContain("SQL syntax");
    expect(await admin("SELECT count(*) AS n FROM shop.fruit")).toEqual([{ n: 2 }]);
    expect(asked).toEqual([]);
  });

  it("readonly: false asks, then writes", async () => {
    const { call, asked } = await open();
    const done = await call({
      query: "INSERT INTO fruit (name) VALUES (?), (?)",
      params: ["fig", "pear"],
      readonly: false,
    });
    expect(done.structured).toMatchObject({ changed_rows: 2 });
    expect(asked).toHaveLength(1);
    await admin("DELETE FROM shop.fruit WHERE name IN ('fig', 'pear')");
  });

  it("cuts endless results, ends slow queries, explains", { timeout: 30_000 }, async () => {
    const { call } = await open();
    const rows = await call({ query: "SELECT seq, REPEAT('x', 1000) FROM seq_1_to_100000000", max_rows: 5 });
    expect(rows.structured).toMatchObject({ row_count: 5, truncated: true });
    const late = await call({ query: "SELECT SLEEP(20)", timeout: 1 });
    expect(late.error?.code).toBe("timeout");
    const controller = new AbortController();
    const running = () =>
      admin("SELECT info FROM information_schema.processlist WHERE info LIKE 'SELECT BENCHMARK(%'");
    // It computes, and looks at its connection only when it has something to send.
    const query = "SELECT BENCHMARK(1000000000, SHA2('x', 512))";
    const cancelled = call({ query }, controller.signal);
    await expect.poll(running, { timeout: 5_000 }).toHaveLength(1);
    controller.abort();
    expect((await cancelled).error?.code).toBe("cancelled");
    await expect.poll(running, { timeout: 3_000 }).toEqual([]);
    const plan = await call({ query: "SELECT * FROM fruit WHERE id = 1", explain: true });
    expect(plan.structured).toMatchObject({ rows: [{ table: "fruit", key: "PRIMARY" }] });
  });

  it("asks for no file of this machine", async () => {
    const { call } = await open();
    const { error } = await call({
      query: "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE fruit (name)",
      readonly: false,
    });
    expect(error).toBeDefined();
    expect(await admin("SELECT count(*) AS n FROM shop.fruit")).toEqual([{ n: 2 }]);
  });

  it("an address in a private network is refused; the password is shown to nobody", async () => {
    const closed = await open({});
    const { error } = await closed.call({ query: "SELECT 1" });
    expect(error?.code).toBe("blocked");
    const { call } = await open();
    const wrong = await call({
      connection_string: `mysql://staff:wrong-secret@127.0.0.1:${server.port}/shop`,
      query: "SELECT 1",
    });
    expect(wrong.error?.message).toContain("Access denied");
    expect(JSON.stringify([error, wrong])).not.toMatch(/wrong-secret|ge%3Aheim|ge:heim/);
  });
});
