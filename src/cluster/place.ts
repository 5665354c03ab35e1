import { randomUUID } from "node:crypto";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import { ownCommand } from "../base/own-command.js";
import type { CallRecord } from "../call/call-record.js";
import type { HandlerContext } from "../call/context.js";
import type { CallPlace, CallScope } from "../call/scope.js";
import type { ProcessNotice } from "../env/processes/types.js";
import type { Status } from "../registry/availability.js";
import type { Entry } from "../registry/entry.js";
import type { Runtime } from "../runtime/runtime.js";
import { describeThrown } from "../tool/thrown.js";
import { answerFor } from "./answer.js";
import { Bus } from "./bus.js";
import { Dispatch } from "./dispatch.js";
import { Leases } from "./leases.js";
import type { NodeAnswer, ToNode, ToWorker, WorkerAnswer } from "./messages.js";
import { Roster } from "./roster.js";
import { SharedLogs } from "./shared-logs.js";

const READY: Status = { ok: true };
/** How often a worker is asked about calls that take long. */
const CHECK_MS = 2_000;

/** The workers of a cluster as the place where the calls of this machine's sessions run. */
export class ClusterPlace implements CallPlace {
  readonly id = randomUUID().slice(0, 8);
  readonly bus: Bus;
  readonly roster: Roster;
  readonly leases: Leases;
  readonly #runtime: Runtime;
  readonly #running = new Map<string, Dispatch>();
  readonly #checks: NodeJS.Timeout;
  readonly #subscription: { unsubscribe(): void };
  #shared: SharedLogs | undefined;
  #count = 0;

  private constructor(
    runtime: Runtime,
    parts: { readonly bus: Bus; readonly roster: Roster; readonly leases: Leases },
  ) {
    this.#runtime = runtime;
    this.bus = parts.bus;
    this.roster = parts.roster;
    this.leases = parts.leases;
    this.roster.onLost = (id) => {
      for (const dispatch of [...this.#running.values()]) dispatch.lost(id);
    };
    this.roster.onChange = () => runtime.registry.touch();
    this.bus.onReconnect = () => void this.#check();
    this.#subscription = this.bus.subscribe(this.bus.subject("node", this.id), (body) =>
      this.#hear(body as ToNode),
    );
    this.#checks = setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  /** From now on sessions of the runtime run their calls on the workers of its cluster. */
  static async join(runtime: Runtime): Promise<ClusterPlace> {
    const bus = await Bus.open(runtime.config.values.cluster, runtime.log);
    const [roster, leases] = await Promise.all([Roster.open(bus), Leases.open(bus)]).catch(async (error) => {
      await bus.close();
      throw error;
    });
    const place = new ClusterPlace(runtime, { bus, roster, leases });
    const days = runtime.config.values.sessions.retention_days;
    // Left open, its connection would keep the process alive that could not join.
    place.#shared = await SharedLogs.open(bus, { node: place.id, days }).catch(async (error: unknown) => {
      await place.close();
      throw error;
    });
    runtime.sharedLog = place.#shared;
    runtime.place = place;
    runtime.beforeClose(() => place.close());
    return place;
  }

  statusOf(entry: Entry): Status | undefined {
    if (!goes(entry)) return undefined;
    const hash = this.hashFor(entry);
    if (this.roster.serves(entry.name, hash)) return READY;
    if (hash !== undefined) return undefined;
    return {
      ok: false,
      awaited: true,
      reason: "no worker of the cluster has it now",
      fix: `${ownCommand()} worker --cluster … starts one; ${ownCommand()} cluster status shows who is there`,
    };
  }

  /** What a worker must have under this name; of built-in tools any version will do. */
  hashFor(entry: Entry): string | undefined {
    return entry.provenance.kind === "builtin" ? undefined : hashOf(entry);
  }

