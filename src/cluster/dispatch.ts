import { setTimeout as pause } from "node:timers/promises";
import type { CallRecord } from "../call/call-record.js";
import type { HandlerContext } from "../call/context.js";
import { ToolError } from "../tool/errors.js";
import { ToolResult } from "../tool/result.js";
import { Attempt, type Ending } from "./attempt.js";
import {
  deadLetter,
  lostWhileItRan,
  neverBegun,
  nobodyCan,
  notTaken,
  standsElsewhere,
} from "./call-errors.js";
import type { KnownThere, Lease } from "./leases.js";
import { type Order, type Outcome, whatIsTouched } from "./messages.js";
import type { ClusterPlace } from "./place.js";
import type { Known } from "./roster.js";

/** After so many workers that were lost with it a call that changes nothing is not tried again: it may be what ends them. */
const MAX_LOST = 3;
/** So often it is sent on when workers decline it. */
const MAX_DECLINED = 20;
/** A worker that has declined something is left alone for a while when there are others. */
const AVOID_MS = 5_000;

/**
 * One call on its way through the cluster, to its one outcome. What an attempt that was given up still says settles
 * nothing: each has a number, and only the latest counts.
 */
export class Dispatch {
  readonly uid: string;
  readonly context: HandlerContext;
  readonly call: CallRecord;
  readonly #place: ClusterPlace;
  #attempts = 0;
  /** The one that is under way. */
  #attempt: Attempt | undefined;
  #isHeld = false;

  constructor(
    place: ClusterPlace,
    parts: { readonly uid: string; readonly call: CallRecord; readonly context: HandlerContext },
  ) {
    this.#place = place;
    this.uid = parts.uid;
    this.call = parts.call;
    this.context = parts.context;
    this.context.onAbort(() => this.#attempt?.cancel());
  }

  get onlyReads(): boolean {
    return this.call.effects.every(({ mode }) => mode === "read");
  }

  /** The one that has it now. */
  get worker(): string | undefined {
    return this.#attempt?.worker;
  }

  get sinceSentMs(): number {
    return this.#attempt?.sinceSentMs ?? 0;
  }

  async run(): Promise<unknown> {
    const { call } = this;
    call.began = false;
    // What is sent may change something at once.
    await call.mayChange;
    const lease = await this.#leaseAsJudged();
    const lost: string[] = [];
    for (let declined = 0; ; ) {
      // Until it is on its way nothing has begun.
      call.began = false;
      const worker = await this.#choose(lease);
      const sent: KnownThere = { spec: lease.spec, taskVersion: lease.task.version };
      const ending = await this.#tryOn(worker, lease);
      if (ending === "missing") {
        declined += 1;
        if (declined > MAX_DECLINED) throw neverBegun(worker.record.id, MAX_DECLINED);
        continue;
      }
      if (typeof ending === "object" && "outcome" in ending) {
        const { outcome } = ending;
        if (outcome.declined === undefined || declined >= MAX_DECLINED)
          return this.#accept(outcome, { lease, sent });
        declined += 1;
        await this.#goElsewhere(worker, { lease, why: outcome.declined });
        continue;
      }
      lost.push(worker.record.id);
      if (this.onlyReads && lost.length < MAX_LOST) {
        this.context.beginAnew();
        continue;
      }
      if (ending !== "lost") {
        if (!ending.mayHaveArrived || this.onlyReads) call.began = false;
        throw notTaken(ending, { isUnknown: call.began });
      }
      if (this.onlyReads) throw deadLetter(lost);
      call.worker = worker.record.id;
      throw lostWhileItRan(call.effects, worker.record.id);
    }
  }

  /** A conversation that another machine had may stand somewhere else than where this call was judged. */
  async #leaseAsJudged(): Promise<Lease> {
    const { scope } = this.call;
    const { version } = scope.task;
    const lease = await this.#place.leases.of(scope);
    if (scope.task.version === version) return lease;
    throw standsElsewhere(scope.task.cwd);
  }

  settle(outcome: Outcome): void {
    if (outcome.attempt === this.#attempt?.number) this.#attempt.end({ outcome });
  }

  /** Its worker went without a word. */
  lost(worker: string): void {
    if (worker === this.worker) this.#attempt?.end("lost");
  }

  /** Its worker has never seen it. */
  async missing(how: { readonly waits: boolean }): Promise<void> {
    const attempt = this.#attempt;
    if ((await attempt?.missing(how)) === true && attempt === this.#attempt) this.#hold(true);
  }

  /** Its worker has begun it, or is done with it. */
  begun(): void {
    this.#hold(false);
  }

  /** The tool's own time stands still while its order waits for a slot; the worker counts it itself once it has begun. */
  #hold(held: boolean): void {
    if (held === this.#isHeld) return;
    this.#isHeld = held;
    this.context.wait(held);
  }

  /** Its worker has it no longer: it ran there, and nobody knows what came of it. */
  forgotten(): void {
    this.#attempt?.end("lost");
  }

  isWanted(attempt: number): boolean {
    return attempt === this.#attempt?.number && !this.context.aborted;
  }

  /** Tells the worker once more when the first time was lost. */
  remindCancel(): void {
    if (this.context.aborted) this.#attempt?.cancel();
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
        throw nobodyCan(roster.whyNot(wanted));
      }
      // The tool's own time has not begun.
      this.context.wait(true);
      await roster.changed(left);
      this.context.wait(false);
    }
  }

