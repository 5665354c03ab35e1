import type { EffectLocks } from "../call/effect-locks.js";
import { Hooks } from "../call/hooks.js";
import { type Journal, nullJournal } from "../call/journal.js";
import type { Approver, Policy } from "../call/scope.js";
import type { LoadedConfig } from "../config/types.js";
import { EventBus } from "../observe/events.js";
import { type Logger, maskedLogger } from "../observe/log.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import type { Withheld } from "../policy/profiles/permission-files.js";
import { SecretRegistry } from "../policy/secrets.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import { AvailabilityCache } from "../registry/availability.js";
import {
  buildDefinitions,
  DefinitionsMemo,
  isReady,
  statusesOf,
  type ToolDefinition,
} from "../registry/definitions.js";
import type { DiscoveryReport } from "../registry/discover.js";
import { type Entry, isForeign } from "../registry/entry.js";
import type { RegistrySnapshot, ToolRegistry } from "../registry/registry.js";
import {
  type CustomToolset,
  canonicalToolName,
  describeToolsets,
  type KnownToolsets,
  resolveToolset,
  type Selection,
  selectTools,
  type ToolsetInfo,
  unknownTool,
  unknownToolset,
} from "../registry/toolsets.js";
import type { SearchableTool, ToolFinder } from "../search/types.js";
import type { SourceHost } from "../sources/types.js";
import type { Store } from "../store/store.js";
import { HermesError } from "../tool/errors.js";
import { addKnownSecrets } from "./known-secrets.js";
import { checkNeeds } from "./needs.js";
import { approverOfPlugin } from "./plugin-approver.js";
import { RuntimeProcesses } from "./processes.js";
import type { Session, SessionOptions } from "./session.js";
import type { SessionFactory } from "./session-factory.js";
import { RuntimeSources } from "./sources.js";
import { listingOf, type ToolListing } from "./tool-list.js";

export interface DefinitionsRequest {
  readonly enabled?: readonly string[];
  readonly disabled?: readonly string[];
  /** Say nothing in the log about what was left out. */
  readonly quiet?: boolean;
  /** False tells every tool, also those that Tool Search would hide; "on" hides them whatever is configured. */
  readonly toolSearch?: boolean | "on" | undefined;
  /** How many tokens the model can read; as configured when left out. */
  readonly contextTokens?: number;
}

export interface RuntimeParts {
  readonly config: LoadedConfig;
  readonly cwd: string;
  readonly registry: ToolRegistry;
  readonly log: Logger;
  /** Reads the configuration anew from where it was read. */
  readonly readConfig: () => Promise<LoadedConfig>;
  readonly journal: boolean | Journal;
  readonly locks: EffectLocks | undefined;
  readonly approvals: (() => Promise<ApprovalStore>) | undefined;
  readonly policy: Policy | undefined;
  readonly yolo: boolean | undefined;
  readonly platform: string | undefined;
}

const NOTHING_FOUND: DiscoveryReport = { loaded: [], helpers: [], problems: [] };

/** Everything that outlives a session. Made by `createRuntime`. */
export class Runtime {
  /** What brings tools in from outside: MCP servers, YAML files, plugins. */
  readonly sources: RuntimeSources;
  readonly cwd: string;
  /** The configuration as it stands on disk now; `applyConfig` puts it into force. */
  readonly readConfig: () => Promise<LoadedConfig>;
  readonly registry: ToolRegistry;
  readonly hooks: Hooks;
  readonly events = new EventBus();
  readonly secrets = new SecretRegistry();
  readonly log: Logger;
  /** What sessions have running in the background. */
  readonly processes: RuntimeProcesses;
  readonly #availability: AvailabilityCache;
  readonly #customToolsets = new Map<string, CustomToolset>();
  /** Source → the toolsets it brings. */
  readonly #broughtToolsets = new Map<string, Readonly<Record<string, CustomToolset>>>();
  readonly #memo = new DefinitionsMemo();
  readonly #givenJournal: boolean | Journal;
  /** Set when calls wait for each other across more than this process. @internal */
  readonly locks: EffectLocks | undefined;
  /** Set when questions wait elsewhere than in the database of the Hermes home. @internal */
  readonly approvalsElsewhere: (() => Promise<ApprovalStore>) | undefined;
  readonly #policy: Policy | undefined;
  readonly #yolo: boolean;
  readonly #platform: string | undefined;
  #offering: Promise<Withheld | undefined> | undefined;
  #sessions: Promise<SessionFactory> | undefined;
  #journal: Promise<Journal> | undefined;
  #store: Promise<Store> | undefined;
  #toolsetVersion = 0;
  #closed = false;
  readonly #stopListening: () => void;
  readonly #endings = new Set<() => Promise<void>>();
  #config: LoadedConfig;

