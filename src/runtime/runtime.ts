import { messageOf } from "../base/errno.js";
import type { EffectLocks } from "../call/effect-locks.js";
import { Hooks } from "../call/hooks.js";
import { fullJournal, type Journal, nullJournal } from "../call/journal.js";
import type { CallPlace, Policy } from "../call/scope.js";
import type { LoadedConfig } from "../config/types.js";
import { EventBus } from "../observe/events.js";
import { type Logger, maskedLogger } from "../observe/log.js";
import { LogRing } from "../observe/log-ring.js";
import type { Tracer } from "../observe/otel/tracer.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import { SecretRegistry } from "../policy/secrets.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import { AvailabilityCache } from "../registry/availability.js";
import { isReady, statusesOf, type ToolDefinition } from "../registry/definitions.js";
import type { DiscoveryReport } from "../registry/discover.js";
import type { Entry } from "../registry/entry.js";
import type { ToolRegistry } from "../registry/registry.js";
import {
  type CustomToolset,
  canonicalToolName,
  describeToolsets,
  resolveToolset,
  type ToolsetInfo,
  unknownTool,
  unknownToolset,
} from "../registry/toolsets.js";
import type { SearchableTool, ToolFinder } from "../search/types.js";
import type { SharedLog } from "../store/shared-log.js";
import type { Store } from "../store/store.js";
import { HermesError } from "../tool/errors.js";
import type { MessagesHost } from "../tool/host-capabilities.js";
import { RuntimeApprovals } from "./approvals.js";
import { refuseUnknownOptions } from "./check-options.js";
import type { ToolListing } from "./definitions.js";
import { type DefinitionsRequest, RuntimeDefinitions } from "./definitions.js";
import { addKnownSecrets } from "./known-secrets.js";
import { checkNeeds } from "./needs.js";
import { approverFrom, KNOWN_SESSION_OPTIONS, type OpenSessionOptions } from "./open-session-options.js";
import { RuntimeProcesses } from "./processes.js";
import type { WaitingChanges } from "./reload/watch-for-changes.js";
import type { Session } from "./session.js";
import type { SessionFactory } from "./session-factory.js";
import { RuntimeSources } from "./sources.js";
import { ToolSelection } from "./tool-selection.js";

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

const NO_TRACER = Promise.resolve(undefined);

/** Everything that outlives a session. Made by `createRuntime`. */
export class Runtime {
  /** What brings tools in from outside: MCP servers, YAML files, plugins. */
  readonly sources: RuntimeSources;
  /** What waits for a person's yes, while something watches for changes and holds them. @internal */
  changes: WaitingChanges | undefined;
  /** Chats that messages can be sent to, where somebody has provided them. @internal */
  messages: MessagesHost | undefined;
  /** Other machines that run the calls of sessions opened from now on. @internal */
  place: CallPlace | undefined;
  /** Where other machines find conversations and gateways that they may have to go on with. @internal */
  sharedLog: SharedLog | undefined;
  readonly cwd: string;
  /** The configuration as it stands on disk now; `applyConfig` puts it into force. */
  readonly readConfig: () => Promise<LoadedConfig>;
  readonly registry: ToolRegistry;
  readonly hooks: Hooks;
  readonly events = new EventBus();
  readonly secrets = new SecretRegistry();
  /** Masks every secret the runtime knows. @internal */
  readonly redact = (text: string): string => this.secrets.redact(text);
  readonly log: Logger;
  /** The last lines of the log, for whoever looks from outside. @internal */
  readonly logLines = new LogRing();
  /** @internal */
  readonly toolSelection: ToolSelection;
  /** Who is asked, and the questions that wait for an answer. @internal */
  readonly approvals: RuntimeApprovals;
  /** What sessions have running in the background. */
  readonly processes: RuntimeProcesses;
  readonly #availability: AvailabilityCache;
  readonly #definitions: RuntimeDefinitions;
  readonly #givenJournal: boolean | Journal;
  /** Set when calls wait for each other across more than this process. @internal */
  readonly locks: EffectLocks | undefined;
  readonly #policy: Policy | undefined;
  readonly #yolo: boolean;
  #sessions: Promise<SessionFactory> | undefined;
  #journal: Promise<Journal> | undefined;
  #store: Promise<Store> | undefined;
  #tracer: Promise<Tracer | undefined> | undefined;
  #closed = false;
  readonly #stopListening: () => void;
  readonly #endings = new Set<() => Promise<void>>();
  #config: LoadedConfig;

