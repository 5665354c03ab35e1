import { randomUUID } from "node:crypto";
import { delimiter, join, resolve } from "node:path";
import { isAtOrBelow } from "../base/path.js";
import { DEFAULT_LIMITS } from "../call/bounds.js";
import { delegateEnvironment } from "../call/delegate-environment.js";
import { type EffectLocks, InProcessLocks } from "../call/effect-locks.js";
import type { FileChanges } from "../call/file-changes.js";
import { type GuardrailMode, Guardrails } from "../call/guardrails.js";
import type { Journal } from "../call/journal.js";
import { provides } from "../call/resolve.js";
import type { CallServices, PermanentGrants, Policy, Reviewer } from "../call/scope.js";
import { SessionState } from "../call/session-state.js";
import { createSpill } from "../call/spill.js";
import { trustedFolders } from "../config/trust.js";
import { formatProblem } from "../config/types.js";
import type { ScheduledJobs } from "../cron/types.js";
import type { Environment } from "../env/environment.js";
import { inTask, TaskState } from "../env/task.js";
import { networkRules } from "../net/rules.js";
import type { Tracer } from "../observe/otel/tracer.js";
import { createPolicy, type PermissionPolicy } from "../policy/engine.js";
import type { Allowlist } from "../policy/grants/allowlist.js";
import { allowlistFrom } from "../policy/grants/config-grants.js";
import { loadPermissions } from "../policy/profiles/load.js";
import type { PermissionTable } from "../policy/profiles/permission-table.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import type { AvailabilityCache, Status } from "../registry/availability.js";
import { statusesOf } from "../registry/definitions.js";
import type { Entry } from "../registry/entry.js";
import { View } from "../registry/view.js";
import { HermesError } from "../tool/errors.js";
import type { HostCapabilities } from "../tool/host-capabilities.js";
import { EnvironmentPool } from "./environments.js";
import { fileChangesOf } from "./file-changes.js";
import { jobsOf } from "./jobs.js";
import { unknownWordsIn } from "./needs.js";
import { folderOfPackage, loadPackage } from "./packages/find.js";
import { heldPolicy } from "./reload/held-policy.js";
import type { Runtime } from "./runtime.js";
import { Session, type SessionOptions, sessionInfo } from "./session.js";
import { settingsReader } from "./settings.js";
import { RuntimeToolSearch } from "./tool-search.js";
import { toolUse } from "./tool-use.js";

/** Makes sessions and owns what they share. Loaded with the first one: lists and definitions never need the path. */
export class SessionFactory {
  readonly #runtime: Runtime;
  readonly #availability: AvailabilityCache;
  readonly #options: { readonly policy: Policy | undefined; readonly yolo: boolean };
  #allowlist: Allowlist;
  #rules: Promise<SessionRules>;
  /** The rules in force, once they have been read. */
  #latest: SessionRules | undefined;
  readonly #environments: EnvironmentPool;
  readonly #fileChanges: FileChanges | undefined;
  readonly #jobs: ScheduledJobs;
  readonly #locks: EffectLocks = new InProcessLocks();
  readonly #states = new Set<SessionState>();
  readonly toolSearch: RuntimeToolSearch;

