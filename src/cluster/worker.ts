import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { deferred } from "../base/deferred.js";
import { LruMap } from "../base/lru.js";
import type { Runtime } from "../runtime/runtime.js";
import { Bus } from "./bus.js";
import type {
  Beat,
  NodeAnswer,
  Order,
  Outcome,
  ToNode,
  ToWorker,
  WorkerAnswer,
  WorkerRecord,
  WorkerState,
} from "./messages.js";
import { OrderInbox, type Queued } from "./order-inbox.js";
import { OwnRecord } from "./own-record.js";
import { declinedBy, runOrder } from "./run-order.js";
import { pastItsTime } from "./seal.js";
import { TakenOrders } from "./taken-orders.js";
import { WorkerSessions } from "./worker-sessions.js";

const BEAT_MS = 1_000;
/** After such a pause others may have taken it for lost, and for so long afterwards orders may be some of before. */
const STALL_MS = 2_500;
const DOUBTFUL_MS = 10_000;
/** How long the node where a session lives may take to say whether it still waits for a call. */
const WANTED_MS = 2_000;
/** An order that has waited for so long in the queue or for a slot may have been given up meanwhile. */
const WAITED_MS = 2_000;
/** How long results may take to be sent when it leaves. */
const SENT_MS = 15_000;
const CANCELS = 2_000;

/** Runs the calls of other machines' sessions on this one, until it is told to stop. */
export class Worker {
  readonly id: string;
  readonly #runtime: Runtime;
  readonly #bus: Bus;
  readonly #record: OwnRecord;
  readonly #sessions: WorkerSessions;
  readonly #taken = new TakenOrders();
  readonly #cancelled = new LruMap<string, true>(CANCELS);
  /** Large outcomes that are on their way. */
  readonly #sending = new Set<string>();
  readonly #stopped = deferred<void>();
  #subscriptions: readonly { unsubscribe(): void }[] = [];
  #beating: NodeJS.Timeout | undefined;
  #inbox: OrderInbox | undefined;
  #state: WorkerState = "ready";

  private constructor(
    runtime: Runtime,
    parts: { readonly id: string; readonly bus: Bus; readonly record: OwnRecord },
  ) {
    this.id = parts.id;
    this.#runtime = runtime;
    this.#bus = parts.bus;
    this.#record = parts.record;
    this.#sessions = new WorkerSessions(runtime, { bus: this.#bus, isBusy: (key) => this.#isBusy(key) });
  }

  static async start(runtime: Runtime): Promise<Worker> {
    const bus = await Bus.open(runtime.config.values.cluster, runtime.log);
    const id = newId();
    const record = await OwnRecord.open(runtime, { bus, id }).catch(async (error: unknown) => {
      await bus.close();
      throw error;
    });
    const worker = new Worker(runtime, { id, bus, record });
    try {
      await worker.#join();
      return worker;
    } catch (error) {
      await worker.#leave();
      throw error;
    }
  }

  get record(): WorkerRecord | undefined {
    return this.#record.latest;
  }

