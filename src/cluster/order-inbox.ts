import { AckPolicy, type ConsumerMessages, type JsMsg, PubHeaders } from "@nats-io/jetstream";
import { millis, nanos } from "@nats-io/transport-node";
import { deferred } from "../base/deferred.js";
import { LruMap } from "../base/lru.js";
import { ownCommand } from "../base/own-command.js";
import type { Logger } from "../observe/log.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { Bus } from "./bus.js";
import { type Order, orderId } from "./messages.js";

/** A message whose worker says nothing for so long is offered again; a worker that runs it says so more often. */
const ACK_WAIT_MS = 10_000;
const STILL_RUNNING_MS = 3_000;
/** How long the queue may not be readable when a worker starts. */
const FIRST_READ_MS = 30_000;
/** Orders that were begun and that the queue has still to bring. */
const MAX_AHEAD = 10_000;

export interface InboxParts {
  readonly worker: string;
  readonly slots: number;
  readonly log: Logger;
  /** Whether anything new may begin. */
  isOpen(): boolean;
  /** Resolves when it is done with; undefined when it has been here before, or must not begin. */
  begin(order: Order): Promise<void> | undefined;
  /** The same for what the queue brings, which is answered whatever it is; undefined when it runs already. */
  take(order: Order, queued: Queued): Promise<void> | undefined;
  /** The queue or the consumer was gone: others may have lost more than that. */
  renewed(): Promise<void>;
}

export interface Queued {
  readonly redelivered: boolean;
  /** How long it has waited: in the queue, and then for a slot. */
  readonly waitedMs: number;
  readonly lateMs: number;
}

/**
 * The orders of one worker. Whoever sends one tells the worker directly, which begins at once while it has room; what
 * the queue then brings of it is only told done with. Everything else comes from the queue, each in its turn.
 */
export class OrderInbox {
  readonly #bus: Bus;
  readonly #parts: InboxParts;
  readonly #subscription: { unsubscribe(): void };
  readonly #ahead = new LruMap<string, Promise<void>>(MAX_AHEAD);
  /** From the queue, and no slot is free. */
  readonly #held: (() => void)[] = [];
  #running = 0;
  /** More waits in the queue: nothing overtakes it. */
  #isBehind = false;
  #pulling: ConsumerMessages | undefined;
  readonly #opened = deferred<void>();
  #isAnswered = false;
  #closed = false;

  constructor(bus: Bus, parts: InboxParts) {
    this.#bus = bus;
    this.#parts = parts;
    this.#subscription = bus.subscribe(bus.subject("order", parts.worker), (order) =>
      this.#hear(order as Order),
    );
    void this.#pull();
  }

  /** Resolves when the queue is read for the first time; rejects when it cannot be for too long. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Whether the servers have answered when the queue was read the last time. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#subscription.unsubscribe();
    await this.#pulling?.close();
    await this.#bus.streams.consumers.delete(this.#bus.queue.name, this.#parts.worker).catch(() => undefined);
  }

  #hear(order: Order): void {
    if (this.#running >= this.#parts.slots || this.#held.length > 0) return;
    if (this.#isBehind || !this.#parts.isOpen()) return;
    const done = this.#parts.begin(order);
    if (done === undefined) return;
    this.#ahead.set(
      orderId(order),
      this.#counted(done).catch((error: unknown) => this.#refused(error)),
    );
  }

  /** Reads the queue as long as it lives. A consumer or a queue that somebody deleted is made anew. */
  async #pull(): Promise<void> {
    const { worker, log, renewed } = this.#parts;
    const patientUntil = performance.now() + FIRST_READ_MS;
    for (let round = 0; !this.#closed; round += 1) {
      try {
        if (round > 0) {
          await this.#bus.queue.make();
          await renewed();
        }
        await this.#bus.streams.consumers.add(this.#bus.queue.name, this.#consumer());
        const consumer = await this.#bus.js.consumers.get(this.#bus.queue.name, worker);
        this.#pulling = await consumer.consume({
          max_messages: this.#parts.slots,
          idle_heartbeat: 1_000,
          expires: 5_000,
          abort_on_missing_resource: true,
        });
        this.#isAnswered = true;
        this.#opened.resolve();
        void this.#listen(this.#pulling);
        for await (const message of this.#pulling) void this.#take(message);
      } catch (error) {
        const what = `reading the queue of the cluster failed: ${describeThrown(error).message}`;
        if (!this.#closed) log.warn(what);
        if (performance.now() > patientUntil) this.#opened.reject(unreadable(what));
      }
      this.#isAnswered = false;
      if (!this.#closed) await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async #listen(pulling: ConsumerMessages): Promise<void> {
    for await (const { type } of pulling.status()) {
      if (type === "heartbeat") this.#isAnswered = true;
      else if (type === "heartbeats_missed") this.#isAnswered = false;
    }
  }

  async #take(message: JsMsg): Promise<void> {
    this.#isAnswered = true;
    this.#isBehind = message.info.pending > 0;
    const id = message.headers?.get(PubHeaders.MsgIdHdr) ?? "";
    const ahead = this.#ahead.peek(id);
    this.#ahead.delete(id);
    const stillRunning = setInterval(() => message.working(), STILL_RUNNING_MS);
    try {
      if (!(await (ahead?.then(() => true) ?? this.#run(message)))) return;
    } catch (error) {
      this.#refused(error);
    } finally {
      clearInterval(stillRunning);
    }
    message.ack();
  }

  /** False when it runs already: that is told by whoever runs it. */
  async #run({ subject, data, redelivered, info }: JsMsg): Promise<boolean> {
    const { body, lateMs } = await this.#bus.openAnyAge(subject, data);
    while (this.#running >= this.#parts.slots) await new Promise<void>((free) => this.#held.push(free));
    const waitedMs = Math.abs(Date.now() - millis(info.timestampNanos));
    const done = this.#parts.take(body as Order, { redelivered, waitedMs, lateMs });
    if (done !== undefined) await this.#counted(done);
    // The slot that it was woken for is free for the next.
    else this.#held.shift()?.();
    return done !== undefined;
  }

  async #counted(done: Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await done;
    } finally {
      this.#running -= 1;
      this.#held.shift()?.();
    }
  }

  /** Nobody who may send orders has sent it, or a part of it is gone: it is not run. */
  #refused(error: unknown): void {
    this.#parts.log.warn(`an order was refused: ${describeThrown(error).message}`);
  }

  #consumer() {
    const { worker, slots } = this.#parts;
    return {
      durable_name: worker,
      filter_subject: this.#bus.queue.subject(worker),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACK_WAIT_MS),
      // The servers hand out no more than there is room for: what waits can still go elsewhere.
      max_ack_pending: slots,
      inactive_threshold: nanos(60_000),
    };
  }
}

function unreadable(what: string): HermesError {
  return new HermesError(
    failure(
      "unavailable",
      what,
      `May it make consumers, and do most servers answer? ${ownCommand()} doctor looks.`,
    ),
  );
}
