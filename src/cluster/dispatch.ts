import { setTimeout as pause } from "node:timers/promises";
import { deferred } from "../base/deferred.js";
import type { CallRecord } from "../call/call-record.js";
import type { HandlerContext } from "../call/context.js";
import { ToolError } from "../tool/errors.js";
import { ToolResult } from "../tool/result.js";
import { describeThrown } from "../tool/thrown.js";
import { NotSentError } from "./bus.js";
import type { Lease } from "./leases.js";
import { type Order, type Outcome, orderId } from "./messages.js";
import type { ClusterPlace } from "./place.js";
import type { Known } from "./roster.js";

/** After so many workers that were lost with it a call that changes nothing is not tried again: it may be what ends them. */
const MAX_LOST = 3;
/** So often it is sent on when workers decline it. */
const MAX_DECLINED = 20;
/** The servers may be choosing a new leader: the same message is offered again for so long, and taken once. */
const ENQUEUE_MS = 15_000;
const ENQUEUE_PAUSE_MS = 200;
/** A call that only reads and has been told its worker goes into the queue when it is not answered so soon. */
const QUEUED_AFTER_MS = 25;
/** A worker that has declined something is left alone for a while when there are others. */
const AVOID_MS = 5_000;

/** `missing`: it will never begin where it was sent to. `given up`: the queue did not take it. */
type Ending = { readonly outcome: Outcome } | "lost" | "missing" | "given up";

/**
 * One call on its way through the cluster, to its one outcome. What an attempt that was given up still says settles
 * nothing: each has a number, and only the latest counts.
 */
export class Dispatch {
  readonly uid: string;
  readonly context: HandlerContext;
  readonly call: CallRecord;
  readonly #place: ClusterPlace;
  #attempt = 0;
  #worker: string | undefined;
  #sentAt = 0;
  /** Its number in the queue, once the servers have it. */
  #seq: number | undefined;
  /** Whether the servers may have it although they did not say so. */
  #mayBeQueued = false;
  #refusal = "";
  #end: ((ending: Ending) => void) | undefined;

