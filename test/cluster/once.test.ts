// @needs nats-server
import { setTimeout as pause } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { describe, expect, it, vi } from "vitest";
import { deferred } from "../../src/base/deferred.js";
import type { Bus } from "../../src/cluster/bus.js";
import type { Order, Outcome, ToNode } from "../../src/cluster/messages.js";
import { OrderInbox } from "../../src/cluster/order-inbox.js";
import { TakenOrders } from "../../src/cluster/taken-orders.js";
import { defineTool } from "../../src/index.js";
import { silentLogger } from "../../src/observe/log.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { eventually } from "../gateway/support.js";
import { onTestEnd } from "../support/runtime.js";
import { natsUrl, type TestCluster, testCluster, useNats } from "./support.js";

useNats();

function counting() {
  const ran: string[] = [];
  const tool = defineTool({
    name: "count",
    description: "says that it ran",
    parameters: { type: "object", properties: { tag: { type: "string" } }, required: ["tag"] },
    permissions: ["memory:write"],
    effects: () => [{ action: "memory:write", resource: "count", mode: "write" }],
    handler: ({ tag }) => {
      ran.push(tag);
      return `ran ${tag}`;
    },
  }) as AnyTool;
  return { ran, tool };
}

const order = (uid: string, attempt: number): Order => ({
  uid,
  attempt,
  node: "a-node",
  session: "a-session",
  spec: specOf("count"),
  id: uid,
  tool: "count",
  args: { tag: uid },
});

const specOf = (...tools: string[]) => ({ profile: "default", environment: "local", tools, heard: [] });