  constructor(parts: RuntimeParts) {
    const { config } = parts;
    this.#config = config;
    this.cwd = parts.cwd;
    this.registry = parts.registry;
    this.log = maskedLogger(parts.log, (text) => this.secrets.redact(text));
    this.readConfig = parts.readConfig;
    this.#givenJournal = parts.journal;
    this.locks = parts.locks;
    this.approvalsElsewhere = parts.approvals;
    this.hooks = new Hooks({ timeoutMs: config.values.hooks.timeout_seconds * 1000, log: this.log });
    addKnownSecrets(this.secrets, config);
    this.#takeToolsets(config);
    this.#availability = new AvailabilityCache({
      deadlineMs: config.values.tools.check_timeout_seconds * 1000,
      checkNeeds: (needs) => checkNeeds(needs, this.#config, this.sources.plugins),
      mask: (text) => this.secrets.redact(text),
      onChange: (key, status) => this.#announceAvailability(key, status),
    });
    this.processes = new RuntimeProcesses(this);
    this.sources = new RuntimeSources(this.#sourceHost());
    this.#policy = parts.policy;
    this.#yolo = parts.yolo === true;
    this.#platform = parts.platform;
    this.#stopListening = this.registry.onChange((generation) => {
      if (this.events.active) this.events.emit({ type: "tools.changed", generation });
    });
  }

  /** What was found in the tool folders. */
  get discovery(): DiscoveryReport {
    return this.sources.modules?.report() ?? NOTHING_FOUND;
  }

  /** The settings in force. */
  get config(): LoadedConfig {
    return this.#config;
  }

  /**
   * Takes up a configuration that was read anew. Sessions opened from now on get its rules; those that are open
   * keep theirs, and from the next call on whatever is stricter in the new ones.
   */
  async applyConfig(config: LoadedConfig): Promise<void> {
    if (this.#closed) return;
    for (const name of Object.keys(this.#config.values.custom_toolsets)) this.#customToolsets.delete(name);
    this.#config = config;
    addKnownSecrets(this.secrets, config);
    this.#takeToolsets(config);
    this.#toolsetVersion += 1;
    this.#offering = undefined;
    await (await this.#sessions)?.reloadRules();
    await this.sources.refresh(config);
    this.registry.touch();
  }

  #takeToolsets(config: LoadedConfig): void {
    for (const [name, definition] of Object.entries(config.values.custom_toolsets)) {
      this.#customToolsets.set(name, definition);
    }
  }

  #sourceHost(): SourceHost {
    const runtime = this;
    return {
      get config() {
        return runtime.config;
      },
      cwd: this.cwd,
      registry: this.registry,
      hooks: this.hooks,
      events: this.events,
      log: this.log,
      secrets: this.secrets,
      redact: (text) => this.secrets.redact(text),
      setToolsets: (source, toolsets) => this.#bringToolsets(source, toolsets),
      store: () => this.store(),
    };
  }

  /** Definitions in OpenAI format, sorted and byte-stable; a repeated question gets the very same list. */
  async getToolDefinitions(request: DefinitionsRequest = {}): Promise<readonly ToolDefinition[]> {
    const vocabulary = this.config.values.tools.vocabulary;
    const key = JSON.stringify([
      request.enabled?.toSorted(),
      request.disabled?.toSorted(),
      this.registry.generation,
      this.#toolsetVersion,
      vocabulary,
      request.toolSearch,
      request.contextTokens,
    ]);
    const remembered = this.#memo.get(key, Date.now());
    if (remembered !== undefined) return remembered;
    const snapshot = this.registry.snapshot();
    const selection = this.select(request.enabled, request.disabled);
    const withheld = await this.#withheld();
    const entries = [...snapshot.entries.values()].filter(
      (entry) => selection.selects(entry.name) && withheld?.(entry) === undefined,
    );
    const statuses = await statusesOf(entries, this.#availability);
    const all = await buildDefinitions({ entries, statuses, vocabulary, log: this.log });
    if (request.quiet !== true && all.length < entries.length) {
      this.log.info(`${entries.length - all.length} tools are left out because they are not available`);
    }
    const definitions =
      request.toolSearch === false || !entries.some((entry) => isForeign(entry.provenance))
        ? all
        : await this.#hideBehindSearch({
            all,
            ready: entries.filter((entry) => isReady(statuses, entry)),
            registry: snapshot,
            contextTokens: request.contextTokens,
            ...(request.toolSearch === "on" && { mode: "on" }),
          });
    this.#memo.set(key, { definitions, freshUntil: this.#availability.freshUntil(entries) });
    return definitions;
  }

  async #hideBehindSearch(given: {
    readonly all: readonly ToolDefinition[];
    readonly ready: readonly Entry[];
    readonly registry: RegistrySnapshot;
    readonly contextTokens: number | undefined;
    readonly mode?: "on";
  }): Promise<readonly ToolDefinition[]> {
    const { assembleReady } = await import("../search/assemble-ready.js");
    const { values } = this.#config;
    return assembleReady({ definitions: given.all, ...given, values }).definitions;
  }

  /** True when at least one tool of the toolset can run now. */
  async isToolsetAvailable(name: string): Promise<boolean> {
    const known = this.#knownToolsets();
    const names = resolveToolset(name, known);
    if (names === undefined) throw new HermesError(unknownToolset(name, known));
    const entries = names.flatMap((tool) => this.registry.get(tool) ?? []);
    const statuses = await statusesOf(entries, this.#availability);
    return entries.some((entry) => isReady(statuses, entry));
  }

  toolsets(): readonly ToolsetInfo[] {
    return describeToolsets(this.#knownToolsets());
  }

  /** A toolset made while the program runs. */
  createToolset(name: string, definition: CustomToolset): void {
    this.#customToolsets.set(name, definition);
    this.#toolsetVersion += 1;
  }

  /** Every registered tool with whether it is on, whether it can run, and why not. */
  async listTools(
    request: Pick<DefinitionsRequest, "enabled" | "disabled"> = {},
  ): Promise<readonly ToolListing[]> {
    const { entries } = this.registry.snapshot();
    const selection = this.select(request.enabled, request.disabled);
    const [statuses, withheld] = await Promise.all([
      statusesOf(entries.values(), this.#availability),
      this.#withheld(),
    ]);
    return [...entries.values()].map((entry) =>
      listingOf({
        entry,
        status: statuses.get(entry.name) ?? { ok: true },
        enabled: selection.selects(entry.name) && withheld?.(entry) === undefined,
        because: withheld?.(entry) ?? selection.explain(entry.name).because,
      }),
    );
  }

  /** The canonical name of any spelling; unknown names are errors with suggestions. */
  canonicalName(name: string): string {
    const snapshot = this.registry.snapshot();
    for (const candidate of [name, ...normalizeToolName(name)]) {
      const canonical = canonicalToolName(candidate, snapshot);
      if (snapshot.entries.has(canonical)) return canonical;
    }
    throw new HermesError(unknownTool(name, { registry: snapshot }));
  }

  async openSession(options: SessionOptions = {}): Promise<Session> {
    return (await this.#sessionFactory()).open(options);
  }

  /** Finds tools in a list by what they do; lists that are equal share an index. */
  async finderFor(tools: readonly SearchableTool[]): Promise<ToolFinder> {
    return (await this.#sessionFactory()).toolSearch.finderFor(tools);
  }

  #sessionFactory(): Promise<SessionFactory> {
    if (this.#closed) throw new Error("the runtime is closed");
    this.#sessions ??= import("./session-factory.js").then(
      ({ SessionFactory }) =>
        new SessionFactory({
          runtime: this,
          availability: this.#availability,
          policy: this.#policy,
          yolo: this.#yolo,
        }),
    );
    return this.#sessions;
  }

  /** Who is asked before dangerous calls, when `approvals.approver` names somebody. */
  configuredApprover(): Approver | undefined {
    const name = this.config.values.approvals.approver;
    return name === "" ? undefined : approverOfPlugin(name, () => this.sources.plugins);
  }

  /** The call journal, opened on first use; a disabled one remembers nothing. */
  journal(): Promise<Journal> {
    this.#journal ??= this.#openJournal();
    return this.#journal;
  }

  /** Runs before anything is taken apart; the answer takes it back. @internal */
  beforeClose(end: () => Promise<void>): () => void {
    this.#endings.add(end);
    return () => this.#endings.delete(end);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopListening();
    await Promise.all([...this.#endings].map((end) => end()));
    await this.sources.close();
    await this.registry.close();
    await (await this.#sessions)?.close();
    // A journal that could not be opened was reported to whoever asked for it.
    const journal = await this.#journal?.catch(() => undefined);
    await journal?.close();
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }

  /** False when nothing of what sessions do is to be written down. @internal */
  get remembers(): boolean {
    return this.#givenJournal !== false;
  }

  /** The database of the Hermes home, opened on first use and shared by all that write to it. @internal */
  store(): Promise<Store> {
    this.#store ??= this.#openStore();
    return this.#store;
  }

  async #openStore(): Promise<Store> {
    const { openStore } = await import("../store/store.js");
    const store = await openStore({ path: this.config.paths.stateDb });
    for (const notice of store.notices) this.log.warn(notice);
    return store;
  }

  async #openJournal(): Promise<Journal> {
    const given = this.#givenJournal;
    if (given === false) return nullJournal();
    const journal = given === true ? await this.#openSqliteJournal() : given;
    for (const row of await journal.recover()) {
      this.log.warn(
        `${row.tool} (${row.call_id}) was running when its process died; what it did is unknown and it was not run again`,
      );
    }
    return journal;
  }

  async #openSqliteJournal(): Promise<Journal> {
    const [store, { openJournal }] = await Promise.all([this.store(), import("../call/sqlite-journal.js")]);
    return openJournal(store);
  }

  /** What the profile in force keeps from a model. */
  #withheld(): Promise<Withheld | undefined> {
    this.#offering ??= import("../policy/profiles/permission-files.js").then(({ offeringFor }) =>
      offeringFor(this.config),
    );
    return this.#offering;
  }

  #bringToolsets(source: string, toolsets: Readonly<Record<string, CustomToolset>>): void {
    if (Object.keys(toolsets).length > 0) this.#broughtToolsets.set(source, toolsets);
    else if (!this.#broughtToolsets.delete(source)) return;
    this.#toolsetVersion += 1;
  }

  #knownToolsets(): KnownToolsets {
    const brought = [...this.#broughtToolsets.values()].flatMap((toolsets) => Object.entries(toolsets));
    const custom =
      brought.length === 0 ? this.#customToolsets : new Map([...brought, ...this.#customToolsets]);
    return { registry: this.registry.snapshot(), custom };
  }

  /** Unknown names in the caller's lists are errors; those in config files were reported when it was loaded. @internal */
  select(enabled: readonly string[] | undefined, disabled: readonly string[] | undefined): Selection {
    const { values } = this.config;
    const chosen = enabled ?? this.#defaultToolsets();
    const selection = selectTools(
      {
        enabled: chosen,
        disabled: [...values.agent.disabled_toolsets, ...(disabled ?? [])],
        disabledTools: values.tools.disabled,
      },
      this.#knownToolsets(),
    );
    const [problem] = selection.problems;
    if (problem !== undefined) throw new HermesError(problem);
    return selection;
  }

  /** Why a tool is off, whatever toolsets a session asks for. @internal */
  switchedOff(tool: string): string | undefined {
    const { agent, tools } = this.config.values;
    if (agent.disabled_toolsets.length + tools.disabled.length === 0) return undefined;
    if (this.registry.get(tool) === undefined) return undefined;
    const selection = selectTools(
      { enabled: [tool], disabled: agent.disabled_toolsets, disabledTools: tools.disabled },
      this.#knownToolsets(),
    );
    return selection.selects(tool) ? undefined : selection.explain(tool).because;
  }

  /** A flag beats the platform's own list, which beats the general one. */
  #defaultToolsets(): readonly string[] {
    const { values, env } = this.config;
    const own = this.#platform === undefined ? undefined : values.platform_toolsets[this.#platform];
    const byFlag = this.config.origin("toolsets").source === "flag";
    const toolsets = own === undefined || byFlag ? values.toolsets : own;
    return env.HERMES_KANBAN_TASK ? [...toolsets, "kanban"] : toolsets;
  }

  #announceAvailability(key: unknown, status: { readonly ok: boolean; readonly reason?: string }): void {
    if (!this.events.active) return;
    const tools = [...this.registry.snapshot().entries.values()]
      .filter((entry) => (entry.checkFn ?? entry.needs) === key)
      .map((entry) => entry.name);
    this.events.emit({
      type: "tool.availability",
      tools,
      available: status.ok,
      reason: status.reason,
    });
  }
}
