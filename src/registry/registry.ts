import { type Logger, silentLogger } from "../observe/log.js";
import { type BaseTool, isBaseToolInstance, toolFromBase } from "../tool/base-tool.js";
import { checkSchema } from "../tool/check-schema.js";
import type { AnyTool } from "../tool/tool.js";
import { Entry, isForeign, type Provenance } from "./entry.js";
import type { SourceTools, SwapReport } from "./registration.js";
import {
  isToolValue,
  type Registration,
  type RegistrationExtras,
  toolFromRegistration,
} from "./registration.js";
import { SortedMap } from "./sorted-map.js";

export type { SourceTools, SwapReport } from "./registration.js";
export { type Registration, type RegistrationExtras, toolFromRegistration } from "./registration.js";

export interface Conflict {
  readonly name: string;
  readonly kept: { readonly toolset: string; readonly provenance: Provenance };
  readonly rejected: { readonly toolset: string; readonly provenance: Provenance };
}

export interface AddOptions {
  readonly provenance?: Provenance | undefined;
  readonly override?: boolean | undefined;
}

interface Brought {
  readonly entry: Entry;
  /** What the name meant before, and means again when the source goes. */
  covered: Entry | undefined;
}

interface BroughtBySource {
  readonly tools: ReadonlyMap<string, Brought>;
  readonly aliases: Readonly<Record<string, string>>;
}

const NOTHING_BROUGHT: BroughtBySource = { tools: new Map(), aliases: {} };

/** An unchanging picture of the registry: iterating it never sees a half-done change. */
export interface RegistrySnapshot {
  readonly generation: number;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Other names of tools → canonical name. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly byToolset: ReadonlyMap<string, readonly string[]>;
  readonly toolsetAliases: ReadonlyMap<string, string>;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Who keeps an alias that several tools claim: the nearer source, so that a server cannot take a built-in's name. */
const TRUST: Readonly<Record<Provenance["kind"], number>> = {
  builtin: 0,
  code: 1,
  home: 2,
  project: 3,
  plugin: 4,
  yaml: 4,
  openapi: 4,
  mcp: 4,
};

/** What is registered under one name: the standing entry, covered by scoped ones (last = visible). */
interface Slot {
  base: Entry | undefined;
  scoped: readonly Entry[];
}

const NOT_COVERED: readonly Entry[] = [];
const BY_CODE: Provenance = { kind: "code" };

export class ToolRegistry {
  readonly #slots = new SortedMap<Slot>();
  readonly #toolsetAliases = new Map<string, string>();
  readonly #sources = new Map<string, BroughtBySource>();
  /** By source, since a source that is brought anew is judged anew; "" is for what no source brought. */
  readonly #conflicts = new Map<string, Conflict[]>();
  readonly #listeners = new Set<(generation: number) => void>();
  readonly #log: Logger;
  #generation = 0;
  #snapshot: RegistrySnapshot | undefined;

  constructor(options: { readonly logger?: Logger } = {}) {
    this.#log = options.logger ?? silentLogger;
  }