/** Sends orders as a node does, and hears what comes back. */
function node({ place, workers }: TestCluster) {
  const { bus } = place;
  const worker = workers[0]?.worker.id ?? "";
  const heard: Outcome[] = [];
  const waiting: (() => void)[] = [];
  bus.subscribe(bus.subject("node", "a-node"), (body) => {
    const message = body as ToNode;
    if (message.kind === "wanted") return { kind: "wanted", wanted: false };
    if (message.kind !== "outcome") return undefined;
    heard.push(message.outcome);
    waiting.splice(0).forEach((wake) => {
      wake();
    });
    return undefined;
  });
  return {
    heard,
    worker,
    send: (each: Order) =>
      bus.queue.add(each, { worker, id: `${each.uid}.${each.attempt}.${Math.random()}` }),
    async outcome(attempt: number): Promise<Outcome> {
      for (;;) {
        const found = heard.find((outcome) => outcome.attempt === attempt);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

describe("a worker", () => {
  it("begins a call once, however often and under whatever number it comes; each gets the outcome", async () => {
    const { ran, tool } = counting();
    const { send, outcome } = node(await testCluster([tool]));
    await send(order("one", 1));
    expect((await outcome(1)).output).toBe("ran one");
    await send(order("one", 1));
    await send(order("one", 2));
    expect(await outcome(2)).toMatchObject({ began: true, output: "ran one" });
    expect(ran).toEqual(["one"]);
  });

  it("begins at once what it is told directly; what the queue has of it is not run again, and taken out", async () => {
    const { ran, tool } = counting();
    const cluster = await testCluster([tool]);
    const { outcome, worker } = node(cluster);
    const { bus } = cluster.place;
    await bus.streams.streams.delete(bus.queue.name);
    bus.tellAtOnce(bus.subject("order", worker), order("direct", 1));
    expect((await outcome(1)).output).toBe("ran direct");
    const session = await cluster.front.runtime.openSession();
    for (const tag of ["a", "b", "c"]) await session.call({ name: "count", arguments: { tag } });
    expect(ran).toEqual(["direct", "a", "b", "c"]);
    await eventually(async () => {
      const { state } = await bus.streams.streams.info(bus.queue.name);
      const { num_ack_pending } = await bus.streams.consumers.info(bus.queue.name, worker);
      expect({ waiting: state.messages, num_ack_pending }).toEqual({ waiting: 0, num_ack_pending: 0 });
    });
  });

  it("waits for its own disk only with what is on no other one", async () => {
    const { ran, tool } = counting();
    const cluster = await testCluster([tool]);
    const { send, outcome } = node(cluster);
    const journal = await cluster.workers[0]?.at.runtime.journal();
    if (journal === undefined) throw new Error("the worker has no journal");
    const disk = deferred<void>();
    const begin = journal.begin.bind(journal);
    journal.begin = (intent) =>
      intent.durableBefore ? disk.promise.then(() => begin(intent)) : begin(intent);
    const session = await cluster.front.runtime.openSession();
    expect(await session.call({ name: "count", arguments: { tag: "kept" } })).toMatchObject({ ok: true });
    await send(order("not kept", 1));
    await pause(200);
    expect(ran).toEqual(["kept"]);
    disk.resolve();
    expect(await outcome(1)).toMatchObject({ began: true, output: "ran not kept" });
  });

  it("the time an order waits for a slot is not the tool's own", async () => {
    const slow = defineTool({
      name: "slow",
      description: "takes a moment",
      parameters: { type: "object", properties: {} },
      permissions: ["memory:write"],
      timeoutMs: 1_000,
      effects: () => [
        { action: "memory:write", resource: "slow", mode: "write", lock: { name: "slow", shared: true } },
      ],
      handler: async () => {
        await pause(500);
        return "done";
      },
    }) as AnyTool;
    const { front } = await testCluster([slow], { worker: { "cluster.slots": 1 } });
    const sessions = await Promise.all(Array.from({ length: 6 }, () => front.runtime.openSession()));
    const results = await Promise.all(sessions.map((one) => one.call({ name: "slow", arguments: {} })));
    expect(results.map(({ ok, error }) => error?.message ?? ok)).toEqual(results.map(() => true));
  });

  it("runs no more at once than it has slots, and lets nothing overtake what waits", async () => {
    let running = 0;
    let most = 0;
    const began: number[] = [];
    const slow = defineTool({
      name: "slow",
      description: "takes a while",
      parameters: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      async handler({ at }) {
        began.push(at);
        running += 1;
        most = Math.max(most, running);
        await pause(30);
        running -= 1;
        return "done";
      },
    }) as AnyTool;
    const { front } = await testCluster([slow], { worker: { "cluster.slots": 2 } });
    const sessions = await Promise.all(Array.from({ length: 12 }, () => front.runtime.openSession()));
    const results = await Promise.all(
      sessions.map((session, at) => session.call({ name: "slow", arguments: { at } })),
    );
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(most).toBe(2);
    // Two that begin together may change places on their way.
    expect(Math.max(...began.map((at, index) => Math.abs(at - index)))).toBeLessThan(4);
  });

  it("leaves no slot free while something waits, also when what was next runs already", async () => {
    const began: string[] = [];
    const gates = new Map<string, () => void>();
    const gated = defineTool({
      name: "gated",
      description: "runs until it is let go",
      parameters: { type: "object", properties: { tag: { type: "string" } }, required: ["tag"] },
      async handler({ tag }) {
        began.push(tag);
        await new Promise<void>((go) => gates.set(tag, go));
        return "done";
      },
    }) as AnyTool;
    const cluster = await testCluster([gated], { worker: { "cluster.slots": 2 } });
    const { send, worker } = node(cluster);
    const { bus } = cluster.place;
    const gate = (tag: string, attempt = 1): Order => {
      const spec = { profile: "default", environment: "local", tools: ["gated"], heard: [] };
      return { ...order(tag, attempt), session: tag, spec, tool: "gated" };
    };
    for (const tag of ["stays", "goes"]) bus.tellAtOnce(bus.subject("order", worker), gate(tag));
    await eventually(() => expect([...gates.keys()].sort()).toEqual(["goes", "stays"]));
    await send(gate("stays", 2));
    await send(gate("next"));
    await eventually(async () => {
      const { num_ack_pending } = await bus.streams.consumers.info(bus.queue.name, worker);
      expect(num_ack_pending).toBe(2);
    });
    gates.get("goes")?.();
    await eventually(() => expect(began).toContain("next"));
    for (const go of gates.values()) go();
  });

  it("is sent by the queue what it was not told, also when it only reads", async () => {
    const look = defineTool({
      name: "look",
      description: "reads",
      parameters: { type: "object" },
      handler: () => "seen",
    }) as AnyTool;
    const { front, place } = await testCluster([look]);
    const session = await front.runtime.openSession();
    place.bus.tellAtOnce = () => true;
    expect(await session.call({ name: "look" })).toMatchObject({ ok: true, human: "seen" });
  });

  it("asks whether an order is still wanted that has waited for a slot for long", async () => {
    const { ran, tool } = counting();
    const goes: (() => void)[] = [];
    const gated = defineTool({
      name: "gated",
      description: "runs until it is let go",
      parameters: { type: "object" },
      handler: () => new Promise<string>((resolve) => goes.push(() => resolve("went"))),
    }) as AnyTool;
    const cluster = await testCluster([tool, gated], { worker: { "cluster.slots": 1 } });
    const { send, outcome } = node(cluster);
    await send({ ...order("holds", 1), tool: "gated", args: {}, spec: specOf("gated", "count") });
    await eventually(() => expect(goes).toHaveLength(1));
    await send({ ...order("waits", 2), spec: specOf("gated", "count") });
    await pause(2_100);
    for (const go of goes) go();
    expect(await outcome(2)).toMatchObject({ began: false, declined: "late" });
    expect(ran).toEqual([]);
  });

  it("sends a large result of its last call before it leaves", async () => {
    const began: (() => void)[] = [];
    const large = defineTool({
      name: "large",
      description: "gives a lot",
      parameters: { type: "object" },
      handler: () => new Promise<string>((resolve) => began.push(() => resolve("x".repeat(8_000_000)))),
    }) as AnyTool;
    const { front, workers } = await testCluster([large], { worker: { "cluster.drain_seconds": 5 } });
    const session = await front.runtime.openSession();
    const result = session.call({ name: "large" });
    await eventually(() => expect(began).toHaveLength(1));
    const drained = workers[0]?.worker.drain();
    await pause(1_600);
    for (const go of began) go();
    expect(await result).toMatchObject({ ok: true });
    await drained;
  });

  it("is answered, and heard, only by whoever waits for this very attempt", async () => {
    const heard: string[] = [];
    const goes: (() => void)[] = [];
    const { place, front } = await testCluster([
      defineTool({
        name: "waits",
        description: "waits",
        parameters: { type: "object" },
        handler: () => new Promise<string>((resolve) => goes.push(() => resolve("done"))),
      }) as AnyTool,
    ]);
    const session = await front.runtime.openSession({ approver: async () => "once" });
    const onProgress = ({ message = "" }: { message?: string }) => void heard.push(message);
    const result = session.call({ name: "waits" }, { onProgress } as never);
    await eventually(() => expect(goes).toHaveLength(1));
    const { bus } = place;
    const tell = (message: ToNode) => bus.request(bus.subject("node", place.id), message, 2_000);
    const about = { uid: `${place.id}-1` };
    const request = { remember: [], sessionKeys: [] } as never;
    for (const attempt of [1, 2]) {
      await tell({
        kind: "progress",
        ...about,
        attempt,
        progress: { message: `of attempt ${attempt}` },
      } as never);
    }
    expect(heard).toEqual(["of attempt 1"]);
    expect(await tell({ kind: "approve", ...about, attempt: 2, request })).toMatchObject({ reply: "nobody" });
    expect(await tell({ kind: "approve", ...about, attempt: 1, request })).toMatchObject({
      reply: { answer: "once" },
    });
    // One that nobody can make sense of is answered all the same.
    expect(await tell({ kind: "approve", ...about, attempt: 1 } as never)).toMatchObject({ kind: "approve" });
    for (const go of goes) go();
    expect(await result).toMatchObject({ ok: true });
  });

  it("does not begin what it was told not to; a later attempt is another matter", async () => {
    const { ran, tool } = counting();
    const cluster = await testCluster([tool]);
    const { send, outcome, worker } = node(cluster);
    const fence = { kind: "fence", uid: "moved", attempt: 1 } as const;
    expect(await cluster.place.tell(worker, fence)).toEqual({ kind: "fence", fenced: true });
    await send(order("moved", 1));
    await send(order("moved", 2));
    await outcome(2);
    expect(ran).toEqual(["moved"]);
    expect(await cluster.place.tell(worker, { ...fence, attempt: 2 })).toEqual({
      kind: "fence",
      fenced: false,
    });
  });

  it("is told of a session again that it has ended meanwhile", async () => {
    const { ran, tool } = counting();
    const { front, place } = await testCluster([tool]);
    const session = await front.runtime.openSession();
    const first = await session.call({ name: "count", arguments: { tag: "before" } });
    await place.tell(first.worker ?? "", { kind: "endSession", session: session.id });
    const again = await session.call({ name: "count", arguments: { tag: "after" } });
    expect(again).toMatchObject({ ok: true, human: "ran after" });
    expect(ran).toEqual(["before", "after"]);
  });

  it("is ready once its queue has answered, and is not chosen before others when it no longer does", async () => {
    const { tool } = counting();
    const { place, workers } = await testCluster([tool], { workers: [[], []] });
    const { bus, roster } = place;
    for (const { worker } of workers) await bus.streams.consumers.info(bus.queue.name, worker.id);
    const wanted = { tool: "count", labels: [], environment: "local" };
    const first = roster.choose(wanted, []);
    const { id } = first?.record ?? {};
    bus.publish(bus.subject("beat"), { ...first?.beat, answered: false });
    await eventually(() => expect(first?.beat.answered).toBe(false));
    expect(roster.choose(wanted, [id ?? ""])?.record.id).not.toBe(id);
    await eventually(() => expect(first?.beat.answered).toBe(true));
    expect(roster.choose(wanted, [id ?? ""])?.record.id).toBe(id);
  });

  it("makes a queue anew that somebody deleted, and calls wait for it", async () => {
    const { ran, tool } = counting();
    const { front, name } = await testCluster([tool]);
    const session = await front.runtime.openSession();
    await session.call({ name: "count", arguments: { tag: "before" } });
    const stranger = await connect({ servers: natsUrl().replace("nats://", "") });
    await (await jetstreamManager(stranger)).streams.delete(`${name.toUpperCase()}_CALLS`);
    await stranger.close();
    const again = await session.call({ name: "count", arguments: { tag: "after" } });
    expect(again).toMatchObject({ ok: true, human: "ran after" });
    expect(ran).toEqual(["before", "after"]);
  });
});

describe("a call whose worker is lost", () => {
  it("has its whole time on the next one: what the lost one took is not its own", async () => {
    let runs = 0;
    const tool = defineTool({
      name: "slow",
      description: "takes most of its time",
      parameters: { type: "object" },
      timeoutMs: 2_000,
      async handler(_args, { signal }) {
        runs += 1;
        if (runs === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        else await pause(1_200);
        return "done";
      },
    }) as AnyTool;
    const { place, front } = await testCluster([tool], { workers: [[], []] });
    const answered = (await front.runtime.openSession()).call({ name: "slow" });
    await pause(1_200);
    const first = place.roster.ready.find(({ sent }) => sent > 0);
    if (first === undefined) throw new Error("nobody has it");
    first.avoidedUntil = Number.POSITIVE_INFINITY;
    place.roster.onLost?.(first.record.id);
    expect(await answered).toMatchObject({ ok: true, human: "done" });
    expect(runs).toBe(2);
  });

  const hanging = (more: Partial<AnyTool>) =>
    defineTool({
      name: "hangs",
      description: "waits until it is interrupted",
      parameters: { type: "object" },
      handler: (_args, { signal }) =>
        new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("interrupted"))),
      ...more,
    }) as AnyTool;

  /** How many workers it takes until the call has its end. */
  async function lost(tool: AnyTool) {
    const { place, front, workers } = await testCluster([tool]);
    const id = workers[0]?.worker.id ?? "";
    const session = await front.runtime.openSession();
    let ended = false;
    const result = session.call({ name: "hangs" }).finally(() => {
      ended = true;
    });
    let times = 0;
    for (; !ended && times < 10; times += 1) {
      await eventually(async () => {
        const answer = await place.tell(id, { kind: "check", uids: [`${place.id}-1`] });
        expect(answer).toMatchObject({ missing: [], forgotten: [] });
      });
      place.roster.onLost?.(id);
      await pause(20);
    }
    return { times, result: await result };
  }

  it("is begun elsewhere when it only reads, but not for ever: it may be what ends them", async () => {
    const { times, result } = await lost(hanging({}));
    expect(times).toBe(3);
    expect(result.error).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/^3 workers were lost while they ran this/),
      hint: expect.stringContaining("It changes nothing"),
    });
  });

  it("is not run again when it may have changed something; nobody knows what it did", async () => {
    const changes = hanging({
      permissions: ["memory:write"],
      effects: () => [{ action: "memory:write", resource: "notes", mode: "write" }],
    });
    const { times, result } = await lost(changes);
    expect(times).toBe(1);
    expect(result.error).toMatchObject({
      code: "unknown",
      hint: expect.stringMatching(/memory:write notes\. It was not run again/),
    });
  });
});

