// @needs nats-server
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Bus } from "../../src/cluster/bus.js";
import { LogStream } from "../../src/cluster/log-stream.js";
import { defineTool } from "../../src/index.js";
import { silentLogger } from "../../src/observe/log.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { settings, useNats } from "./support.js";

useNats();

const idle = defineTool({
  name: "idle",
  description: "does nothing",
  parameters: { type: "object" },
  handler: () => "done",
}) as AnyTool;

async function openBus(name: string): Promise<Bus> {
  const { runtime } = await testRuntime([idle], { flags: settings(`space${process.pid}_${name}`) });
  const bus = await Bus.open(runtime.config.values.cluster, silentLogger);
  onTestEnd(() => bus.close());
  return bus;
}

/** As the server counts it, which gives up its JetStream when it comes to more than it may keep. */
const counted = async (bus: Bus) => (await bus.streams.getAccountInfo()).storage;

describe("the space that a cluster takes of NATS", () => {
  it("is given back of what a log forgets, also in the count of the server", async () => {
    const bus = await openBus("log");
    const log = await LogStream.open(bus, { node: "n1", keptMs: 3_600_000 });
    const [told, other] = [log.subject("talk", "one"), log.subject("talk", "two")];
    const write = (subject: string, after: number, text: string) =>
      log.append(subject, { after, about: {}, holds: true, sinceWhole: 0, wholeAt: 0, changes: [{ text }] });
    const before = await counted(bus);
    const kept = await write(other, 0, "kept");
    let last = 0;
    const parts: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      last = await write(told, last, "x".repeat(700_000));
      parts.push(last);
    }
    expect((await counted(bus)) - before).toBeGreaterThan(5_000_000);
    const whole = await write(told, last, "all of it");
    // Asked for again before the first is done, as in a conversation that goes on quickly.
    for (const seq of [...parts.slice(1), whole]) log.forgetBefore(told, seq);
    for (let tries = 0; tries < 200 && (await counted(bus)) - before > 100_000; tries += 1) await pause(25);
    expect((await counted(bus)) - before).toBeLessThan(100_000);
    expect((await log.read(told, 0)).records).toMatchObject([
      { seq: whole, changes: [{ text: "all of it" }] },
    ]);
    expect((await log.read(other, 0)).records).toMatchObject([{ seq: kept, changes: [{ text: "kept" }] }]);
  });

  it("is kept of a large message as long as the message counts, for whoever is given it once more", async () => {
    const bus = await openBus("large");
    const subject = bus.subject("node", "somebody");
    const heard: unknown[] = [];
    for (const ear of ["first", "second"]) {
      const ears = bus.subscribe(subject, async (body) => {
        // One after the other, as with an order that comes twice.
        await pause(ear === "second" ? 200 : 0);
        heard.push(body);
      });
      onTestEnd(() => ears.unsubscribe());
    }
    await bus.flush();
    const large = { kind: "large", text: "y".repeat(1_600_000) };
    await bus.publish(subject, large);
    for (let tries = 0; tries < 200 && heard.length < 2; tries += 1) await pause(25);
    expect(heard).toEqual([large, large]);
    const [stream] = await bus.streams.streams.list("$O.>").next();
    // No longer than that: it is the time of a message and half a minute.
    expect(stream?.config.max_age).toBe(150 * 1e9);
  });
});