  /** Grows with every mutation; whatever was computed for an older value is stale. */
  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Registrations that were refused because another toolset owns the name. */
  get conflicts(): readonly Conflict[] {
    return [...this.#conflicts.values()].flat();
  }

  /**
   * Registers with the fields of the source documents, what `defineTool` made, or a `BaseTool`. Returns false when the name was kept
   * by another toolset.
   */
  register(
    registration: (Registration & RegistrationExtras) | AnyTool | BaseTool,
    provenance?: Provenance,
  ): boolean {
    if (isBaseToolInstance(registration)) return this.add(toolFromBase(registration), { provenance });
    if (isToolValue(registration)) return this.add(registration, { provenance });
    return this.add(toolFromRegistration(registration), {
      provenance,
      override: registration.override,
    });
  }

  /** Registers a tool value. */
  add(tool: AnyTool, options: AddOptions = {}): boolean {
    return this.addEntry(Entry.fromTool(tool, options.provenance ?? BY_CODE), options);
  }

  addEntry(entry: Entry, options: Pick<AddOptions, "override"> = {}): boolean {
    assertRegistrable(entry);
    const slot = this.#slots.get(entry.name);
    const standing = slot?.base;
    if (
      standing !== undefined &&
      standing.toolset !== entry.toolset &&
      !this.#mayReplace({ standing, incoming: entry, ...options })
    ) {
      return false;
    }
    if (slot === undefined) this.#slots.set(entry.name, { base: entry, scoped: NOT_COVERED });
    else slot.base = entry;
    this.#changed();
    if (standing !== undefined && standing.tool !== entry.tool) standing.retire();
    return true;
  }

  #mayReplace(change: {
    readonly standing: Entry;
    readonly incoming: Entry;
    readonly override?: boolean | undefined;
    readonly source?: string;
  }): boolean {
    const { standing, incoming, source = "" } = change;
    if (change.override === true) {
      this.#log.info(`tool ${incoming.name}: toolset ${incoming.toolset} overrides ${standing.toolset}`);
      return true;
    }
    if (standing.toolset.startsWith("mcp-") && incoming.toolset.startsWith("mcp-")) {
      this.#log.debug(`tool ${incoming.name}: ${incoming.toolset} takes over from ${standing.toolset}`);
      return true;
    }
    const conflict: Conflict = {
      name: incoming.name,
      kept: { toolset: standing.toolset, provenance: standing.provenance },
      rejected: { toolset: incoming.toolset, provenance: incoming.provenance },
    };
    this.#conflicts.set(source, [...(this.#conflicts.get(source) ?? []), conflict]);
    this.#log.error(
      `tool ${incoming.name} of toolset ${incoming.toolset} rejected: toolset ${standing.toolset} already owns that name; ` +
        "register with override: true to replace it",
    );
    return false;
  }

  /** Removes a standing registration; the last tool of a toolset takes the toolset's aliases with it. */
  deregister(name: string): boolean {
    const slot = this.#slots.get(name);
    if (slot?.base === undefined) return false;
    const removed = slot.base;
    const { toolset } = removed;
    slot.base = undefined;
    if (slot.scoped.length === 0) this.#slots.delete(name);
    this.#changed();
    if (!this.snapshot().byToolset.has(toolset)) {
      for (const [alias, canonical] of this.#toolsetAliases) {
        if (canonical === toolset) this.#toolsetAliases.delete(alias);
      }
      this.#changed();
    }
    removed.retire();
    return true;
  }

  /**
   * Registers for as long as the returned handle lives. Whatever the name meant before is covered, not
   * lost: disposing reveals it again, in any order of disposal.
   */
  scoped(tools: readonly AnyTool[], options: Pick<AddOptions, "provenance"> = {}): Disposable {
    const entries = tools.map((tool) => Entry.fromTool(tool, options.provenance ?? BY_CODE));
    for (const entry of entries) assertRegistrable(entry);
    for (const entry of entries) {
      const slot = this.#slots.get(entry.name);
      if (slot === undefined) this.#slots.set(entry.name, { base: undefined, scoped: [entry] });
      else slot.scoped = [...slot.scoped, entry];
    }
    this.#changed();
    return { [Symbol.dispose]: () => this.#uncover(entries) };
  }

  #uncover(entries: readonly Entry[]): void {
    let changed = false;
    for (const entry of entries) {
      const slot = this.#slots.get(entry.name);
      const index = slot?.scoped.indexOf(entry) ?? -1;
      if (slot === undefined || index < 0) continue;
      slot.scoped = slot.scoped.filter((covering) => covering !== entry);
      if (slot.base === undefined && slot.scoped.length === 0) this.#slots.delete(entry.name);
      entry.retire();
      changed = true;
    }
    if (changed) this.#changed();
  }

  /**
   * Everything one source brings, in the place of what it brought before. It happens at once: nobody ever sees a
   * part of it, and calls that run keep the version they began with. A tool that cannot be registered is left
   * out and told about; the others are not concerned.
   */
  swap(change: SourceTools): SwapReport {
    const before = this.#sources.get(change.source) ?? NOTHING_BROUGHT;
    const brought = new Map<string, Brought>();
    const rejected: SwapReport["rejected"][number][] = [];
    const report = { added: [] as string[], changed: [] as string[], removed: [] as string[], rejected };
    const retired: Entry[] = [];
    this.#conflicts.delete(change.source);
    for (const tool of change.tools) {
      const standing = before.tools.get(tool.name);
      const problem = brought.has(tool.name)
        ? "the same source brings another tool of this name"
        : this.#bring({ tool, change, standing, brought });
      if (problem !== undefined) rejected.push({ name: String(tool.name), reason: problem });
      else if (standing === undefined) report.added.push(tool.name);
      else if (standing.entry.tool !== tool) report.changed.push(tool.name);
    }
    for (const [name, { entry, covered }] of before.tools) {
      if (brought.get(name)?.entry !== entry) retired.push(entry);
      if (brought.has(name)) continue;
      report.removed.push(name);
      this.#takeAway({ entry, covered });
    }
    if (brought.size === 0) this.#sources.delete(change.source);
    else this.#sources.set(change.source, { tools: brought, aliases: change.toolsetAliases ?? {} });
    const renamed = this.#renameToolsets(
      before.aliases,
      brought.size === 0 ? {} : (change.toolsetAliases ?? {}),
    );
    if (renamed || report.added.length + report.changed.length + report.removed.length > 0) this.#changed();
    for (const entry of retired) entry.retire();
    return report;
  }

  /** Puts one tool in its place; why it cannot have it, otherwise. */
  #bring(step: {
    readonly tool: AnyTool;
    readonly change: SourceTools;
    readonly standing: Brought | undefined;
    readonly brought: Map<string, Brought>;
  }): string | undefined {
    const { tool, change, standing, brought } = step;
    if (standing !== undefined && standing.entry.tool === tool) {
      brought.set(tool.name, standing);
      return undefined;
    }
    const entry = Entry.fromTool(tool, change.provenance);
    try {
      assertRegistrable(entry);
    } catch (error) {
      return (error as Error).message;
    }
    const cover = standing && this.#coverOf(standing.entry);
    if (standing !== undefined && cover !== undefined) {
      cover.covered = entry;
      brought.set(entry.name, { entry, covered: standing.covered });
      return undefined;
    }
    const slot = this.#slots.get(entry.name);
    const base = slot?.base;
    const isOurs = base !== undefined && base === standing?.entry;
    if (
      base !== undefined &&
      !isOurs &&
      !this.#mayReplace({
        standing: base,
        incoming: entry,
        override: change.overrides?.has(entry.name) === true,
        source: change.source,
      })
    ) {
      return `toolset ${base.toolset} already owns that name`;
    }
    if (slot === undefined) this.#slots.set(entry.name, { base: entry, scoped: NOT_COVERED });
    else slot.base = entry;
    brought.set(entry.name, { entry, covered: isOurs ? standing?.covered : base });
    return undefined;
  }

  /** What another source brought over this entry. */
  #coverOf(entry: Entry): Brought | undefined {
    if (this.#slots.get(entry.name)?.base === entry) return undefined;
    for (const { tools } of this.#sources.values()) {
      const brought = tools.get(entry.name);
      if (brought?.covered === entry) return brought;
    }
    return undefined;
  }

  #takeAway({ entry, covered }: Brought): void {
    const cover = this.#coverOf(entry);
    if (cover !== undefined) cover.covered = covered;
    const slot = this.#slots.get(entry.name);
    if (slot === undefined || slot.base !== entry) return;
    slot.base = covered;
    if (covered === undefined && slot.scoped.length === 0) this.#slots.delete(entry.name);
  }

  #renameToolsets(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): boolean {
    let renamed = false;
    for (const [alias, toolset] of Object.entries(before)) {
      if (now[alias] === toolset || this.#toolsetAliases.get(alias) !== toolset) continue;
      this.#toolsetAliases.delete(alias);
      renamed = true;
    }
    for (const [alias, toolset] of Object.entries(now)) {
      // An alias that means something else already stays with whoever had it first.
      if (this.#toolsetAliases.has(alias)) continue;
      this.#toolsetAliases.set(alias, toolset);
      renamed = true;
    }
    return renamed;
  }

  /** Something that tools depend on has changed, though no tool has: whatever was computed is stale. */
  touch(): void {
    this.#changed();
  }

  /** Another name for a toolset. A second meaning for the same alias replaces the first, with a warning. */
  aliasToolset(alias: string, canonical: string): void {
    const previous = this.#toolsetAliases.get(alias);
    if (previous === canonical) return;
    if (previous !== undefined) {
      this.#log.warn(`toolset alias ${alias} now means ${canonical}; it meant ${previous}`);
    }
    this.#toolsetAliases.set(alias, canonical);
    this.#changed();
  }

  /** The visible entry of a canonical name. */
  get(name: string): Entry | undefined {
    const slot = this.#slots.get(name);
    return slot === undefined ? undefined : (slot.scoped.at(-1) ?? slot.base);
  }

  snapshot(): RegistrySnapshot {
    this.#snapshot ??= this.#takeSnapshot();
    return this.#snapshot;
  }

  #takeSnapshot(): RegistrySnapshot {
    const entries = new Map<string, Entry>();
    const aliases = new Map<string, string>();
    for (const name of this.#slots.sortedKeys()) {
      const entry = this.get(name);
      if (entry === undefined) continue;
      entries.set(name, entry);
      for (const alias of entry.aliases) {
        const rival = entries.get(aliases.get(alias) ?? "");
        if (rival === undefined || TRUST[entry.provenance.kind] < TRUST[rival.provenance.kind])
          aliases.set(alias, name);
      }
    }
    let byToolset: ReadonlyMap<string, readonly string[]> | undefined;
    return {
      generation: this.#generation,
      entries,
      aliases,
      get byToolset() {
        byToolset ??= groupByToolset(entries.values());
        return byToolset;
      },
      toolsetAliases: new Map(this.#toolsetAliases),
    };
  }

  onChange(listener: (generation: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Frees what tools hold (BaseTool.teardown). A failing teardown is logged; the others still run. */
  async close(): Promise<void> {
    const entries = [...this.#slots.values()].flatMap(({ base, scoped }) =>
      base === undefined ? scoped : [base, ...scoped],
    );
    await Promise.all(
      entries.map(async (entry) => {
        const problem = await entry.dispose();
        if (problem !== undefined)
          this.#log.error(`teardown of tool ${entry.name} failed: ${problem.message}`);
      }),
    );
  }

  #changed(): void {
    this.#generation += 1;
    this.#snapshot = undefined;
    for (const listener of this.#listeners) listener(this.#generation);
  }
}

function groupByToolset(entries: Iterable<Entry>): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, toolset } of entries) {
    const members = groups.get(toolset);
    if (members === undefined) groups.set(toolset, [name]);
    else members.push(name);
  }
  return groups;
}

function assertRegistrable(entry: Entry): void {
  if (typeof entry.name !== "string" || !NAME.test(entry.name)) {
    throw new TypeError(
      `Tool name ${JSON.stringify(entry.name)} is not usable: use 1 to 64 letters, digits, "_", "." or "-".`,
    );
  }
  if (
    !Array.isArray(entry.aliases) ||
    !entry.aliases.every((alias) => typeof alias === "string" && NAME.test(alias))
  ) {
    throw new TypeError(`Tool ${entry.name} has an alias that is not usable as a name.`);
  }
  if (typeof entry.toolset !== "string" || entry.toolset === "") {
    throw new TypeError(`Tool ${entry.name} names no toolset; set \`toolset\` to the group it belongs to.`);
  }
  const problem = checkSchema(entry.parameters, { foreign: isForeign(entry.provenance) });
  if (problem !== undefined) {
    throw new TypeError(
      `Tool ${entry.name} cannot be registered: ${problem.message}${problem.hint === undefined ? "" : ` ${problem.hint}`}`,
    );
  }
}
