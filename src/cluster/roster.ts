import type { KV } from "@nats-io/kv";
import { type Bus, patiently } from "./bus.js";
import type { Beat, WorkerRecord } from "./messages.js";

/** A worker that has not been heard of for so long is lost. */
export const LOST_MS = 5_000;
/** How long the first look waits for workers that are on record. */
const FIRST_LOOK_MS = 500;

/** A worker as one machine knows it. */
export interface Known {
  record: WorkerRecord;
  beat: Beat;
  /** When it was last heard of, by the clock of this process that nobody sets. */
  heardAt: number;
  /** Calls that this machine has sent there and that are not over. */
  sent: number;
  /** It has declined something of late; others come first until then. */
  avoidedUntil: number;
}

export interface Wanted {
  readonly tool: string;
  /** That very tool; any of its name when left out. */
  readonly hash?: string | undefined;
  readonly labels: readonly string[];
  readonly environment: string;
}

/** The workers of a cluster, by what they say of themselves every second. */
export class Roster {
  readonly #bus: Bus;
  readonly #workers = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<void>>();
  readonly #listeners = new Set<() => void>();
  readonly #subscription: { unsubscribe(): void };
  readonly #sweep: NodeJS.Timeout;
  #sweptAt = performance.now();
  readonly #records: KV;
  /** Told of a worker that went without a word. */
  onLost: ((id: string) => void) | undefined;
  /** Told when what the workers can do has changed. */
  onChange: (() => void) | undefined;

  private constructor(bus: Bus, records: KV) {
    this.#bus = bus;
    this.#records = records;
    const subject = bus.subject("beat");
    this.#subscription = bus.subscribe(subject, (body) => this.#hear(body as Beat));
    this.#sweep = setInterval(() => this.#forgetLost(), 250).unref();
  }

  /** Asks who is there and waits for those on record, but not for one that is gone. */
  static async open(bus: Bus): Promise<Roster> {
    const roster = new Roster(bus, await workerTable(bus));
    await roster.#lookAround();
    return roster;
  }

  get ready(): readonly Known[] {
    return [...this.#workers.values()].filter(({ beat }) => beat.state === "ready");
  }

  get(id: string): Known | undefined {
    return this.#workers.get(id);
  }

  /** Whether somebody who is ready has the tool; with a hash, that very tool. */
  serves(tool: string, hash?: string): boolean {
    return this.ready.some(({ record }) => has(record, tool, hash));
  }

  /** It said so when it was sent a call; its record will say so, too, or that it has it again. */
  lacks(worker: Known, tool: string): void {
    const { [tool]: _gone, ...tools } = worker.record.tools;
    worker.record = { ...worker.record, tools };
    this.#tell();
  }

  /** Of those that can run it: one that the session is on already, else the one with the most room. */
  choose(wanted: Wanted, session: readonly string[]): Known | undefined {
    const now = performance.now();
    const all = this.ready.filter((worker) => canRun(worker.record, wanted));
    const willing = all.filter(({ avoidedUntil, beat }) => avoidedUntil < now && beat.answered);
    const able = willing.length > 0 ? willing : all;
    return able.find(({ record }) => session.includes(record.id)) ?? leastBusy(able);
  }

  /** Why nobody can, for whoever has to do something about it. */
  whyNot({ tool, labels, environment }: Wanted): string {
    const { ready } = this;
    if (ready.length === 0) return "no worker is there";
    const named = ready.filter(({ record }) => hasLabels(record, labels));
    if (named.length === 0) return `no worker has the labels ${labels.join(", ")}`;
    if (!named.some(({ record }) => record.environments.includes(environment)))
      return `no such worker has the environment ${environment}`;
    return `no such worker has ${tool}`;
  }

  /** Resolves when something has changed, or when the time is over. */
  changed(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#listeners.add(done);
    });
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#subscription.unsubscribe();
  }

  async #lookAround(): Promise<void> {
    const names = await patiently(async () => {
      const found: string[] = [];
      for await (const id of await this.#records.keys()) found.push(id);
      return found;
    });
    this.#bus.publish(this.#bus.subject("roll"), {});
    const until = performance.now() + FIRST_LOOK_MS;
    while (names.some((id) => !this.#workers.has(id))) {
      const left = until - performance.now();
      if (left <= 0) return;
      await this.changed(left);
    }
  }

  async #hear(beat: Beat): Promise<void> {
    const known = this.#workers.get(beat.id);
    if (known === undefined || known.record.revision !== beat.revision) return this.#read(beat);
    known.heardAt = performance.now();
    const before = known.beat.state;
    known.beat = beat;
    if (before !== beat.state) this.#tell();
  }

  /** One read at a time for each worker, however many beats come meanwhile. */
  #read(beat: Beat): Promise<void> {
    const reading =
      this.#reading.get(beat.id) ?? this.#readRecord(beat).finally(() => this.#reading.delete(beat.id));
    this.#reading.set(beat.id, reading);
    return reading;
  }

  async #readRecord(beat: Beat): Promise<void> {
    const entry = await this.#records.get(beat.id);
    if (entry === null || entry.operation !== "PUT") return;
    const record = (await this.#bus.open(recordSubject(this.#bus), entry.value)) as WorkerRecord;
    const heardAt = performance.now();
    const known = this.#workers.get(beat.id);
    // Calls on their way count themselves off the very object that they were counted on.
    if (known !== undefined) Object.assign(known, { record, beat, heardAt });
    else this.#workers.set(beat.id, { record, beat, heardAt, sent: 0, avoidedUntil: 0 });
    this.#tell();
  }

  #forgetLost(): void {
    const now = performance.now();
    // Whoever hears nobody has lost the servers, not the workers; and a process that was stopped has heard nothing.
    const deaf = !this.#bus.isConnected || now - this.#sweptAt > LOST_MS / 2;
    this.#sweptAt = now;
    for (const [id, worker] of this.#workers) {
      if (deaf) worker.heardAt = now;
      if (now - worker.heardAt < LOST_MS) continue;
      this.#workers.delete(id);
      this.onLost?.(id);
      this.#tell();
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
    this.onChange?.();
  }
}

const HOUR_MS = 3_600_000;
/** So often a worker writes its record anew. */
export const RENEW_MS = HOUR_MS / 6;

/** What workers say of themselves; that of one that was killed goes by itself. */
export function workerTable(bus: Bus): Promise<KV> {
  return bus.table("workers", HOUR_MS);
}

/** Records do not lie on a subject of the bus; they are signed for this one all the same. */
export function recordSubject(bus: Bus): string {
  return bus.subject("record");
}

function canRun(record: WorkerRecord, { tool, hash, labels, environment }: Wanted): boolean {
  return has(record, tool, hash) && hasLabels(record, labels) && record.environments.includes(environment);
}

function has({ tools }: WorkerRecord, tool: string, hash: string | undefined): boolean {
  const served = tools[tool];
  return served !== undefined && (hash === undefined || hash === served);
}

function hasLabels(record: WorkerRecord, labels: readonly string[]): boolean {
  return labels.every((label) => record.labels.includes(label));
}

function leastBusy(workers: readonly Known[]): Known | undefined {
  const load = ({ record, beat, sent }: Known) => Math.max(beat.running, sent) / record.slots;
  let best: Known | undefined;
  for (const worker of workers) if (best === undefined || load(worker) < load(best)) best = worker;
  return best;
}
