// @needs redis-server
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DatabaseServer, startRedis } from "../../support/database-server.js";
import { testRuntime } from "../../support/runtime.js";

let server: DatabaseServer;

beforeAll(async () => {
  server = await startRedis("geheim-redis");
  await admin((client) =>
    Promise.all([
      client.set("greeting", "hello world"),
      client.hSet("user:1", { name: "Ada", born: "1815" }),
      client.rPush("list", ["a", "b", "c"]),
      client.set("my key", "spaced"),
    ]),
  );
}, 30_000);

afterAll(() => server?.stop());

async function admin<Value>(
  work: (client: ReturnType<typeof createClient>) => Promise<Value>,
): Promise<Value> {
  const client = createClient({ url: `redis://:geheim-redis@127.0.0.1:${server.port}` });
  await client.connect();
  try {
    return await work(client as never);
  } finally {
    client.destroy();
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
  const call = (args: Record<string, unknown>) =>
    session.call({
      name: "database_query",
      arguments: { connection_string: `redis://:geheim-redis@127.0.0.1:${server.port}/0`, ...args },
    });
  return { call, asked };
}

describe("database_query on Redis", () => {
  it("gives values, fields and lists as rows", async () => {
    const { call } = await open();
    const get = await call({ query: "GET greeting" });
    expect(get.error).toBeUndefined();
    expect(get.structured).toMatchObject({ rows: [{ value: "hello world" }], dialect: "redis" });
    expect((await call({ query: 'get "my key"' })).structured).toMatchObject({ rows: [{ value: "spaced" }] });
    expect((await call({ query: "GET", params: ["my key"] })).structured).toMatchObject({
      rows: [{ value: "spaced" }],
    });
    expect((await call({ query: "HGETALL user:1" })).structured).toMatchObject({
      rows: [
        { field: "name", value: "Ada" },
        { field: "born", value: "1815" },
      ],
    });
    expect((await call({ query: "LRANGE list 0 -1", max_rows: 2 })).structured).toMatchObject({
      rows: [{ value: "a" }, { value: "b" }],
      truncated: true,
    });
    expect((await call({ query: "GET nothing" })).structured).toMatchObject({ rows: [{ value: null }] });
  });

  it("only commands of the list run without asking", async () => {
    const { call, asked } = await open();
    for (const query of [
      "SET greeting x",
      "del greeting",
      "FLUSHALL",
      "EVAL \"return redis.call('DEL','greeting')\" 0",
      "SORT list STORE out",
      "CONFIG GET requirepass",
      "MEMORY PURGE",
    ]) {
      const { error } = await call({ query });
      expect([query, error?.message]).toEqual([
        query,
        expect.stringContaining("not among the commands that only read"),
      ]);
    }
    expect(
      (await call({ query: "EVAL_RO \"return redis.call('DEL','greeting')\" 0" })).error?.message,
    ).toMatch(/[Ww]rite commands are not allowed/);
    expect(await admin((client) => client.get("greeting"))).toBe("hello world");
    expect(asked).toEqual([]);
    const done = await call({ query: "SET other 1", readonly: false });
    expect(done.structured).toMatchObject({ rows: [{ value: "OK" }] });
    expect(asked).toHaveLength(1);
    expect((await call({ query: "MONITOR", readonly: false })).error?.message).toContain("cannot be used");
  });

  it("what would not fit is refused before it is read", { timeout: 20_000 }, async () => {
    await admin((client) => client.setRange("huge", 70 * 1024 * 1024, "x"));
    const { call } = await open();
    expect((await call({ query: "GET huge" })).error?.message).toContain("more than is read at once");
    expect((await call({ query: "GETRANGE huge 0 3" })).error).toBeUndefined();
    await admin((client) => client.del("huge"));
  });

  it("ends with its time; wrong passwords and private addresses are told without the secret", async () => {
    const { call } = await open();
    const late = await call({ query: "BLPOP nobody 30", readonly: false, timeout: 1 });
    expect(late.error?.code).toBe("timeout");
    const wrong = await call({
      connection_string: `redis://:wrong-secret@127.0.0.1:${server.port}`,
      query: "PING",
    });
    expect(wrong.error?.hint).toContain("password");
    const closed = await open({});
    const blocked = await closed.call({ query: "PING" });
    expect(blocked.error?.code).toBe("blocked");
    expect(JSON.stringify([late, wrong, blocked])).not.toMatch(/wrong-secret|geheim-redis/);
  });
});
