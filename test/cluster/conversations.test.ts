// @needs nats-server
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { Bus } from "../../src/cluster/bus.js";
import { SharedLogs } from "../../src/cluster/shared-logs.js";
import { silentLogger } from "../../src/observe/log.js";
import { onTestEnd } from "../support/runtime.js";
import { KEY, natsUrl, useNats } from "./support.js";

useNats();

let clusters = 0;
const cluster = () => `c${process.pid}_${++clusters}`;

/** A machine: a home with conversations and a connection of its own. */
async function machine(name: string, options: { readonly home?: string; readonly key?: string } = {}) {
  const home = options.home ?? mkdtempSync(join(tmpdir(), "hermes-shared-"));
  const bus = await Bus.open(
    {
      url: natsUrl(),
      key: options.key ?? KEY,
      name,
      replicas: 1,
      creds_file: "",
      nkey_file: "",
      tls_ca: "",
      tls_cert: "",
      tls_key: "",
      labels: [],
      toolsets: [],
      slots: 1,
      wait_seconds: 1,
      drain_seconds: 0,
    } as never,
    silentLogger,
  );
  const node = `n${Math.random().toString(16).slice(2, 8)}`;
  const log = await SharedLogs.open(bus, { node, days: 30 });
  const files = { sessionsDb: join(home, "sessions.db"), sessionsIndex: join(home, "sessions-index.db") };
  const store = await openConversations(files, { log });
  let isOver = false;
  /** As if the machine had lost its power: nothing is said to anybody. */
  const die = async () => {
    if (isOver) return;
    isOver = true;
    log.close();
    await bus.close();
    await store.close();
    if (options.home === undefined) rmSync(home, { recursive: true, force: true });
  };
  onTestEnd(die);
  return { store, node, home, files, log, bus, die };
}

type Machine = Awaited<ReturnType<typeof machine>>;

async function begun({ store }: Machine) {
  const { id } = await store.create({ source: "cli", model: "m", cwd: "/tmp" });
  await store.append(id, [{ role: "system", content: "be kind" }]);
  return id;
}

const texts = async ({ store }: Machine, id: string) =>
  (await store.messages(id)).map(({ content }) => content);

