// @needs /usr/lib/postgresql/15/bin/postgres
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DatabaseServer, startPostgres } from "../support/database-server.js";
import { memoryOf } from "../support/peak-memory.js";
import { testRuntime } from "../support/runtime.js";

const MEGABYTE = 1024 * 1024;

/** Sends a gigabyte as fast as it is read, and tells how much went out. In a process of its own, whose memory is not ours. */
const SENDER = `
const { createServer } = require("node:http");
const piece = Buffer.alloc(1024 * 1024, "a");
const server = createServer((request, response) => {
  if (request.method === "HEAD") return void response.end();
  const counted = request.url.includes("chunked") ? {} : { "content-length": 1024 * piece.length };
  response.writeHead(200, { "content-type": request.url.includes("page") ? "text/html" : "text/plain", ...counted });
  let sent = 0;
  const send = () => {
    while (sent < 1024) {
      sent += 1;
      if (!response.write(piece)) return void response.once("drain", send);
    }
    response.end();
  };
  response.once("close", () => process.connected && process.send({ sent }));
  response.on("error", () => undefined);
  send();
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("disconnect", () => process.exit());
`;

const folder = mkdtempSync(join(tmpdir(), "hermes-memory-"));
let sender: ChildProcess;
let port = 0;
let database: DatabaseServer;

beforeAll(async () => {
  const program = join(folder, "sender.cjs");
  writeFileSync(program, SENDER);
  sender = fork(program, { execArgv: [] });
  [{ port }] = (await once(sender, "message")) as [{ port: number }];
  database = await startPostgres();
}, 60_000);

afterAll(async () => {
  sender?.disconnect();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function open() {
  const { runtime } = await testRuntime([], {
    builtins: true,
    flags: { "security.allowed_hosts": ["127.0.0.1"] },
  });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  return (name: string, args: Record<string, unknown>) => session.call({ name, arguments: args });
}

const postgres = () => `postgres://postgres:geheim@127.0.0.1:${database.port}/postgres`;

describe("memory stays bounded, and what is cut is told", () => {
  it.each(["/text", "/text-chunked"])("a download of 1 GB with http_request: %s", async (path) => {
    const call = await open();
    await call("http_request", { url: `http://127.0.0.1:${port}/nothing`, method: "HEAD" });
    const ended = once(sender, "message") as Promise<[{ sent: number }]>;
    const { result, grown } = await memoryOf(() =>
      call("http_request", { url: `http://127.0.0.1:${port}${path}` }),
    );
    const out = result.structured as { truncated: boolean; body_bytes: number; body_path: string };
    console.log(`http_request${path}: ${grown} MB more`);
    expect(out).toMatchObject({ truncated: true, body_bytes: 50 * MEGABYTE });
    expect(statSync(out.body_path).size).toBe(50 * MEGABYTE);
    expect(JSON.stringify(result.content)).toContain("truncated");
    expect(grown).toBeLessThan(100);
    // The rest was never sent.
    expect((await ended)[0].sent).toBeLessThan(100);
  });

  it("a page of 1 GB with web_extract", async () => {
    const call = await open();
    const ended = once(sender, "message");
    const { result, grown } = await memoryOf(() =>
      call("web_extract", { urls: [`http://127.0.0.1:${port}/page`] }),
    );
    await ended;
    console.log(`web_extract: ${grown} MB more`);
    expect(JSON.stringify(result.structured)).toContain("The answer is larger than 20971520 bytes");
    expect(grown).toBeLessThan(100);
  });

  it.each([
    ["many rows", "SELECT i, repeat('x', 100000) AS wide FROM generate_series(1, 10000) i"],
    ["rows of a megabyte", "SELECT i, repeat('x', 1000000) AS wide FROM generate_series(1, 1000) i"],
  ])(
    "a result of 1 GB from PostgreSQL: %s",
    async (name, query) => {
      const call = await open();
      await call("database_query", { connection_string: postgres(), query: "SELECT 1" });
      const { result, grown } = await memoryOf(() =>
        call("database_query", { connection_string: postgres(), query, max_rows: 10_000, timeout: 120 }),
      );
      console.log(`PostgreSQL, ${name}: ${grown} MB more`);
      expect(result.structured).toMatchObject({
        truncated: true,
        truncated_by: expect.stringContaining("size"),
      });
      expect(JSON.stringify(result.content)).toMatch(/truncated_by.*left_out/);
      expect(grown).toBeLessThan(100);
    },
    120_000,
  );

  it("a single value of 1 GB is refused before it is here", async () => {
    const call = await open();
    const query = "SELECT repeat('x', 1000000000) AS wide";
    const { result, grown } = await memoryOf(() =>
      call("database_query", { connection_string: postgres(), query, timeout: 120 }),
    );
    console.log(`PostgreSQL, one value: ${grown} MB more`);
    expect(result.error?.message).toBe("The server sent more than 128 MB for this query.");
    expect(grown).toBeLessThan(350);
  }, 120_000);

  it("a result of 1 GB from SQLite", async () => {
    const call = await open();
    const query =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i, hex(zeroblob(50000)) AS wide FROM n";
    await call("database_query", {
      connection_string: "sqlite:a.db",
      query: "CREATE TABLE a (b)",
      readonly: false,
    });
    const { result, grown, child } = await memoryOf(() =>
      call("database_query", { connection_string: "sqlite:a.db", query, max_rows: 10_000 }),
    );
    console.log(`SQLite: ${grown} MB more, its process ${child} MB`);
    expect(result.structured).toMatchObject({
      truncated: true,
      truncated_by: expect.stringContaining("size"),
    });
    expect(grown).toBeLessThan(100);
    expect(child).toBeLessThan(150);
  }, 60_000);
});