  constructor(
    place: ClusterPlace,
    parts: { readonly uid: string; readonly call: CallRecord; readonly context: HandlerContext },
  ) {
    this.#place = place;
    this.uid = parts.uid;
    this.call = parts.call;
    this.context = parts.context;
    this.context.onAbort(() => this.#cancel());
  }

  get onlyReads(): boolean {
    return this.call.effects.every(({ mode }) => mode === "read");
  }

  /** The one that has it now. */
  get worker(): string | undefined {
    return this.#worker;
  }

  get sinceSentMs(): number {
    return performance.now() - this.#sentAt;
  }

  async run(): Promise<unknown> {
    const { call } = this;
    call.began = false;
    // What is sent may change something at once.
    await call.mayChange;
    const lease = await this.#place.leases.of(call.scope);
    const { onlyReads } = this;
    for (let declined = 0, lost = 0; ; ) {
      // Until it is on its way nothing has begun.
      call.began = false;
      const worker = await this.#choose(lease);
      if (this.context.aborted) {
        worker.sent -= 1;
        throw new ToolError("interrupted before it began", { code: "cancelled" });
      }
      call.began = true;
      const ending = await this.#tryOn(worker, lease);
      if (typeof ending === "object") {
        const { outcome } = ending;
        if (outcome.declined === undefined || declined >= MAX_DECLINED) return this.#accept(outcome, lease);
        declined += 1;
        await this.#goElsewhere(worker, { lease, why: outcome.declined });
      } else if (ending !== "missing") {
        lost += 1;
        if (onlyReads && lost < MAX_LOST) continue;
        throw ending === "lost" ? this.#unknown(worker) : this.#notTaken(onlyReads);
      }
    }
  }

  settle(outcome: Outcome): void {
    if (outcome.attempt === this.#attempt) this.#end?.({ outcome });
  }

  /** Its worker went without a word. */
  lost(worker: string): void {
    if (worker === this.#worker) this.#end?.("lost");
  }

  /** Its worker has never seen it. Unless it still waits in the queue it may go elsewhere, once it cannot begin there. */
  async missing({ waits }: { readonly waits: boolean }): Promise<void> {
    const { uid } = this;
    const [attempt, seq] = [this.#attempt, this.#seq];
    if (seq === undefined) return;
    if (waits && (await this.#place.bus.isQueued(seq, orderId({ uid, attempt })))) return;
    if ((await this.#fence()) && attempt === this.#attempt) this.#end?.("missing");
  }

  /** Its worker has it no longer: it ran there, and nobody knows what came of it. */
  forgotten(): void {
    this.#end?.("lost");
  }

  isWanted(attempt: number): boolean {
    return attempt === this.#attempt && this.#end !== undefined && !this.context.aborted;
  }

  /** Tells the worker once more when the first time was lost. */
  remindCancel(): void {
    if (this.context.aborted) this.#cancel();
  }

  /** True when its worker has not begun it and never will, whatever the queue still brings it. */
  async #fence(): Promise<boolean> {
    const [worker, attempt] = [this.#worker, this.#attempt];
    if (worker === undefined) return false;
    try {
      const answer = await this.#place.tell(worker, { kind: "fence", uid: this.uid, attempt });
      return answer.kind === "fence" && answer.fenced;
    } catch {
      return false;
    }
  }

  #cancel(): void {
    if (this.#worker === undefined) return;
    this.#place.tell(this.#worker, { kind: "cancel", uid: this.uid }).catch(() => undefined);
  }

  async #choose(lease: Lease): Promise<Known> {
    const { roster, waitMs, labels } = this.#place;
    const { entry, scope } = this.call;
    const wanted = {
      tool: entry.name,
      hash: this.#place.hashFor(entry),
      labels: scope.labels ?? labels,
      environment: lease.spec.environment,
    };
    const until = performance.now() + waitMs;
    for (;;) {
      const worker = roster.choose(wanted, [...lease.workers.keys()]);
      if (worker !== undefined) {
        // Counted at once: whoever chooses in the same moment is to see it.
        worker.sent += 1;
        return worker;
      }
      const left = until - performance.now();
      if (left <= 0 || this.context.aborted) {
        throw new ToolError(`no worker of the cluster can run it: ${roster.whyNot(wanted)}`, {
          code: "unavailable",
          hint: "Who is there: hermes cluster status. Another one: hermes worker --cluster …",
        });
      }
      await roster.changed(left);
    }
  }

  async #tryOn(known: Known, lease: Lease): Promise<Ending> {
    const { id } = known.record;
    const { bus, leases, roster } = this.#place;
    const movedFrom = [...lease.workers.keys()].filter((worker) => roster.get(worker) === undefined);
    leases.bind(lease, id, (worker) => roster.get(worker) !== undefined);
    if (movedFrom.length > 0) this.#noteMove(movedFrom, id);
    this.#attempt += 1;
    this.#seq = undefined;
    this.#worker = id;
    this.#sentAt = performance.now();
    const { promise: ended, resolve: end, reject } = deferred<Ending>();
    this.#end = end;
    let soon: NodeJS.Timeout | undefined;
    try {
      const order = this.#orderFor(id, lease);
      // Where there is no room, it would have to wait its turn in the queue.
      const isTold = known.sent <= known.record.slots && bus.tellAtOnce(bus.subject("order", id), order);
      const enqueue = () => {
        this.#enqueue(order, { worker: id, isTold }).then((given) => given && end(given), reject);
      };
      // What only reads is worth nothing without whoever waits for it: no use in keeping it for a moment.
      if (isTold && this.onlyReads) soon = setTimeout(enqueue, QUEUED_AFTER_MS);
      else enqueue();
      return await ended;
    } finally {
      clearTimeout(soon);
      known.sent -= 1;
      this.#worker = undefined;
      this.#end = undefined;
      // Of a worker that is gone: nobody else takes it, and nobody may.
      if (this.#seq !== undefined && roster.get(id) === undefined)
        bus.withdraw(this.#seq, orderId({ uid: this.uid, attempt: this.#attempt })).catch(() => undefined);
    }
  }

  /** Answers only when it surely came to nothing, or when nobody knows. */
  async #enqueue(
    order: Order,
    { worker, isTold }: { readonly worker: string; readonly isTold: boolean },
  ): Promise<Ending | undefined> {
    const { bus } = this.#place;
    const subject = bus.subject("calls", worker);
    const until = performance.now() + ENQUEUE_MS;
    const isOver = () => this.#attempt !== order.attempt || this.#end === undefined;
    this.#mayBeQueued = isTold;
    for (;;) {
      try {
        const seq = await bus.enqueue(subject, order, orderId(order));
        if (!isOver()) this.#seq = seq;
        return undefined;
      } catch (error) {
        if (isOver()) return undefined;
        if (!(error instanceof NotSentError)) this.#mayBeQueued = true;
        this.#refusal = describeThrown(error).message;
        if (performance.now() > until || this.context.aborted) return this.#giveUp();
      }
      await pause(ENQUEUE_PAUSE_MS);
      if (isOver()) return undefined;
    }
  }

  /** The queue did not say that it has it. The worker can still say that it will not begin it, or that it has. */
  async #giveUp(): Promise<Ending | undefined> {
    if (!this.#mayBeQueued) return "given up";
    if (await this.#fence()) {
      this.#mayBeQueued = false;
      return "given up";
    }
    const answer = await this.#place
      .tell(this.#worker ?? "", { kind: "check", uids: [this.uid] })
      .catch(() => undefined);
    if (answer?.kind === "check" && answer.missing.length === 0) return undefined;
    this.#cancel();
    return "given up";
  }

  #orderFor(worker: string, lease: Lease): Order {
    const { call } = this;
    const isKnown = lease.workers.get(worker)?.known === true;
    return {
      uid: this.uid,
      attempt: this.#attempt,
      node: this.#place.id,
      session: lease.key,
      ...(!isKnown && { spec: lease.spec, task: lease.task ?? { cwd: call.scope.info.cwd, exported: {} } }),
      id: call.id,
      tool: call.entry.name,
      args: call.args,
      traceparent: call.trace,
      approved: isApproved(call),
    };
  }

  #accept(outcome: Outcome, lease: Lease): unknown {
    const { call } = this;
    const on = lease.workers.get(outcome.worker);
    if (on !== undefined) on.known = true;
    call.worker = outcome.worker;
    call.began = outcome.began;
    call.addUntrusted(outcome.untrustedFrom);
    call.usage = outcome.usage ?? call.usage;
    call.model = outcome.model ?? call.model;
    call.retries += outcome.retries;
    lease.notices.push(...outcome.notices);
    if (outcome.task !== undefined) {
      lease.task = outcome.task;
      call.scope.task.moveTo(outcome.task.cwd);
      this.#place.leases.save(lease);
    }
    const output = outcome.isToolResult === true ? toolResult(outcome.output) : outcome.output;
    if (outcome.ended === undefined) return output;
    call.output = output;
    const { code, message, hint } = outcome.ended;
    throw new ToolError(message, { code, hint });
  }

  #noteMove(from: readonly string[], to: string): void {
    this.call.notices = [
      ...this.call.notices,
      `The session is on worker ${to} now; ${from.join(", ")} is gone, with the background programs it ran.`,
    ];
  }

  /** Others first, and the session with them; one that only lacks the session is told of it, one without the tool left alone. */
  async #goElsewhere(
    known: Known,
    { lease, why }: { readonly lease: Lease; readonly why: NonNullable<Outcome["declined"]> },
  ): Promise<void> {
    const { id } = known.record;
    if (why === "session") {
      lease.workers.set(id, { known: false });
      return;
    }
    if (why === "tool") return this.#place.roster.lacks(known, this.call.entry.name);
    lease.workers.delete(id);
    known.avoidedUntil = performance.now() + AVOID_MS;
    await pause(50);
  }

  #notTaken(onlyReads: boolean): ToolError {
    const message = `the queue of the cluster did not take the call: ${this.#refusal}`;
    if (!this.#mayBeQueued || onlyReads) {
      this.call.began = false;
      return new ToolError(message, {
        code: "unavailable",
        hint: "It was not begun and can be called again.",
      });
    }
    return new ToolError(message, {
      code: "unknown",
      hint: "It may have been taken all the same. Look at what it would have changed before you repeat it.",
    });
  }

  #unknown({ record }: Known): ToolError {
    this.call.worker = record.id;
    const effects = this.call.effects.filter(({ mode }) => mode !== "read");
    const told = effects.slice(0, 5).map(({ action, resource }) => `${action} ${resource.slice(0, 200)}`);
    return new ToolError(`worker ${record.id} was lost while it ran this; what it did is unknown`, {
      code: "unknown",
      hint: `It may have done all, some or none of this: ${told.join("; ")}. It was not run again. Look before you repeat it.`,
    });
  }
}

/** Whether a person, a reviewer or a grant of theirs has let it pass, rather than no rule having asked. */
function isApproved({ decision, judged }: CallRecord): boolean {
  if (decision?.answer !== undefined) return true;
  return (judged?.grantsUsed?.length ?? 0) > 0 || decision?.rule.startsWith("yolo:") === true;
}

function toolResult(fields: unknown): ToolResult {
  return new ToolResult(fields as ConstructorParameters<typeof ToolResult>[0]);
}
