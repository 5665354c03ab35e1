import type { Logger } from "../../observe/log.js";
import type { Store } from "../../store/store.js";
import { describeThrown } from "../../tool/thrown.js";
import { type Definition, fingerprintOf } from "./definition.js";
import { type Pin, PinRows, type ServerMemory } from "./pin-rows.js";

/** A tool of a server: what a person has agreed to, and what the server says now when that is something else. */
export interface PinnedTool {
  readonly approved: Definition;
  readonly fingerprint: string;
  readonly changed?: { readonly definition: Definition; readonly fingerprint: string };
}

/** The pinned definitions of one server, in memory; the database keeps them for the next start. */
export class ServerPins {
  readonly #key: { readonly server: string; readonly identity: string };
  readonly #rows: PinRows | undefined;
  readonly #log: Logger;
  #pins: Map<string, Pin>;
  #memory: ServerMemory | undefined;

  constructor(options: {
    readonly server: string;
    readonly identity: string;
    readonly rows: PinRows | undefined;
    readonly log: Logger;
  }) {
    this.#key = { server: options.server, identity: options.identity };
    this.#rows = options.rows;
    this.#log = options.log;
    this.#pins = new Map(this.#tried((rows) => rows.pinsOf(this.#key)) ?? []);
    this.#memory = this.#tried((rows) => rows.memoryOf(this.#key));
  }

  get memory(): ServerMemory | undefined {
    return this.#memory;
  }

  remember(memory: ServerMemory): void {
    this.#memory = memory;
    this.#tried((rows) => rows.remember(this.#key, memory));
  }

  /** Tools known from before, as they were agreed to. */
  remembered(): readonly PinnedTool[] {
    return [...this.#pins.values()]
      .filter(({ present }) => present)
      .map(({ definition, fingerprint }) => ({ approved: definition, fingerprint }));
  }

  /** Holds what a server lists now against what is pinned; what was never seen before is pinned as it is. */
  compare(listed: readonly Definition[]): {
    readonly tools: readonly PinnedTool[];
    readonly fresh: readonly string[];
  } {
    const isFirstSight = this.#pins.size === 0;
    const unknown = listed.filter(({ name }) => !this.#pins.has(name));
    this.#pinFirst(unknown);
    const tools = listed.map((definition): PinnedTool => {
      const fingerprint = fingerprintOf(definition);
      const pin = this.#pins.get(definition.name);
      if (pin === undefined || pin.fingerprint === fingerprint) return { approved: definition, fingerprint };
      return { approved: pin.definition, fingerprint: pin.fingerprint, changed: { definition, fingerprint } };
    });
    this.#notePresence(new Set(listed.map(({ name }) => name)));
    return { tools, fresh: isFirstSight ? [] : unknown.map(({ name }) => name) };
  }

  /** Somebody has agreed to what the tool says now. */
  accept(definition: Definition): void {
    const pin: Pin = { definition, fingerprint: fingerprintOf(definition), present: true };
    this.#pins.set(definition.name, pin);
    this.#tried((rows) => rows.replace(this.#key, pin));
  }

  #pinFirst(definitions: readonly Definition[]): void {
    if (definitions.length === 0) return;
    const pins = definitions.map((definition) => ({
      definition,
      fingerprint: fingerprintOf(definition),
      present: true,
    }));
    for (const pin of pins) this.#pins.set(pin.definition.name, pin);
    this.#tried((rows) => rows.addFirst(this.#key, pins));
    // Another process may have seen the server first; then its pins hold.
    const stored = this.#tried((rows) => rows.pinsOf(this.#key));
    for (const { definition } of pins) {
      const pin = stored?.get(definition.name);
      if (pin !== undefined) this.#pins.set(definition.name, pin);
    }
  }

  #notePresence(listed: ReadonlySet<string>): void {
    const changes = [...this.#pins]
      .filter(([tool, pin]) => pin.present !== listed.has(tool))
      .map(([tool, pin]) => ({ tool, present: !pin.present }));
    for (const { tool, present } of changes) {
      const pin = this.#pins.get(tool);
      if (pin !== undefined) this.#pins.set(tool, { ...pin, present });
    }
    this.#tried((rows) => rows.setPresent(this.#key, changes));
  }

  /** A database that cannot be used costs the memory of the next start, not the tools of this one. */
  #tried<Result>(work: (rows: PinRows) => Result): Result | undefined {
    if (this.#rows === undefined) return undefined;
    try {
      return work(this.#rows);
    } catch (thrown) {
      this.#log.warn(
        `definitions of MCP server ${this.#key.server} are not kept: ${describeThrown(thrown).message}`,
      );
      return undefined;
    }
  }
}

export async function openPinRows(store: () => Promise<Store>, log: Logger): Promise<PinRows | undefined> {
  try {
    return new PinRows((await store()).db);
  } catch (thrown) {
    log.warn(`definitions of MCP tools are not kept: ${describeThrown(thrown).message}`);
    return undefined;
  }
}
