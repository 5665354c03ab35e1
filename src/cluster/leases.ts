import type { KV } from "@nats-io/kv";
import type { CallScope } from "../call/scope.js";
import type { ProcessNotice } from "../env/processes/types.js";
import type { TaskState } from "../env/task.js";
import type { View } from "../registry/view.js";
import type { Bus } from "./bus.js";
import type { SessionSpec, TaskLeft } from "./messages.js";

const DAY_MS = 86_400_000;

/** A session of this machine, as it stands on the workers. */
export interface Lease {
  /** What it is called on the workers: a conversation keeps its name when another machine goes on with it. */
  readonly key: string;
  spec: SessionSpec;
  /** What `spec` names the tools of. */
  view: View;
  /** The workers it is on, and what each of them knows of it by now. */
  readonly workers: Map<string, KnownThere | undefined>;
  /** Where its commands stand; calls are judged by it here, and begin with it on the workers. */
  readonly task: TaskState;
  readonly notices: ProcessNotice[];
}

export interface KnownThere {
  readonly spec: SessionSpec;
  /** Of the lease's task. */
  readonly taskVersion: number;
}

/**
 * Which session is on which workers. The table is for other machines, which go on with a conversation where it is;
 * this one keeps it in memory.
 */
export class Leases {
  readonly #table: KV;
  readonly #bus: Bus;
  readonly #open = new Map<string, Lease>();
  readonly #opening = new Map<string, Promise<Lease>>();
  readonly #writes = new Set<Promise<unknown>>();

  private constructor(bus: Bus, table: KV) {
    this.#bus = bus;
    this.#table = table;
  }

  static async open(bus: Bus): Promise<Leases> {
    return new Leases(bus, await bus.table("sessions", DAY_MS));
  }

  sessions(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Where the session is by now; of a conversation that another machine had before, where it left it. */
  async of(scope: CallScope): Promise<Lease> {
    const { id } = scope.info;
    const known = this.#open.get(id);
    if (known !== undefined) return asIn(scope, known);
    const opening = this.#opening.get(id) ?? this.#make(scope).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #make(scope: CallScope): Promise<Lease> {
    const { conversations, info, view, task } = scope;
    const conversation = conversations.at(-1);
    const lease: Lease = {
      key: conversation ?? info.id,
      spec: specOf(scope),
      view,
      workers: new Map(),
      task,
      notices: [],
    };
    if (conversation !== undefined) await this.#takeUp(lease);
    this.#open.set(info.id, lease);
    return lease;
  }

  /** The session is on this worker from now on, and on no other that is gone. */
  bind(lease: Lease, worker: string, isThere: (id: string) => boolean): void {
    const gone = [...lease.workers.keys()].filter((id) => !isThere(id));
    for (const id of gone) lease.workers.delete(id);
    const isNew = !lease.workers.has(worker);
    if (isNew) lease.workers.set(worker, undefined);
    if (isNew || gone.length > 0) this.save(lease);
  }

  /** For whoever goes on with it. A session that is no conversation nobody can go on with. */
  save({ key, spec, workers, task }: Lease): void {
    if (spec.conversation === undefined) return;
    const { cwd, exported } = task;
    const saved: SavedLease = { workers: [...workers.keys()], task: { cwd, exported } };
    this.#write(this.#table.put(nameOf(key), this.#bus.sealLasting(this.#subject(key), saved)));
  }

  addNotices(key: string, notices: readonly ProcessNotice[]): void {
    for (const lease of this.#open.values()) if (lease.key === key) lease.notices.push(...notices);
  }

  takeNotices(session: string): readonly ProcessNotice[] {
    return this.#open.get(session)?.notices.splice(0) ?? [];
  }

  /** Forgets it and says which workers had it. A conversation can be gone on with, so they keep theirs for a while. */
  end(session: string): readonly string[] {
    const lease = this.#open.get(session);
    this.#open.delete(session);
    return lease === undefined || lease.spec.conversation !== undefined ? [] : [...lease.workers.keys()];
  }

  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #takeUp(lease: Lease): Promise<void> {
    const entry = await this.#table.get(nameOf(lease.key));
    if (entry === null || entry.operation !== "PUT") return;
    const saved = (await this.#bus.open(this.#subject(lease.key), entry.value)) as SavedLease;
    for (const id of saved.workers) lease.workers.set(id, undefined);
    lease.task.resume(saved.task);
  }

  #subject(key: string): string {
    return this.#bus.subject("lease", nameOf(key));
  }

  #write(writing: Promise<unknown>): void {
    const done: Promise<unknown> = writing.catch(() => undefined).finally(() => this.#writes.delete(done));
    this.#writes.add(done);
  }
}

/** A session that goes on with other tools or under other rules: its workers are told of them with the next call. */
function asIn(scope: CallScope, lease: Lease): Lease {
  const { profile, environment } = lease.spec;
  const { view, info } = scope;
  if (lease.view === view && profile === info.profile && environment === scope.environment.name) return lease;
  lease.view = view;
  const spec = specOf(scope);
  if (!isSameSpec(spec, lease.spec)) lease.spec = spec;
  return lease;
}

function specOf({ info, environment, view, conversations }: CallScope): SessionSpec {
  return {
    profile: info.profile,
    environment: environment.name,
    tools: [...view.entries.keys()],
    conversation: conversations.at(-1),
    heard: info.heard ?? [],
  };
}

/** Whether the same calls mean the same under both. */
export function isSameSpec(one: SessionSpec, other: SessionSpec): boolean {
  return (
    one.profile === other.profile &&
    one.environment === other.environment &&
    one.tools.join() === other.tools.join()
  );
}

interface SavedLease {
  readonly workers: readonly string[];
  readonly task: TaskLeft;
}

/** Names of conversations hold nothing that a table of NATS refuses, but nobody promises it. */
function nameOf(key: string): string {
  return Buffer.from(key).toString("base64url");
}
