// @needs nats-server
import { Objm } from "@nats-io/obj";
import { describe, expect, it } from "vitest";
import { Bus, type ClusterSettings } from "../../src/cluster/bus.js";
import { connectTo } from "../../src/cluster/connect.js";
import { recordSubject, workerTable } from "../../src/cluster/roster.js";
import { SealedMessages } from "../../src/cluster/sealed-messages.js";
import { clusterStatus } from "../../src/cluster/status.js";
import { createLogger } from "../../src/observe/log.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { settings, useNats } from "./support.js";

useNats();

let clusters = 0;

/** Machines of one cluster, and a connection of somebody who reaches its servers without the secret. */
async function world() {
  const { runtime } = await testRuntime([], { flags: settings(`m${process.pid}_${++clusters}`) });
  const { cluster } = runtime.config.values;
  const stranger = await connectTo(cluster);
  onTestEnd(() => stranger.close());
  return { cluster, stranger };
}

/** One machine, and the lines that it logs. */
async function machine(cluster: ClusterSettings) {
  const lines: string[] = [];
  const bus = await Bus.open(cluster, createLogger({ sink: (line) => lines.push(line) }));
  onTestEnd(() => bus.close());
  return { bus, lines };
}

describe("what machines of a cluster tell each other", () => {
  it("an answer counts for the question that it was given to, and for no other", async () => {
    const { cluster, stranger } = await world();
    const [{ bus: asking }, { bus: answering }] = [await machine(cluster), await machine(cluster)];
    const subject = asking.subject("node", "one");
    const answers: Uint8Array[] = [];
    stranger.subscribe("_INBOX.>", { callback: (_error, { data }) => void answers.push(data) });
    const door = answering.subscribe(subject, () => ({ kind: "approve", reply: "once" }));
    await Promise.all([stranger.flush(), answering.flush()]);
    const said = await asking.request(subject, { question: "may I look?" }, 2_000);
    expect(said).toEqual({ kind: "approve", reply: "once" });
    door.unsubscribe();
    await answering.flush();
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    stranger.subscribe(subject, { callback: (_error, asked) => void asked.respond(answers.at(-1)) });
    await stranger.flush();
    const repeated = asking.request(subject, { question: "may I delete it?" }, 2_000);
    await expect(repeated).rejects.toThrow(/it was written for/);
  });

  it("the large part of a message is its own, not that of an earlier one", async () => {
    const { cluster, stranger } = await world();
    const messages = new SealedMessages(stranger, cluster);
    const large = (text: string) => ({ text: text.repeat(700_000) });
    const [one, two] = [
      await messages.pack("hermes.x", large("1")),
      await messages.pack("hermes.x", large("2")),
    ];
    expect(await messages.open("hermes.x", one)).toMatchObject({ body: large("1") });
    const store = await new Objm(stranger).open(`${cluster.name}_large`);
    const [first, second] = (await store.list()).map(({ name }) => name);
    const bytes = await store.getBlob(first ?? "");
    await store.putBlob({ name: second ?? "" }, bytes ?? new Uint8Array());
    const opened = await Promise.allSettled([one, two].map(async (each) => messages.open("hermes.x", each)));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(opened.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining("of another message") },
    });
  });

  it("what comes again and again from somebody without the secret is said once", async () => {
    const { cluster, stranger } = await world();
    const { bus, lines } = await machine(cluster);
    let heard = 0;
    const subject = bus.subject("beat");
    bus.subscribe(subject, () => {
      heard += 1;
    });
    await bus.flush();
    for (let index = 0; index < 20; index += 1) stranger.publish(subject, new Uint8Array(100));
    await stranger.flush();
    bus.publish(subject, {});
    await expect.poll(() => heard).toBe(1);
    expect(lines).toEqual([expect.stringContaining("not signed with the secret")]);
  });

  it("a clock that is wrong is told by whoever hears it, and by the status", async () => {
    const { cluster } = await world();
    const [{ bus, lines }, away] = [await machine(cluster), await machine(cluster)];
    const [subject, beat] = [bus.subject("node", "one"), bus.subject("beat")];
    let heard = 0;
    const take = () => {
      heard += 1;
    };
    bus.subscribe(subject, take);
    away.bus.subscribe(subject, take);
    await Promise.all([bus.flush(), away.bus.flush()]);
    bus.publish(subject, {});
    await expect.poll(() => heard).toBe(2);
    expect([...lines, ...away.lines]).toEqual([]);

    const id = "slow";
    const record = { id, host: "h", version: "0", labels: [], toolsets: [], slots: 1, tools: {} };
    await (await workerTable(bus)).put(id, bus.sealLasting(recordSubject(bus), record));
    const real = Date.now;
    const written: (() => void)[] = [];
    for (const [clock, body] of [
      [real() - 300_000, { id, state: "ready", running: 0, answered: true, revision: 1 }],
      [real() + 300_000, {}],
    ] as const)
      written.push(() => {
        Date.now = () => clock;
        try {
          away.bus.publish(clock < real() ? beat : subject, body);
        } finally {
          Date.now = real;
        }
      });
    const [beats, ahead] = written;
    ahead?.();
    await expect.poll(() => lines).toEqual([expect.stringMatching(/300 s in the future; do the clocks/)]);
    const beating = setInterval(() => beats?.(), 20);
    onTestEnd(() => clearInterval(beating));
    const status = await clusterStatus(cluster);
    expect(status.workers).toMatchObject([{ id, state: "lost", clockOffMs: expect.any(Number) }]);
    expect(Math.round((status.workers[0]?.clockOffMs ?? 0) / 10_000)).toBe(-30);
  });
});
