import { hostname } from "node:os";
import type { KV } from "@nats-io/kv";
import { within } from "../base/deadline.js";
import type { Runtime } from "../runtime/runtime.js";
import { describeThrown } from "../tool/thrown.js";
import { VERSION } from "../version.js";
import { type Bus, patiently } from "./bus.js";
import type { WorkerRecord } from "./messages.js";
import { goes, hashOf } from "./place.js";
import { RENEW_MS, recordSubject, workerTable } from "./roster.js";

/** How long a worker that leaves waits for what it is just writing. */
const WRITTEN_MS = 2_000;

/** What a worker says of itself in the table of workers: what it is and can do, for whoever chooses. */
export class OwnRecord {
  readonly #runtime: Runtime;
  readonly #bus: Bus;
  readonly #id: string;
  #table: KV;
  #latest: WorkerRecord | undefined;
  #writing: Promise<void> = Promise.resolve();
  #renewing: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;

  private constructor(
    runtime: Runtime,
    parts: { readonly bus: Bus; readonly id: string; readonly table: KV },
  ) {
    this.#runtime = runtime;
    this.#bus = parts.bus;
    this.#id = parts.id;
    this.#table = parts.table;
  }

  static async open(
    runtime: Runtime,
    { bus, id }: { readonly bus: Bus; readonly id: string },
  ): Promise<OwnRecord> {
    return new OwnRecord(runtime, { bus, id, table: await workerTable(bus) });
  }

  get latest(): WorkerRecord | undefined {
    return this.#latest;
  }

  /** One after the other: of two at once the older could be the one that stays. */
  write(): Promise<void> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** The same where nobody waits for it. */
  async writeAgain(): Promise<void> {
    try {
      await this.write();
    } catch (error) {
      this.#runtime.log.warn(
        `the cluster was not told what this worker can do: ${describeThrown(error).message}`,
      );
    }
  }

  /** Keeps up with the tools of this machine. */
  keep(): void {
    this.#stopListening = this.#runtime.registry.onChange(() => void this.writeAgain());
    this.#renewing = setInterval(() => void this.writeAgain(), RENEW_MS);
  }

  async remove(): Promise<void> {
    clearInterval(this.#renewing);
    this.#stopListening?.();
    // A record that is written after it was taken out would stay.
    await within(this.#writing, WRITTEN_MS);
    await this.#table.delete(this.#id).catch(() => undefined);
  }

  async #write(): Promise<void> {
    this.#latest = await this.#describe();
    const sealed = this.#bus.sealLasting(recordSubject(this.#bus), this.#latest);
    try {
      await this.#table.put(this.#id, sealed);
    } catch {
      // A table that is new has no leader for a moment; one that is gone is made anew.
      this.#table = await workerTable(this.#bus);
      await patiently(() => this.#table.put(this.#id, sealed));
    }
  }

  async #describe(): Promise<WorkerRecord> {
    const { config, registry } = this.#runtime;
    const { cluster, terminal, toolsets } = config.values;
    const listed = await this.#runtime.listTools();
    const tools = listed.flatMap(({ name, enabled, available }) => {
      const entry = enabled && available ? registry.get(name) : undefined;
      return entry !== undefined && goes(entry) ? [[name, hashOf(entry)] as const] : [];
    });
    return {
      id: this.#id,
      host: hostname(),
      version: VERSION,
      labels: cluster.labels,
      toolsets,
      environments: [...new Set(["local", terminal.env])],
      slots: cluster.slots,
      revision: (this.#latest?.revision ?? 0) + 1,
      tools: Object.fromEntries(tools),
    };
  }
}