  constructor(options: {
    readonly runtime: Runtime;
    readonly availability: AvailabilityCache;
    readonly policy: Policy | undefined;
    readonly yolo: boolean;
  }) {
    const { runtime } = options;
    this.#runtime = runtime;
    this.#availability = options.availability;
    this.#options = options;
    this.toolSearch = new RuntimeToolSearch(runtime);
    this.#locks = runtime.locks ?? new InProcessLocks();
    this.#allowlist = this.#openAllowlist();
    this.#rules = this.#loadRules(this.#allowlist);
    this.#fileChanges = fileChangesOf(runtime);
    this.#jobs = jobsOf(runtime);
    this.#environments = new EnvironmentPool({
      get config() {
        return runtime.config;
      },
      log: runtime.log,
      plugins: () => runtime.sources.plugins,
    });
  }

  #openAllowlist(): Allowlist {
    const { config, redact, log } = this.#runtime;
    return allowlistFrom(config, { redact, onTrouble: (message) => log.warn(message) });
  }

  /**
   * The configuration has changed: sessions opened from now on get its rules, open ones what is stricter in them. As
   * long as it waits for a person's yes, all of them get what is stricter and no more.
   */
  async reloadRules(held = false): Promise<void> {
    await this.#rules.catch(() => undefined);
    if (held) {
      this.#latest = await this.#readRules(this.#allowlist);
      return;
    }
    const before = this.#allowlist;
    const allowlist = this.#openAllowlist();
    const rules = this.#loadRules(allowlist);
    await rules;
    this.#allowlist = allowlist;
    this.#rules = rules;
    await before.close();
  }

  async #loadRules(allowlist: Allowlist): Promise<SessionRules> {
    const rules = await this.#readRules(allowlist);
    this.#latest = rules;
    return rules;
  }

  async #readRules(allowlist: Allowlist): Promise<SessionRules> {
    const options = this.#options;
    const { config, log, registry } = this.#runtime;
    const { env, values, paths, policyIncomplete, project, systemDir } = config;
    const permissions = await loadPermissions({ home: paths.home, project, systemDir });
    const { entries, aliases } = registry.snapshot();
    const strangers = permissions.unknownTools([...entries.keys(), ...aliases.keys()]);
    const words = await unknownWordsIn(config);
    for (const problem of [...permissions.problems, ...strangers, ...words]) log.warn(formatProblem(problem));
    const reviewer = await this.#reviewer();
    if (options.policy !== undefined) return { permissions, allowlist, policy: options.policy, reviewer };
    const policy = createPolicy({
      hermesHome: paths.home,
      writeRoots: env.HERMES_WRITE_SAFE_ROOT?.split(delimiter).filter((root) => root !== ""),
      permissions,
      denyCommands: values.approvals.deny,
      allowlist,
      yolo: options.yolo || values.approvals.mode === "off",
      readOnly: policyIncomplete,
      network: networkRules(values),
    });
    return { permissions, allowlist, policy, reviewer, withheld: policy.withheld };
  }

  async open(options: SessionOptions): Promise<Session> {
    const { registry, config, cwd, toolSelection } = this.#runtime;
    const profile = options.profile ?? config.values.permissions.profile;
    const rules = await this.#rules;
    const { permissions, withheld } = rules;
    const unknown = permissions.unknown(profile);
    if (unknown !== undefined) throw new HermesError(unknown);
    const snapshot = registry.snapshot();
    const selection = toolSelection.select(options.toolsets, options.disabledToolsets);
    const selected = [...snapshot.entries.values()].filter((entry) => selection.selects(entry.name));
    const [checked, environment, journal, tracer] = await Promise.all([
      statusesOf(selected, this.#availability),
      this.#openEnvironment(options),
      this.#runtime.journal(),
      this.#runtime.tracer(),
    ]);
    void this.#runtime.processes.recover();
    const use = await toolUse(this.#runtime);
    const statuses = withoutWithheld(checked, selected, (entry) => {
      return withheld?.(entry, { profile }) ?? withoutHost(entry, options.host ?? {});
    });
    const { continues } = options;
    const id = continues?.id ?? `s_${randomUUID().slice(0, 13)}`;
    const workspace = workspaceIn(environment, {
      // Folders of this machine mean nothing elsewhere.
      asked: environment.kind === "local" ? (options.workspace ?? options.cwd ?? cwd) : options.cwd,
      configured: config.values.terminal.cwd,
    });
    const start = options.workspace === undefined ? undefined : options.cwd;
    const task =
      continues?.scope.task ??
      new TaskState(start === undefined ? workspace : environment.files.resolve(start, workspace));
    task.hear(options.heard ?? []);
    const door = options.door ?? "library";
    const services = this.#services(journal, {
      ...rules,
      tracer,
      policy: this.#held(rules, options.profile),
      session: id,
      // Elsewhere the same path is another folder.
      trusted: environment.kind === "local" ? trustedFolders(config.paths.home) : [],
    });
    const guardrails = new Guardrails(guardrailMode(options.guardrails, config.values.guardrails.hard_stop), {
      turnsUnseen: options.turnsUnseen === true,
    });
    // A tool may refer to what it has told before only where it is known to be the same conversation.
    const guarded = guardrails.mode !== "off" && !guardrails.turnsUnseen;
    const session = new Session(
      {
        info: sessionInfo({ id, profile, workspace, task, guarded, door }),
        rootId: id,
        conversations: options.conversation === undefined ? [] : [options.conversation],
        door,
        model: options.model,
        labels: options.labels,
        view: new View({ registry, snapshot, selection, statuses, variants: normalizeToolName }),
        environment: inTask(environment, {
          state: task,
          workspace,
          session: { id, visible: [services.spill.dir] },
        }),
        task,
        processes: this.#runtime.processes.of(id),
        home: environment.files.resolve("~", workspace),
        host: { messages: this.#runtime.messages, ...options.host },
        approver: options.approver ?? this.#runtime.approvals.configured(),
        ask: options.ask ?? (async () => undefined),
        grants: new Set(),
        reviews: { denials: 0 },
        guardrails,
        state: continues?.scope.state ?? this.#openState(),
        ancestors: [],
        services,
      },
      {
        vocabulary: config.values.tools.vocabulary,
        environment,
        processes: this.#runtime.processes,
        bridgeFor: (view) => this.toolSearch.bridgeFor(view, { contextTokens: options.contextTokens, use }),
        openState: () => this.#openState(),
      },
    );
    await services.place?.beginSession(session.scope);
    return session;
  }

  /** Where calls run on other machines, what a session has of an environment here is its name. */
  async #openEnvironment({ environment, task }: SessionOptions): Promise<Environment> {
    const name = environment ?? this.#runtime.config.values.terminal.env;
    if (this.#runtime.place === undefined) return this.#environments.open({ name, task });
    return delegateEnvironment(await this.#environments.open({ name: "local", task }), { name });
  }

  #openState(): SessionState {
    const state = new SessionState(() => this.#states.delete(state));
    this.#states.add(state);
    return state;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#states].map((state) => state.close()));
    await this.#runtime.processes.close();
    await this.#environments.close();
    await this.#allowlist.close();
    await this.toolSearch.close();
  }

  /** Loaded only by those who want a model's opinion. */
  async #reviewer(): Promise<Reviewer | undefined> {
    const { config, redact } = this.#runtime;
    if (config.values.approvals.mode !== "smart") return undefined;
    const { reviewerFrom } = await import("../policy/reviewer/reviewer.js");
    return reviewerFrom(config.values, redact);
  }

  #held({ policy }: SessionRules, ownProfile: string | undefined): Policy {
    const runtime = this.#runtime;
    const { config } = runtime;
    return heldPolicy({
      opened: policy,
      latest: () => this.#latest?.policy ?? policy,
      profileNow: () => (ownProfile === undefined ? runtime.config.values.permissions.profile : undefined),
      switchedOff: (tool) =>
        runtime.config === config ? undefined : runtime.toolSelection.switchedOff(tool),
    });
  }

  /** A session that was opened under an older list is told of what is added, too. */
  #grants(opened: Allowlist): PermanentGrants {
    return {
      remember: async (entries, request) => {
        const latest = this.#allowlist;
        await latest.remember(entries, request);
        if (latest !== opened) opened.hold(entries, request);
      },
      countUse: (ids) => this.#allowlist.countUse(ids),
    };
  }

  #services(
    journal: Journal,
    {
      policy,
      reviewer,
      allowlist,
      session,
      trusted,
      tracer,
    }: SessionRules & {
      readonly session: string;
      readonly trusted: readonly string[];
      readonly tracer: Tracer | undefined;
    },
  ): CallServices {
    const { config, hooks, events, log, secrets, redact } = this.#runtime;
    const { values, paths } = config;
    const rules = networkRules(values);
    const { overrides } = values.tool_budget;
    return {
      availability: this.#availability,
      policy,
      hooks,
      locks: this.#locks,
      journal,
      jobs: this.#jobs,
      fileChanges: this.#fileChanges,
      spill: createSpill({
        root: join(paths.cache, "spillover"),
        session,
        maxBytes: values.tool_budget.spill_mb * 1024 * 1024,
      }),
      limits: {
        ...DEFAULT_LIMITS,
        perResult: values.tool_budget.result_size_chars,
        perTurn: values.tool_budget.turn_size_chars,
        mcpResult: values.tool_budget.mcp_result_size_chars,
      },
      events,
      tracer,
      place: this.#runtime.place,
      log,
      secrets,
      redact,
      trusts: (path) => trusted.some((folder) => isAtOrBelow(path, folder)),
      defaultTimeoutMs: values.tools.timeout_seconds * 1000,
      timeoutCeilingMs:
        config.origin("tools.timeout_seconds").source === "default"
          ? undefined
          : values.tools.timeout_seconds * 1000,
      vocabulary: values.tools.vocabulary,
      approvalTimeoutMs: values.approvals.timeout * 1000,
      permanentGrants: this.#grants(allowlist),
      reviewer,
      maxWorkers: values.tools.max_workers,
      cacheDir: paths.cache,
      fetch: async (request) => (await import("../net/fetch.js")).guardedFetch({ ...request, rules }),
      connect: async (request) => (await import("../net/connect.js")).guardedConnect({ ...request, rules }),
      openProxy: async (request) =>
        (await import("../net/socks-server.js")).openSocksProxy({ ...request, rules }),
      lookUp: async (question) => (await import("../net/name-records.js")).lookUpName(question),
      loadPackage: (name) => loadPackage(name, paths.home),
      packageFolder: (name) => folderOfPackage(name, paths.home),
      settingsFor: settingsReader(config),
      resultLimitOf: (tool) => (Object.hasOwn(overrides, tool) ? overrides[tool] : undefined),
    };
  }
}