  /** Resolves when it has left the cluster, whoever asked for that. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /** Takes nothing new, lets what runs finish as long as it may, and leaves. */
  async drain(): Promise<void> {
    if (this.#state === "draining") return this.stopped;
    this.#state = "draining";
    this.#beat();
    const limitMs = this.#runtime.config.values.cluster.drain_seconds * 1000;
    const until = performance.now() + limitMs;
    // Machines that have not heard of it yet may still send something.
    await this.#pauseUntil(() => false, performance.now() + Math.min(1_500, limitMs));
    const { running } = this.#taken;
    await this.#pauseUntil(() => running.size === 0, until);
    this.#closed = true;
    for (const { abort } of running.values()) abort.abort();
    await this.#pauseUntil(() => running.size === 0, performance.now() + 5_000);
    // A large one goes through the object store first.
    await this.#pauseUntil(() => this.#sending.size === 0, performance.now() + SENT_MS);
    await this.#leave();
  }

  async #join(): Promise<void> {
    await this.#record.write();
    this.#subscriptions = [
      this.#bus.subscribe(this.#bus.subject("worker", this.id), (body) => this.#obey(body as ToWorker)),
      this.#bus.subscribe(this.#bus.subject("roll"), () => this.#beat()),
    ];
    this.#record.keep();
    // Servers may come back without what they had.
    this.#bus.onReconnect = () => void this.#record.writeAgain();
    this.#inbox = new OrderInbox(this.#bus, {
      worker: this.id,
      slots: this.#runtime.config.values.cluster.slots,
      log: this.#runtime.log,
      isOpen: () => !this.#closed,
      begin: (order) => this.#begin(order),
      take: (order, queued) => this.#take(order, queued),
      renewed: () => this.#record.writeAgain(),
    });
    await this.#inbox.opened;
    this.#beat();
    this.#beating = setInterval(() => this.#beat(), BEAT_MS);
  }

  #beat(): void {
    const now = performance.now();
    if (this.#isStalled(now)) this.#doubtfulUntil = now + DOUBTFUL_MS;
    this.#beatAt = now;
    const beat: Beat = {
      id: this.id,
      state: this.#state,
      running: this.#taken.running.size,
      answered: this.#inbox?.isAnswered === true,
      revision: this.record?.revision ?? 0,
    };
    this.#bus.publish(this.#bus.subject("beat"), beat);
  }

  #beatAt = performance.now();
  #doubtfulUntil = 0;

  #isStalled(now: number): boolean {
    return now - this.#beatAt > STALL_MS;
  }

  /** Whether others may have taken it for lost of late: then they may have given up on what comes now. */
  #isDoubtful(): boolean {
    const now = performance.now();
    return now < this.#doubtfulUntil || this.#isStalled(now) || this.#bus.upForMs < DOUBTFUL_MS;
  }

  /** Nothing new begins. */
  #closed = false;

  #begin(order: Order): Promise<void> | undefined {
    if (this.#taken.hasBegun(order.uid) || this.#taken.isFenced(order)) return undefined;
    return this.#run(order, { redelivered: false, waitedMs: 0, lateMs: 0 });
  }

  #take(order: Order, queued: Queued): Promise<void> | undefined {
    const before = this.#taken.running.get(order.uid);
    if (before !== undefined) {
      // It says itself when it is done, whichever attempt asks for it.
      before.attempt = Math.max(before.attempt, order.attempt);
      return undefined;
    }
    if (this.#taken.hasBegun(order.uid)) this.#tellAgain(order);
    else if (!this.#taken.isFenced(order)) return this.#run(order, queued);
    return Promise.resolve();
  }

  async #run(order: Order, queued: Queued): Promise<void> {
    const taken = this.#taken.begin(order);
    if (this.#cancelled.has(order.uid)) taken.abort.abort();
    const declined = await this.#whyNot(order, queued);
    const outcome =
      declined ??
      (await runOrder(order, {
        worker: this.id,
        runtime: this.#runtime,
        sessions: this.#sessions,
        bus: this.#bus,
        signal: taken.abort.signal,
        attempt: () => taken.attempt,
      }));
    this.#send(order.node, this.#taken.end(taken, outcome));
  }

  /** Why an order is not begun here, told to whoever sent it. */
  async #whyNot(
    { uid, attempt, node }: Order,
    { redelivered, waitedMs, lateMs }: Queued,
  ): Promise<Outcome | undefined> {
    if (this.#closed) return declinedBy(this.id, { uid, attempt, why: "leaving", words: "it is leaving" });
    if (lateMs > 0) {
      const words = `${pastItsTime(lateMs)} when it came; do the clocks of the machines agree?`;
      this.#runtime.log.warn(`an order was declined: ${words}`);
      return declinedBy(this.id, { uid, attempt, why: "late", words });
    }
    if (!redelivered && waitedMs < WAITED_MS && !this.#isDoubtful()) return undefined;
    const asked: ToNode = { kind: "wanted", uid, attempt };
    const answer = (await this.#bus
      .request(this.#bus.subject("node", node), asked, WANTED_MS)
      .catch(() => undefined)) as NodeAnswer | undefined;
    if (answer?.kind === "wanted" && answer.wanted) return undefined;
    return declinedBy(this.id, { uid, attempt, why: "late", words: "nobody seemed to wait for it any more" });
  }

  #tellAgain({ uid, attempt }: Order): void {
    const kept = this.#taken.outcomeOf(uid);
    if (kept === undefined) return;
    if (kept.outcome.attempt < attempt) kept.outcome = { ...kept.outcome, attempt };
    this.#send(kept.node, kept.outcome);
  }

  #send(node: string, outcome: Outcome): void {
    const { uid } = outcome;
    if (this.#sending.has(uid)) return;
    const sending = this.#bus.publish(this.#bus.subject("node", node), { kind: "outcome", outcome });
    if (sending === undefined) return;
    this.#sending.add(uid);
    void sending.finally(() => this.#sending.delete(uid));
  }

  #obey(message: ToWorker): WorkerAnswer {
    switch (message.kind) {
      case "cancel": {
        const taken = this.#taken.running.get(message.uid);
        if (taken === undefined) this.#cancelled.set(message.uid, true);
        else taken.abort.abort();
        return { kind: "done" };
      }
      case "endSession":
        this.#sessions.end(message.session);
        return { kind: "done" };
      case "drain":
        void this.drain();
        return { kind: "done" };
      case "check": {
        const ended = message.uids.filter((uid) => !this.#taken.running.has(uid));
        const without = ended.filter((uid) => {
          const kept = this.#taken.outcomeOf(uid);
          if (kept !== undefined) this.#send(kept.node, kept.outcome);
          return kept === undefined;
        });
        const [forgotten, missing] = [true, false].map((begun) =>
          without.filter((uid) => this.#taken.hasBegun(uid) === begun),
        );
        return { kind: "check", missing: missing ?? [], forgotten: forgotten ?? [] };
      }
      case "fence":
        return { kind: "fence", fenced: this.#taken.fence(message.uid, message.attempt) };
    }
  }

  #isBusy(session: string): boolean {
    return [...this.#taken.running.values()].some(({ order }) => order.session === session);
  }

  async #leave(): Promise<void> {
    clearInterval(this.#beating);
    await this.#inbox?.close();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#sessions.close();
    await this.#record.remove();
    await this.#bus.close();
    this.#stopped.resolve();
  }

  async #pauseUntil(done: () => boolean, until: number): Promise<void> {
    while (!done() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function newId(): string {
  const host = hostname().replace(/[^A-Za-z0-9_-]/g, "-");
  return `${host.slice(0, 40)}-${randomBytes(3).toString("hex")}`;
}