describe("an inbox", () => {
  it("that cannot read the queue when its worker starts gives up, and says why", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestEnd(() => void vi.useRealTimers());
    const refused = async () => {
      throw new Error("no permission to make consumers");
    };
    const bus = {
      subject: (...words: string[]) => words.join("."),
      subscribe: () => ({ unsubscribe: () => undefined }),
      queue: { name: "q", subject: (worker: string) => worker, make: async () => undefined },
      streams: { consumers: { add: refused, delete: refused } },
    } as unknown as Bus;
    const inbox = new OrderInbox(bus, {
      worker: "w",
      log: silentLogger,
      renewed: async () => undefined,
    } as never);
    const opened = expect(inbox.opened).rejects.toThrow(/no permission to make consumers/);
    await vi.advanceTimersByTimeAsync(31_000);
    await opened;
    await inbox.close();
  });
});

describe("what a worker remembers", () => {
  const outcome = (uid: string, output: unknown): Outcome => ({
    uid,
    attempt: 1,
    worker: "w",
    began: true,
    output,
    untrustedFrom: [],
    retries: 0,
    notices: [],
  });

  it("of many calls all ran, of their outcomes the latest", () => {
    const orders = new TakenOrders();
    for (let count = 0; count < 5_000; count += 1) {
      const uid = `u${count}`;
      orders.end(orders.begin(order(uid, 1)), outcome(uid, "done"));
    }
    expect(orders.hasBegun("u0")).toBe(true);
    expect(orders.outcomeOf("u0")).toBeUndefined();
    expect(orders.outcomeOf("u4999")?.outcome.output).toBe("done");
  });

  it("not more than a bounded amount of large ones, but always what runs", () => {
    const orders = new TakenOrders();
    const running = orders.begin(order("long", 1));
    const large = "x".repeat(8 * 1024 * 1024);
    for (let count = 0; count < 10; count += 1) {
      const uid = `u${count}`;
      orders.end(orders.begin(order(uid, 1)), outcome(uid, large));
    }
    const kept = Array.from({ length: 10 }, (_, count) => orders.outcomeOf(`u${count}`)).filter(Boolean);
    expect(kept).toHaveLength(4);
    expect(orders.running.get("long")).toBe(running);
  });
});