  async #tryOn(known: Known, lease: Lease): Promise<Ending> {
    const { call, context } = this;
    try {
      if (context.aborted) throw new ToolError("interrupted before it began", { code: "cancelled" });
      call.began = true;
      const { id, slots } = known.record;
      this.#bind(id, lease);
      this.#attempts += 1;
      const hasRoom = known.sent <= slots;
      this.#hold(!hasRoom);
      this.#attempt = new Attempt(this.#place, {
        worker: id,
        order: this.#orderFor(id, lease),
        hasRoom,
        isAborted: () => context.aborted,
      });
      return await this.#attempt.run();
    } finally {
      known.sent -= 1;
      this.#attempt = undefined;
      this.#hold(false);
    }
  }

  #bind(worker: string, lease: Lease): void {
    const { leases, roster } = this.#place;
    const movedFrom = [...lease.workers.keys()].filter((each) => roster.get(each) === undefined);
    leases.bind(lease, worker, (each) => roster.get(each) !== undefined);
    if (movedFrom.length > 0) this.#noteMove(movedFrom, worker);
  }

  #orderFor(worker: string, lease: Lease): Order {
    const { call } = this;
    const { spec, task } = lease;
    const known = lease.workers.get(worker);
    const isKnown = known?.spec === spec && known.taskVersion === task.version;
    return {
      uid: this.uid,
      attempt: this.#attempts,
      node: this.#place.id,
      session: lease.key,
      ...(!isKnown && { spec, task: { cwd: task.cwd, exported: task.exported, version: task.version } }),
      id: call.id,
      tool: call.entry.name,
      hash: this.#place.hashFor(call.entry),
      args: call.args,
      traceparent: call.trace,
      isKept: !this.onlyReads && call.scope.services.journal.enabled,
      ...(isApproved(call) && { approved: whatIsTouched(call.effects, call.scope.info.cwd) }),
    };
  }

  #accept(outcome: Outcome, { lease, sent }: { readonly lease: Lease; readonly sent: KnownThere }): unknown {
    const { call } = this;
    if (outcome.task !== undefined) {
      lease.task.resume(outcome.task);
      this.#place.leases.save(lease);
    }
    if (outcome.declined === undefined) noteKnown(outcome, { lease, sent });
    call.worker = outcome.worker;
    call.began = outcome.began;
    call.addUntrusted(outcome.untrustedFrom);
    call.usage = outcome.usage ?? call.usage;
    call.model = outcome.model ?? call.model;
    call.retries += outcome.retries;
    lease.notices.push(...outcome.notices);
    const output = outcome.isToolResult === true ? toolResult(outcome.output) : outcome.output;
    if (outcome.ended === undefined) return output;
    call.output = output;
    const { code, message, hint } = outcome.ended;
    throw new ToolError(message, { code, hint });
  }

  #noteMove(from: readonly string[], to: string): void {
    this.#note(
      `The session is on worker ${to} now; ${from.join(", ")} is gone, with the background programs it ran.`,
    );
  }

  #noteEnd(worker: string): void {
    this.#note(
      `Worker ${worker} had ended the session, which nobody had used for long, with its background programs.`,
    );
  }

  #note(text: string): void {
    this.call.notices = [...this.call.notices, text];
  }

  /** Others first, and the session with them; one that only lacks the session is told of it, one without the tool left alone. */
  async #goElsewhere(
    known: Known,
    { lease, why }: { readonly lease: Lease; readonly why: NonNullable<Outcome["declined"]> },
  ): Promise<void> {
    const { id } = known.record;
    if (why === "session") {
      if (lease.workers.get(id) !== undefined) this.#noteEnd(id);
      lease.workers.set(id, undefined);
      return;
    }
    if (why === "tool") return this.#place.roster.lacks(known, this.call.entry.name);
    known.avoidedUntil = performance.now() + AVOID_MS;
    await pause(50);
  }
}

/** Whether a person, a reviewer or a grant of theirs has let it pass, rather than no rule having asked. */
function isApproved({ decision, judged }: CallRecord): boolean {
  if (decision?.answer !== undefined) return true;
  return (judged?.grantsUsed?.length ?? 0) > 0 || decision?.rule.startsWith("yolo:") === true;
}

/** What its worker knows since this came; another call of the session may have told of something later meanwhile. */
function noteKnown(
  { worker, task }: Outcome,
  { lease, sent }: { readonly lease: Lease; readonly sent: KnownThere },
): void {
  if (!lease.workers.has(worker)) return;
  const before = lease.workers.get(worker)?.taskVersion ?? 0;
  const taskVersion = task === undefined ? Math.max(before, sent.taskVersion) : lease.task.version;
  // Not what the session is by now: its tools may be others since the order was sent.
  lease.workers.set(worker, { spec: sent.spec, taskVersion });
}

function toolResult(fields: unknown): ToolResult {
  return new ToolResult(fields as ConstructorParameters<typeof ToolResult>[0]);
}
