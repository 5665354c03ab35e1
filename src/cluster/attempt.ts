import { setTimeout as pause } from "node:timers/promises";
import { deferred } from "../base/deferred.js";
import { describeThrown } from "../tool/thrown.js";
import { type Order, type Outcome, orderId } from "./messages.js";
import { NotSentError } from "./order-queue.js";
import type { ClusterPlace } from "./place.js";

/** The servers may be choosing a new leader: the same message is offered again for so long, and taken once. */
const ENQUEUE_MS = 15_000;
const ENQUEUE_PAUSE_MS = 200;
/** An order that its worker has been told goes into the queue when it is not answered so soon. */
const QUEUED_AFTER_MS = 25;

/** The queue did not take it; whether the worker may have got it all the same. */
export interface NotTaken {
  readonly refusal: string;
  readonly mayHaveArrived: boolean;
}

/** `missing`: it will never begin where it was sent to. */
export type Ending = { readonly outcome: Outcome } | NotTaken | "lost" | "missing";

interface AttemptParts {
  readonly worker: string;
  readonly order: Order;
  /** Where the worker has room; elsewhere it would have to wait its turn in the queue anyway. */
  readonly hasRoom: boolean;
  /** Whether the call was interrupted meanwhile. */
  readonly isAborted: () => boolean;
}

/** An order on its way to one worker, and what becomes of it there. */
export class Attempt {
  readonly #place: ClusterPlace;
  readonly #parts: AttemptParts;
  readonly #sentAt = performance.now();
  readonly #ended = deferred<Ending>();
  /** Its number in the queue, once the servers have it. */
  #seq: number | undefined;
  #isOver = false;

  constructor(place: ClusterPlace, parts: AttemptParts) {
    this.#place = place;
    this.#parts = parts;
  }

  get worker(): string {
    return this.#parts.worker;
  }

  get number(): number {
    return this.#parts.order.attempt;
  }

  get sinceSentMs(): number {
    return performance.now() - this.#sentAt;
  }

  async run(): Promise<Ending> {
    const { order, worker, hasRoom } = this.#parts;
    const { bus, roster } = this.#place;
    let soon: NodeJS.Timeout | undefined;
    try {
      const isTold = hasRoom && bus.tellAtOnce(bus.subject("order", worker), order);
      const enqueue = () => {
        this.#enqueue(isTold).then((given) => given && this.end(given), this.#ended.reject);
      };
      // The queue is for what was not heard, and for a worker without room; what may be begun is on the disk here already.
      if (isTold) soon = setTimeout(enqueue, QUEUED_AFTER_MS);
      else enqueue();
      return await this.#ended.promise;
    } finally {
      clearTimeout(soon);
      this.#isOver = true;
      // Of a worker that is gone: nobody else takes it, and nobody may.
      if (this.#seq !== undefined && roster.get(worker) === undefined)
        bus.queue.withdraw(this.#seq, orderId(order)).catch(() => undefined);
    }
  }

  end(ending: Ending): void {
    this.#ended.resolve(ending);
  }

  /** Its worker has never seen it; true while it waits in the queue. Else it may go elsewhere, once it cannot begin there. */
  async missing({ waits }: { readonly waits: boolean }): Promise<boolean> {
    if (this.#seq === undefined) return false;
    if (waits && (await this.#place.bus.queue.has(this.#seq, orderId(this.#parts.order)))) return true;
    if (await this.#fence()) this.end("missing");
    return false;
  }

  cancel(): void {
    const { worker, order } = this.#parts;
    this.#place.tell(worker, { kind: "cancel", uid: order.uid }).catch(() => undefined);
  }

  /** True when its worker has not begun it and never will, whatever the queue still brings it. */
  async #fence(): Promise<boolean> {
    if (this.#isOver) return false;
    const { worker, order } = this.#parts;
    const { uid, attempt } = order;
    try {
      const answer = await this.#place.tell(worker, { kind: "fence", uid, attempt });
      return answer.kind === "fence" && answer.fenced;
    } catch {
      return false;
    }
  }

  /** Answers only when it surely came to nothing, or when nobody knows. */
  async #enqueue(isTold: boolean): Promise<NotTaken | undefined> {
    const { order, worker, isAborted } = this.#parts;
    const { queue } = this.#place.bus;
    const until = performance.now() + ENQUEUE_MS;
    let mayHaveArrived = isTold;
    for (;;) {
      try {
        this.#seq = await queue.add(order, { worker, id: orderId(order) });
        return undefined;
      } catch (error) {
        if (this.#isOver) return undefined;
        mayHaveArrived ||= !(error instanceof NotSentError);
        if (performance.now() > until || isAborted())
          return this.#giveUp({ refusal: describeThrown(error).message, mayHaveArrived });
      }
      await pause(ENQUEUE_PAUSE_MS);
      if (this.#isOver) return undefined;
    }
  }

  /** The queue did not say that it has it. The worker can still say that it will not begin it, or that it has. */
  async #giveUp(notTaken: NotTaken): Promise<NotTaken | undefined> {
    if (!notTaken.mayHaveArrived) return notTaken;
    if (await this.#fence()) return { ...notTaken, mayHaveArrived: false };
    const { worker, order } = this.#parts;
    const answer = await this.#place
      .tell(worker, { kind: "check", uids: [order.uid] })
      .catch(() => undefined);
    if (answer?.kind === "check" && answer.missing.length === 0) return undefined;
    this.cancel();
    return notTaken;
  }
}