/** Absolute in the environment; where nothing is said, the home folder there. */
function workspaceIn(
  environment: Environment,
  place: { readonly asked: string | undefined; readonly configured: string },
): string {
  if (environment.kind === "local") return resolve(place.asked ?? ".");
  return environment.files.resolve(place.asked ?? (place.configured || "~"), "/");
}

interface SessionRules {
  readonly permissions: PermissionTable;
  readonly allowlist: Allowlist;
  readonly policy: Policy;
  readonly reviewer: Reviewer | undefined;
  readonly withheld?: PermissionPolicy["withheld"];
}

/**
 * A model is not told of tools whose every use is denied. They stay in the view, so that a call of one is
 * answered with the rule that denies it.
 */
function withoutWithheld(
  statuses: ReadonlyMap<string, Status>,
  entries: readonly Entry[],
  withheld: (entry: Entry) => string | undefined,
): ReadonlyMap<string, Status> {
  const kept = new Map(statuses);
  for (const entry of entries) {
    const reason = withheld(entry);
    if (reason !== undefined) kept.set(entry.name, { ok: false, reason });
  }
  return kept;
}

/** A tool of the agent loop cannot work in a session without one. */
function withoutHost({ host }: Entry, given: HostCapabilities): string | undefined {
  return host === undefined || provides(given, host) ? undefined : "it needs an agent session";
}

/** Programs are not watched unless they ask for it; where a model calls, the configuration may make it strict. */
function guardrailMode(asked: GuardrailMode | undefined, hardStop: "auto" | "on" | "off"): GuardrailMode {
  if (asked === undefined || asked === "off") return "off";
  if (hardStop === "on") return "stop";
  return hardStop === "off" ? "warn" : asked;
}
