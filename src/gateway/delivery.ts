import { rm } from "node:fs/promises";
import { pause } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import type { Logger } from "../observe/log.js";
import type { Gateway, SendOutcome } from "./gateway.js";
import type { GatewayStore } from "./gateway-store.js";
import type { OutboxRow } from "./outbox.js";

/** Said before a part that may have arrived already, where the platform would not notice. */
export const REPEAT_NOTE = "(Perhaps a second time: the connection broke while this was on its way.)\n";

/** How often it is looked for what other processes have put into the outbox. */
const LOOK_EVERY_MS = 1_000;
/** Another process has the part in its hands. */
const HELD_WAIT_MS = 200;
/** A part that nobody would take for this long is given up, and that is reported. */
const GIVE_UP_MS = 24 * 3_600_000;
/** What is on its way at the end is waited for: cut off, nobody would know whether it arrived. */
const FINISH_MS = 5_000;

export interface DeliveryParts {
  readonly gateway: Gateway;
  readonly store: GatewayStore;
  readonly log: Logger;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** Nobody will get this part. */
  onFailed(seq: number): void;
}

/** Sends what stands in the outbox: one queue per chat, in order, no faster than the platform likes. */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  #look: NodeJS.Timeout | undefined;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** What an earlier process has left, and what others put there from now on. */
  start(): void {
    const { store, gateway } = this.#parts;
    const look = () => {
      for (const chat of store.outbox.openChats(gateway.name)) this.wake(chat);
    };
    look();
    this.#look = setInterval(look, LOOK_EVERY_MS).unref();
  }

  /** There is something for this chat. */
  wake(chat: string): void {
    if (this.#lanes.has(chat) || this.#stop.signal.aborted) return;
    const lane = this.#lane(chat)
      .catch(async (error: unknown) => {
        this.#parts.log.error(`${this.#parts.gateway.name}: ${messageOf(error)}`);
        await pause(this.#parts.backoff.maxMs, this.#stop.signal);
      })
      .finally(() => {
        this.#lanes.delete(chat);
        // Added between the last look and now.
        if (this.#next(chat) !== undefined) this.wake(chat);
      });
    this.#lanes.set(chat, lane);
  }

  async stop(): Promise<void> {
    clearInterval(this.#look);
    this.#stop.abort(new Error("the gateway stops"));
    const cut = setTimeout(() => this.#cut.abort(new Error("the gateway stops")), FINISH_MS);
    await Promise.all(this.#lanes.values());
    clearTimeout(cut);
  }

  #next(chat: string): OutboxRow | undefined {
    if (this.#stop.signal.aborted) return undefined;
    return this.#parts.store.outbox.next(this.#parts.gateway.name, chat);
  }

  async #lane(chat: string): Promise<void> {
    const { gateway, backoff } = this.#parts;
    let failures = 0;
    for (let row = this.#next(chat); row !== undefined; row = this.#next(chat)) {
      const outcome = await this.#send(row);
      if (outcome === undefined) {
        await pause(HELD_WAIT_MS, this.#stop.signal);
        continue;
      }
      await this.#note(row, outcome);
      const waits = !outcome.sent && outcome.retry === "later";
      failures = waits ? failures + 1 : 0;
      const patience = Math.min(backoff.firstMs * 2 ** (failures - 1), backoff.maxMs);
      await pause(waits ? (outcome.afterMs ?? patience) : gateway.traits.paceMs, this.#stop.signal);
    }
  }

  /** Undefined while somebody else sends it. */
  async #send(row: OutboxRow): Promise<SendOutcome | undefined> {
    const { gateway, store } = this.#parts;
    if (Date.now() - row.createdAt > GIVE_UP_MS)
      return { sent: false, retry: "never", message: "it could not be sent for a day" };
    const { seq, uid, part, plain } = row;
    // Only one whose end was never seen is found in this state here.
    const mayRepeat = row.state === "sending" && !gateway.traits.knowsRepeats && part.replaces === undefined;
    const text = mayRepeat ? REPEAT_NOTE + part.text : part.text;
    if (!(await store.write(() => store.outbox.sending(seq)))) return undefined;
    try {
      return await gateway.send({ ...part, id: `hermes-${uid}`, text, plain }, this.#cut.signal);
    } catch (error) {
      return { sent: false, retry: "later", unsure: true, message: messageOf(error) };
    }
  }

  async #note(row: OutboxRow, outcome: SendOutcome): Promise<void> {
    const { store, gateway, log } = this.#parts;
    const { seq, plain } = row;
    await store.write(() => {
      if (outcome.sent) store.outbox.sent(seq, outcome.ref);
      else if (isHopeless(outcome, plain)) store.outbox.failed(seq, outcome.message);
      else {
        // What may have arrived once may have arrived whatever became of the next attempt.
        const isUnsure = outcome.unsure === true || row.state === "sending";
        store.outbox.again(seq, { plain: outcome.retry === "plain", isUnsure });
      }
    });
    const isOver = outcome.sent || isHopeless(outcome, plain);
    if (isOver && row.part.file !== undefined) await rm(row.part.file.path, { force: true });
    if (!outcome.sent && isOver) {
      log.error(`${gateway.name}: a message to ${row.part.chat} was not delivered: ${outcome.message}`);
      this.#parts.onFailed(seq);
    }
  }
}

/** What is refused as plain characters too will be refused always. */
function isHopeless(outcome: Extract<SendOutcome, { sent: false }>, plain: boolean): boolean {
  return outcome.retry === "never" || (outcome.retry === "plain" && plain);
}