describe("a conversation in a cluster", () => {
  it("is whole on another machine, with its title, its costs and what a summary covers", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    // Numbers of messages differ from home to home.
    await begun(b);
    await begun(b);
    const id = await begun(a);
    expect(await a.store.begin(id)).toBe(true);
    const [said] = await a.store.append(id, [{ role: "user", content: "hello\nthere" }]);
    await a.store.addBill({
      session: id,
      model: "m",
      purpose: "chat" as never,
      usage: { inputTokens: 3, outputTokens: 4 },
      costUsd: 0.25,
    });
    await a.store.append(id, [{ role: "summary", content: "greeted", covers: said?.id }]);
    await a.store.raiseBudget({ session: id }, 9);
    await a.store.update(id, { model: "other" });
    await a.store.end(id);
    const there = await b.store.get(id);
    expect(there).toMatchObject({ id, title: "hello", model: "other", messages: 3, state: "idle" });
    const messages = await b.store.messages(id);
    expect(messages.map(({ content }) => content)).toEqual(["be kind", "hello\nthere", "greeted"]);
    expect(messages[2]?.covers).toBe(messages[1]?.id);
    expect(await b.store.spent({ session: id })).toBe(0.25);
    expect(await b.store.raisedBudget({ session: id })).toBe(9);
  });

  it("goes back and forth, each machine taking in what it lacks", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    const all = ["be kind"];
    for (let turn = 0; turn < 6; turn += 1) {
      const here = turn % 2 === 0 ? a : b;
      await here.store.get(id);
      expect(await here.store.begin(id)).toBe(true);
      expect(await texts(here, id)).toEqual(all);
      await here.store.append(id, [{ role: "user", content: `turn ${turn}` }]);
      all.push(`turn ${turn}`);
      await here.store.end(id);
    }
    expect(await texts(b, id)).toEqual(all);
  });

  it("is worked on by one machine at a time, and the other one is told which", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    expect(await a.store.begin(id)).toBe(true);
    await b.store.get(id);
    expect(await b.store.begin(id)).toEqual({ by: expect.stringContaining(a.node) });
    await expect(b.store.append(id, [{ role: "user", content: "me too" }])).rejects.toThrow(a.node);
    await expect(b.store.delete(id)).rejects.toThrow(a.node);
    await a.store.end(id);
    expect(await b.store.begin(id)).toBe(true);
  });

  it("two that race for it: one has it", async () => {
    const name = cluster();
    const machines = await Promise.all([machine(name), machine(name), machine(name)]);
    const [a] = machines;
    for (let round = 0; round < 10; round += 1) {
      const id = await begun(a);
      await Promise.all(machines.map(({ store }) => store.get(id)));
      const outcomes = await Promise.all(machines.map(({ store }) => store.begin(id)));
      expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(1);
    }
  });

  it("is taken over from a machine that is dead, within seconds", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    expect(await a.store.begin(id)).toBe(true);
    await a.store.append(id, [{ role: "user", content: "are you there?" }]);
    await a.die();
    await b.store.get(id);
    const since = performance.now();
    expect(await b.store.begin(id)).toBe(true);
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(await texts(b, id)).toEqual(["be kind", "are you there?"]);
  }, 20_000);

  it("one that was only taken for dead can write no more, and its words are not mixed in", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    expect(await a.store.begin(id)).toBe(true);
    // It does not answer, and does not know it.
    a.log.close();
    await b.store.get(id);
    expect(await b.store.begin(id)).toBe(true);
    await b.store.append(id, [{ role: "user", content: "from b" }]);
    await expect(a.store.append(id, [{ role: "user", content: "from a" }])).rejects.toThrow(b.node);
    expect(await texts(a, id)).toEqual(["be kind"]);
    await b.store.end(id);
    await a.store.get(id);
    expect(await texts(a, id)).toEqual(["be kind", "from b"]);
  }, 20_000);

  it("more than NATS takes in one message, and more records than are read again", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    const long = "ä".repeat(900_000);
    await a.store.begin(id);
    await a.store.append(id, [{ role: "user", content: long }]);
    for (let index = 0; index < 700; index += 1)
      await a.store.append(id, [{ role: "assistant", content: `${index}` }]);
    await a.store.end(id);
    await b.store.get(id);
    const there = await texts(b, id);
    expect(there).toHaveLength(702);
    expect(there[1]).toBe(long);
    const stream = `${name}_CHATS`.toUpperCase();
    const left = async () => (await a.bus.streams.streams.info(stream)).state.messages;
    await expect.poll(left, { timeout: 20_000 }).toBeLessThan(330);
  }, 60_000);

  it("what was taken back or deleted is so everywhere", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    const [kept] = await a.store.append(id, [{ role: "user", content: "kept" }]);
    await a.store.append(id, [{ role: "user", content: "not meant" }]);
    await b.store.get(id);
    expect(await texts(b, id)).toEqual(["be kind", "kept", "not meant"]);
    await a.store.removeAfter(id, kept?.id ?? "");
    await b.store.get(id);
    expect(await texts(b, id)).toEqual(["be kind", "kept"]);
    expect(await b.store.delete(id)).toBe(true);
    expect(await a.store.get(id)).toBeUndefined();
    expect(await a.store.list()).toEqual([]);
  });

  it("what went on without the cluster is told when it is back, or kept apart when others went on too", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    const id = await begun(a);
    await b.store.get(id);
    const alone = async (text: string) => {
      const store = await openConversations(a.files);
      await store.append(id, [{ role: "user", content: text }]);
      await store.close();
    };
    await alone("alone 1");
    await a.store.begin(id);
    await a.store.end(id);
    await b.store.get(id);
    expect(await texts(b, id)).toEqual(["be kind", "alone 1"]);
    await alone("alone 2");
    await b.store.append(id, [{ role: "user", content: "meanwhile" }]);
    await a.store.get(id);
    expect(await texts(a, id)).toEqual(["be kind", "alone 1", "meanwhile"]);
    const apart = (await a.store.list()).find((each) => each.title.includes("without the cluster"));
    expect(await texts(a, apart?.id ?? "")).toEqual(["be kind", "alone 1", "alone 2"]);
  });

  it("two programs of one home take in nothing twice", async () => {
    const name = cluster();
    const a = await machine(name);
    const same = await machine(name, { home: a.home });
    const id = await begun(a);
    await a.store.begin(id);
    const looking = (async () => {
      for (let index = 0; index < 200; index += 1) await same.store.get(id);
    })();
    for (let index = 0; index < 100; index += 1)
      await a.store.append(id, [{ role: "user", content: `${index}` }]);
    await looking;
    expect(await texts(a, id)).toEqual(["be kind", ...Array.from({ length: 100 }, (_, index) => `${index}`)]);
    await a.store.end(id);
    await same.die();
  });

  it("the newest of the cluster is found, and one of another secret is not taken for it", async () => {
    const name = cluster();
    const [a, b] = [await machine(name), await machine(name)];
    await begun(b);
    const id = await begun(a);
    expect((await b.store.newest())?.id).toBe(id);
    const foreign = await machine(name, { key: "another secret" });
    await expect(foreign.store.get(id)).rejects.toThrow(/not signed/);
  });
});
