// @needs nats-server
import { Objm } from "@nats-io/obj";
import { describe, expect, it } from "vitest";
import { Bus, type ClusterSettings } from "../../src/cluster/bus.js";
import { connectTo } from "../../src/cluster/connect.js";
import { SealedMessages } from "../../src/cluster/sealed-messages.js";
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
    expect(await messages.open("hermes.x", one)).toEqual(large("1"));
    const store = await new Objm(stranger).open(`${cluster.name}_large`);
    const [first, second] = (await store.list()).map(({ name }) => name);
    const bytes = await store.getBlob(first ?? "");
    await store.putBlob({ name: second ?? "" }, bytes ?? new Uint8Array());
    const opened = await Promise.allSettled([one, two].map((each) => messages.open("hermes.x", each)));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(opened.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining("of another message") },
    });
  });
});
