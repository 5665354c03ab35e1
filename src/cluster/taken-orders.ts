import { LruMap } from "../base/lru.js";
import type { Order, Outcome } from "./messages.js";

/** So many calls are known to have been here: many more than come while one may still be asked for. */
const REMEMBERED = 200_000;
/** Outcomes that can be told once more, and how much of them. */
const KEPT_OUTCOMES = 2_000;
const KEPT_BYTES = 64 * 1024 * 1024;

/** A call that runs here. */
export interface Taken {
  readonly order: Order;
  readonly abort: AbortController;
  /** The latest that asked for it. */
  attempt: number;
}

/** What a worker knows of the calls it was sent, so that none begins twice, whatever comes twice or too late. */
export class TakenOrders {
  /** Never forgotten while they run. */
  readonly running = new Map<string, Taken>();
  readonly #begun = new LruMap<string, true>(REMEMBERED);
  readonly #outcomes = new LruMap<
    string,
    { readonly node: string; outcome: Outcome; readonly bytes: number }
  >(KEPT_OUTCOMES);
  readonly #fences = new LruMap<string, number>(REMEMBERED);
  #bytes = 0;

  begin(order: Order): Taken {
    const taken: Taken = { order, abort: new AbortController(), attempt: order.attempt };
    this.running.set(order.uid, taken);
    this.#begun.set(order.uid, true);
    return taken;
  }

  /** A call that was declined may come again, but not the same attempt at it. */
  end({ order: { uid, node }, attempt }: Taken, ended: Outcome): Outcome {
    const outcome = { ...ended, attempt };
    this.running.delete(uid);
    if (outcome.declined !== undefined) {
      this.#begun.delete(uid);
      this.fence(uid, attempt);
    }
    this.#keep(node, outcome);
    return outcome;
  }

  #keep(node: string, outcome: Outcome): void {
    const bytes = roughSize(outcome.output);
    this.#bytes += bytes - (this.#outcomes.peek(outcome.uid)?.bytes ?? 0);
    if (this.#outcomes.size >= KEPT_OUTCOMES && !this.#outcomes.has(outcome.uid)) this.#dropOldest();
    this.#outcomes.set(outcome.uid, { node, outcome, bytes });
    while (this.#bytes > KEPT_BYTES && this.#outcomes.size > 1) this.#dropOldest();
  }

  /** Whether it runs or ran here. */
  hasBegun(uid: string): boolean {
    return this.#begun.peek(uid) === true || this.running.has(uid);
  }

  outcomeOf(uid: string): { readonly node: string; outcome: Outcome } | undefined {
    return this.#outcomes.get(uid);
  }

  /** False when it has begun: then it is too late for that. */
  fence(uid: string, attempt: number): boolean {
    if (this.hasBegun(uid)) return false;
    this.#fences.set(uid, Math.max(attempt, this.#fences.peek(uid) ?? 0));
    return true;
  }

  isFenced({ uid, attempt }: Order): boolean {
    return attempt <= (this.#fences.peek(uid) ?? 0);
  }

  #dropOldest(): void {
    this.#bytes -= this.#outcomes.dropOldest()?.bytes ?? 0;
  }
}

/** Of the texts and bytes in it, which are all that can be large. */
function roughSize(value: unknown, depth = 8): number {
  if (typeof value === "string") return value.length * 2;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (depth === 0) return 64;
  return Object.values(value).reduce<number>((sum, item) => sum + roughSize(item, depth - 1), 64);
}
