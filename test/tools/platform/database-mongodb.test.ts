import { BSON } from "mongodb";
import { describe, expect, it } from "vitest";
import { startMongo } from "../../support/mongo-server.js";
import { onTestEnd, testRuntime } from "../../support/runtime.js";

const LOGIN = { user: "ada", password: "p@ss/word" };

async function open(
  flags: Readonly<Record<string, unknown>> = { "security.allowed_hosts": ["127.0.0.1"] },
  { login }: { readonly login?: typeof LOGIN } = {},
) {
  const many = Array.from({ length: 1_500 }, (_, at) => ({ _id: at, n: at }));
  const collections = {
    people: [
      {
        _id: new BSON.ObjectId("65a1b2c3d4e5f60718293a4b"),
        name: "Ada",
        born: new Date("1815-12-10T00:00:00Z"),
        big: BSON.Long.fromString("9007199254740993"),
      },
      { _id: 2, name: "Grace", tags: ["navy", "cobol"] },
    ],
    many,
  };
  const server = await startMongo(collections, { ...(login !== undefined && { login }) });
  onTestEnd(() => server.stop());
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
  const call = ({ query, ...args }: Record<string, unknown>, signal?: AbortSignal) =>
    session.call(
      {
        name: "database_query",
        arguments: {
          connection_string: `mongodb://127.0.0.1:${server.port}/test`,
          query: typeof query === "string" ? query : JSON.stringify(query),
          ...args,
        },
      },
      { signal },
    );
  return { call, asked, server, collections };
}

describe("database_query on MongoDB", () => {
  it("gives documents as rows", async () => {
    const { call } = await open();
    const found = await call({ query: { find: "people", filter: { name: "Ada" } } });
    expect(found.error).toBeUndefined();
    expect(found.structured).toMatchObject({
      rows: [
        {
          _id: "65a1b2c3d4e5f60718293a4b",
          name: "Ada",
          born: "1815-12-10T00:00:00.000Z",
          big: "9007199254740993",
        },
      ],
      columns: ["_id", "name", "born", "big"],
      dialect: "mongodb",
    });
    const all = await call({ query: { find: "many" }, max_rows: 1_200 });
    expect(all.structured).toMatchObject({ row_count: 1_200, truncated: true });
  });

  it("only commands of the list run without asking, and no stage that writes", async () => {
    const { call, asked, server, collections } = await open();
    for (const query of [
      { insert: "people", documents: [{ a: 1 }] },
      { drop: "people" },
      { aggregate: "people", pipeline: [{ $match: {} }, { $out: "copy" }], cursor: {} },
      { aggregate: "people", pipeline: [{ $merge: { into: "copy" } }], cursor: {} },
      { explain: { delete: "people", deletes: [] } },
      { eval: "db.dropDatabase()" },
    ]) {
      const { error } = await call({ query });
      expect([query, error?.hint]).toEqual([query, expect.stringContaining("readonly: false")]);
    }
    expect(server.commands).toEqual([]);
    expect(asked).toEqual([]);
    const done = await call({ query: { insert: "people", documents: [{ _id: 3 }] }, readonly: false });
    expect(done.structured).toMatchObject({ changed_rows: 1 });
    expect(asked).toHaveLength(1);
    expect(collections.people).toHaveLength(3);
  });

  it("explains, and says what is wrong", async () => {
    const { call } = await open();
    const plan = await call({ query: { find: "people" }, explain: true });
    expect(JSON.stringify(plan.structured)).toContain("COLLSCAN");
    expect((await call({ query: "db.people.find()" })).error?.message).toContain("no MongoDB command");
    expect((await call({ query: { dataSize: "people" } })).error?.message).toContain("no such command");
  });

  it("logs in with the password of the connection string, which nobody is shown", async () => {
    const { call, server } = await open(undefined, { login: LOGIN });
    const find = (login: string) =>
      call({
        connection_string: `mongodb://${login}127.0.0.1:${server.port}/test?authSource=admin`,
        query: { find: "people", filter: { name: "Grace" } },
      });
    expect((await find("ada:p%40ss%2Fword@")).structured).toMatchObject({ rows: [{ name: "Grace" }] });
    const wrong = await find("ada:wrong-secret@");
    expect(wrong.error).toMatchObject({
      message: expect.stringContaining("Authentication failed"),
      hint: expect.stringContaining("password"),
    });
    expect(JSON.stringify(wrong)).not.toMatch(/wrong-secret|p%40ss|p@ss/);
    expect((await find("")).error?.message).toContain("requires authentication");
  });

  it("options that lead to files, proxies and other servers are refused, private addresses too", async () => {
    const { call, server } = await open();
    const address = `mongodb://127.0.0.1:${server.port}/test`;
    for (const option of [
      "proxyHost=10.0.0.1",
      "tlsCAFile=/etc/passwd",
      "authMechanism=MONGODB-AWS",
      "replicaSet=rs0",
    ]) {
      const { error } = await call({ connection_string: `${address}?${option}`, query: { find: "people" } });
      expect([option, error?.message]).toEqual([option, expect.stringContaining("not supported")]);
    }
    const closed = await open({});
    expect((await closed.call({ query: { find: "people" } })).error?.code).toBe("blocked");
  });

  it("ends with its time and with the call", async () => {
    const { call } = await open();
    const late = await call({ query: { sleep: 1 }, readonly: false, timeout: 1 });
    expect(late.error?.code).toBe("timeout");
    const controller = new AbortController();
    const cancelled = call({ query: { sleep: 1 }, readonly: false }, controller.signal);
    setTimeout(() => controller.abort(), 300);
    expect((await cancelled).error?.code).toBe("cancelled");
  });
});
