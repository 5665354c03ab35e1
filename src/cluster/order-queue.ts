import {
  type JetStreamManager,
  PubHeaders,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Bus } from "./bus.js";

const HOUR_MS = 3_600_000;
/** How long one try to put an order into it takes. */
const ENQUEUE_MS = 2_000;

/** The stream that orders wait in, each for one worker. */
export class OrderQueue {
  /** Of the stream. */
  readonly name: string;
  readonly #bus: Bus;
  readonly #replicas: number;

  constructor(bus: Bus, settings: { readonly name: string; readonly replicas: number }) {
    this.#bus = bus;
    this.name = `${settings.name.toUpperCase()}_CALLS`;
    this.#replicas = settings.replicas;
  }

  /** Unless it is there. */
  async make(): Promise<void> {
    await ensureStream(this.#bus.streams, {
      name: this.name,
      subjects: [this.subject("*")],
      retention: RetentionPolicy.Workqueue,
      num_replicas: this.#replicas,
      max_age: nanos(HOUR_MS),
      duplicate_window: nanos(120_000),
    });
  }

  subject(worker: string): string {
    return this.#bus.subject("calls", worker);
  }

  /** Resolves with its number when the servers have it; the same `id` twice is one message. */
  async add(
    order: unknown,
    { worker, id }: { readonly worker: string; readonly id: string },
  ): Promise<number> {
    // Sent into a lost connection, it would be kept and sent when nobody waits for it any more.
    if (!this.#bus.isConnected) throw new NotSentError("the NATS servers cannot be reached");
    try {
      const subject = this.subject(worker);
      const packed = await this.#bus.pack(subject, order);
      const { seq } = await this.#bus.js.publish(subject, packed, { msgID: id, timeout: ENQUEUE_MS });
      return seq;
    } catch (error) {
      // Nobody was there to take it, which the servers know at once.
      if (error instanceof Error && error.name === "JetStreamNotEnabled")
        throw new NotSentError("nobody leads the queue");
      throw error;
    }
  }

  /** Takes a message out: that of this number, if it still is the one of this id. */
  async withdraw(seq: number, id: string): Promise<void> {
    if (await this.has(seq, id)) await this.#bus.streams.streams.deleteMessage(this.name, seq);
  }

  /**
   * Whether the message still waits to be taken, or to be told done with. A queue that was deleted and made anew
   * counts from one again, so the number alone says nothing.
   */
  async has(seq: number, id: string): Promise<boolean> {
    const found = await this.#bus.streams.streams.getMessage(this.name, { seq });
    return found?.header.get(PubHeaders.MsgIdHdr) === id;
  }

  /** Calls that wait for a worker to take them. */
  async waiting(): Promise<number> {
    let sum = 0;
    for await (const { num_pending } of this.#bus.streams.consumers.list(this.name)) sum += num_pending;
    return sum;
  }
}

/** What is surely not in the queue. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

/** Makes it unless it is there. */
export async function ensureStream(
  { streams }: JetStreamManager,
  wanted: Partial<StreamConfig> & { readonly name: string },
): Promise<StreamInfo> {
  try {
    return await streams.info(wanted.name);
  } catch {
    return streams.add({ ...wanted, storage: StorageType.File });
  }
}