  constructor(parts: RuntimeParts) {
    const { config } = parts;
    this.#config = config;
    this.cwd = parts.cwd;
    this.registry = parts.registry;
    this.log = maskedLogger(this.logLines.before(parts.log), this.redact);
    this.readConfig = parts.readConfig;
    this.#givenJournal = parts.journal;
    this.locks = parts.locks;
    this.approvals = new RuntimeApprovals(this, parts.approvals);
    this.hooks = new Hooks({ timeoutMs: config.values.hooks.timeout_seconds * 1000, log: this.log });
    addKnownSecrets(this.secrets, config);
    this.toolSelection = new ToolSelection(this, parts.platform);
    this.toolSelection.configure(config);
    this.#availability = new AvailabilityCache({
      deadlineMs: config.values.tools.check_timeout_seconds * 1000,
      elsewhere: (entry) => this.place?.statusOf(entry),
      checkNeeds: (needs) => checkNeeds(needs, this.#config, this.sources.plugins),
      mask: this.redact,
      onChange: (key, status) => this.#announceAvailability(key, status),
    });
    this.#definitions = new RuntimeDefinitions(this, this.#availability);
    this.processes = new RuntimeProcesses(this);
    this.sources = new RuntimeSources(this);
    this.#policy = parts.policy;
    this.#yolo = parts.yolo === true;
    this.#stopListening = this.registry.onChange((generation) => {
      this.events.emit({ type: "tools.changed", generation });
    });
  }

  /** Code of tools that has changed and waits for a person's yes. @internal */
  isHeld(file: string): boolean {
    return this.changes?.isHeld(file) === true;
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
  async applyConfig(config: LoadedConfig, { held = false } = {}): Promise<void> {
    if (this.#closed) return;
    this.toolSelection.configure(config, this.#config);
    this.#config = config;
    addKnownSecrets(this.secrets, config);
    this.#definitions.forgetRules();
    await (await this.#sessions)?.reloadRules(held);
    await this.sources.refresh(config);
    await this.invalidate();
  }

  /**
   * Forgets what is known of which tools can be used, and looks anew at those somebody has asked about; what turns is
   * told as `tool.availability`. For programs that change the environment: a variable, PATH, an installed program.
   */
  async invalidate(): Promise<void> {
    const known = this.#askedAbout();
    this.#availability.invalidate();
    this.registry.touch();
    await statusesOf(known, this.#availability);
  }

  /** The same after a program came or went: what does not turn stays as it was, and nobody is told. @internal */
  async programsChanged(): Promise<void> {
    const known = this.#askedAbout().filter(({ needs }) => needs !== undefined);
    const before = known.map((entry) => this.#availability.peek(entry)?.ok);
    this.#availability.invalidate(known);
    const after = await statusesOf(known, this.#availability);
    if (known.some(({ name }, index) => after.get(name)?.ok !== before[index])) this.registry.touch();
  }

  #askedAbout(): readonly Entry[] {
    const entries = [...this.registry.snapshot().entries.values()];
    return entries.filter((entry) => this.#availability.peek(entry) !== undefined);
  }

  /** Definitions in OpenAI format, sorted and byte-stable; a repeated question gets the very same list. */
  getToolDefinitions(request: DefinitionsRequest = {}): Promise<readonly ToolDefinition[]> {
    return this.#definitions.get(request);
  }

  /** True when at least one tool of the toolset can run now. */
  async isToolsetAvailable(name: string): Promise<boolean> {
    const known = this.toolSelection.known();
    const names = resolveToolset(name, known);
    if (names === undefined) throw new HermesError(unknownToolset(name, known));
    const entries = names.flatMap((tool) => this.registry.get(tool) ?? []);
    const statuses = await statusesOf(entries, this.#availability);
    return entries.some((entry) => isReady(statuses, entry));
  }

  toolsets(): readonly ToolsetInfo[] {
    return describeToolsets(this.toolSelection.known());
  }

  /** A toolset made while the program runs. */
  createToolset(name: string, definition: CustomToolset): void {
    this.toolSelection.create(name, definition);
  }

  /** Toolsets that one source brings, in the place of those it brought before. @internal */
  setToolsets(source: string, toolsets: Readonly<Record<string, CustomToolset>>): void {
    this.toolSelection.bring(source, toolsets);
  }

  /** Every registered tool with whether it is on, whether it can run, and why not. */
  listTools(request: Pick<DefinitionsRequest, "enabled" | "disabled"> = {}): Promise<readonly ToolListing[]> {
    return this.#definitions.list(request);
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

  async openSession(options: OpenSessionOptions = {}): Promise<Session> {
    refuseUnknownOptions(options, { known: KNOWN_SESSION_OPTIONS, of: "openSession" });
    const { approver } = options;
    const asked = typeof approver === "function" ? approverFrom(approver) : approver;
    return (await this.#sessionFactory()).open({ ...options, approver: asked });
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

  /** The call journal, opened on first use; a disabled one remembers nothing. */
  journal(): Promise<Journal> {
    this.#journal ??= this.#openJournal();
    return this.#journal;
  }

  /** Sends traces where the environment names a collector (OTEL_EXPORTER_OTLP_ENDPOINT); nothing otherwise. @internal */
  tracer(): Promise<Tracer | undefined> {
    const { env } = process;
    if (!env.OTEL_EXPORTER_OTLP_ENDPOINT && !env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return NO_TRACER;
    this.#tracer ??= import("../observe/otel/tracer.js").then(({ openTracer }) =>
      openTracer({ env, events: this.events, log: this.log }),
    );
    return this.#tracer;
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
    // Calls that wait for an answer end with it.
    await this.approvals.close();
    await this.sources.close();
    await this.registry.close();
    await (await this.#sessions)?.close();
    // A journal that could not be opened was reported to whoever asked for it.
    await (await this.#tracer)?.close();
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
    // One that could not be opened may be opened the next time.
    this.#store ??= this.#openStore().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
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
    const { openJournal } = await import("../call/sqlite-journal.js");
    try {
      const kept = this.config.values.journal;
      return openJournal(await this.store(), {
        resultsMb: kept.results && kept.results_mb,
        statsMb: kept.stats_mb,
        retentionDays: kept.retention_days,
      });
    } catch (error) {
      // The next session tries again.
      this.#journal = undefined;
      const { isDiskFull } = await import("../store/database-error.js");
      if (!isDiskFull(error, this.config.paths.home)) throw error;
      const message = messageOf(error);
      this.log.error(`${message}. Calls that only read go on; they are not in the journal.`);
      return fullJournal(message);
    }
  }

  #announceAvailability(key: unknown, status: { readonly ok: boolean; readonly reason?: string }): void {
    if (!this.events.wants("tool.availability")) return;
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