  run(call: CallRecord, context: HandlerContext): Promise<unknown> | undefined {
    if (this.statusOf(call.entry) === undefined) return undefined;
    this.#count += 1;
    const uid = `${this.id}-${this.#count}`;
    const dispatch = new Dispatch(this, { uid, call, context });
    this.#running.set(uid, dispatch);
    return dispatch.run().finally(() => this.#running.delete(uid));
  }

  /** How long a call waits for a worker that can run it. */
  get waitMs(): number {
    return this.#runtime.config.values.cluster.wait_seconds * 1000;
  }

  get labels(): readonly string[] {
    return this.#runtime.config.values.cluster.labels;
  }

  tell(worker: string, message: ToWorker): Promise<WorkerAnswer> {
    return this.bus.request(this.bus.subject("worker", worker), message, CHECK_MS) as Promise<WorkerAnswer>;
  }

  takeNotices(session: string): readonly ProcessNotice[] {
    return this.leases.takeNotices(session);
  }

  /** One that no other machine can know of needs nothing before its first call. */
  async beginSession(scope: CallScope): Promise<void> {
    if (scope.conversations.length === 0) return;
    try {
      await this.leases.of(scope);
    } catch (error) {
      const why = describeThrown(error).message;
      this.#runtime.log.warn(
        `the cluster did not say where the session stood: ${why}; its first call asks again`,
      );
    }
  }

  endSession(session: string): void {
    for (const worker of this.leases.end(session))
      this.tell(worker, { kind: "endSession", session }).catch(() => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.#checks);
    for (const session of this.leases.sessions()) this.endSession(session);
    this.#runtime.place = undefined;
    this.#runtime.sharedLog = undefined;
    this.#shared?.close();
    this.#subscription.unsubscribe();
    this.roster.close();
    await this.leases.settled();
    await this.bus.close();
  }

  async #hear(message: ToNode): Promise<unknown> {
    switch (message.kind) {
      case "outcome":
        this.#running.get(message.outcome.uid)?.settle(message.outcome);
        return undefined;
      case "progress":
        this.#wanted(message)?.context.progress(message.progress);
        return undefined;
      case "event":
        this.#runtime.events.emit(message.event);
        return undefined;
      case "notices":
        this.leases.addNotices(message.session, message.notices);
        return undefined;
      case "wanted":
        return { kind: "wanted", wanted: this.#wanted(message) !== undefined } satisfies NodeAnswer;
      case "approve":
      case "ask":
        return answerFor(message, { dispatch: this.#wanted(message), log: this.#runtime.log });
    }
  }

  /** Whoever waits for this very attempt. */
  #wanted({ uid, attempt }: { readonly uid: string; readonly attempt: number }): Dispatch | undefined {
    const dispatch = this.#running.get(uid);
    return dispatch?.isWanted(attempt) === true ? dispatch : undefined;
  }

  /** What got lost on the way is found by asking: an outcome is sent again, an order that never arrived goes anew. */
  async #check(): Promise<void> {
    const byWorker = new Map<string, Dispatch[]>();
    for (const dispatch of this.#running.values()) {
      if (dispatch.worker === undefined || dispatch.sinceSentMs < CHECK_MS) continue;
      dispatch.remindCancel();
      byWorker.set(dispatch.worker, [...(byWorker.get(dispatch.worker) ?? []), dispatch]);
    }
    await Promise.all(
      [...byWorker].map(async ([worker, dispatches]) => {
        try {
          const uids = dispatches.map(({ uid }) => uid);
          const answer = await this.tell(worker, { kind: "check", uids });
          if (answer.kind !== "check") return;
          // Some may be on another one by now.
          const here = dispatches.filter((dispatch) => dispatch.worker === worker);
          for (const dispatch of here) if (answer.forgotten.includes(dispatch.uid)) dispatch.forgotten();
          // What waits for a worker that is leaving need not wait for it.
          const waits = this.roster.get(worker)?.beat.state === "ready";
          await Promise.all(
            here.map((dispatch) =>
              answer.missing.includes(dispatch.uid) ? dispatch.missing({ waits }) : dispatch.begun(),
            ),
          );
        } catch (error) {
          this.#runtime.log.debug(`worker ${worker} does not answer: ${describeThrown(error).message}`);
        }
      }),
    );
  }
}

/** Whether a tool may run on another machine at all. */
export function goes(entry: Entry): boolean {
  return entry.host === undefined && entry.interactive !== true && entry.stays !== true;
}

const hashes = new WeakMap<Entry, string>();

/** Two machines mean the same tool when it takes and may do the same. */
export function hashOf(entry: Entry): string {
  const known = hashes.get(entry);
  if (known !== undefined) return known;
  const { name, parameters, permissions } = entry;
  const hash = sha256(canonicalJson({ name, parameters, permissions })).slice(0, 16);
  hashes.set(entry, hash);
  return hash;
}
