import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { DEFAULT_LIMITS } from "../call/bounds.js";
import { EffectLocks } from "../call/effect-locks.js";
import { type GuardrailMode, Guardrails } from "../call/guardrails.js";
import type { Journal } from "../call/journal.js";
import type { CallServices, Policy } from "../call/scope.js";
import { createSpill } from "../call/spill.js";
import { nearest } from "../config/did-you-mean.js";
import type { Environment } from "../env/environment.js";
import { createPolicy } from "../policy/engine.js";
import { PROFILES } from "../policy/profiles.js";
import { normalizeToolName } from "../protocol/tool-names.js";
import type { AvailabilityCache } from "../registry/availability.js";
import { statusesOf } from "../registry/definitions.js";
import { View } from "../registry/view.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Runtime } from "./runtime.js";
import { Session, type SessionOptions } from "./session.js";
import { settingsFor } from "./settings.js";

/** Makes sessions and owns what they share. Loaded with the first one: lists and definitions never need the path. */
export class SessionFactory {
  readonly #runtime: Runtime;
  readonly #availability: AvailabilityCache;
  readonly #policy: Policy;
  readonly #environments = new Map<string, Promise<Environment>>();
  readonly #locks = new EffectLocks();

  constructor(options: {
    readonly runtime: Runtime;
    readonly availability: AvailabilityCache;
    readonly policy: Policy | undefined;
    readonly yolo: boolean;
  }) {
    const { runtime } = options;
    const { values, paths, policyIncomplete } = runtime.config;
    this.#runtime = runtime;
    this.#availability = options.availability;
    this.#policy =
      options.policy ??
      createPolicy({
        hermesHome: paths.home,
        denyCommands: values.approvals.deny,
        allowCommands: values.command_allowlist,
        yolo: options.yolo || values.approvals.mode === "off",
        readOnly: policyIncomplete,
      });
  }

  async open(options: SessionOptions): Promise<Session> {
    const { registry, config, cwd } = this.#runtime;
    const profile = options.profile ?? config.values.permissions.profile;
    assertProfile(profile);
    const snapshot = registry.snapshot();
    const selection = this.#runtime.select(options.toolsets, options.disabledToolsets);
    const selected = [...snapshot.entries.values()].filter((entry) => selection.selects(entry.name));
    const [statuses, environment, journal] = await Promise.all([
      statusesOf(selected, this.#availability),
      this.#environment(options.environment ?? config.values.terminal.env),
      this.#runtime.journal(),
    ]);
    const id = `s_${randomUUID().slice(0, 13)}`;
    const workdir = resolve(options.cwd ?? cwd);
    const guardrails = new Guardrails(guardrailMode(options.guardrails, config.values.guardrails.hard_stop));
    return new Session(
      {
        info: { id, profile, cwd: workdir, guarded: guardrails.mode !== "off" },
        rootId: id,
        door: options.door ?? "library",
        view: new View({ registry, snapshot, selection, statuses, variants: normalizeToolName }),
        environment,
        home: environment.files.resolve("~", workdir),
        host: options.host ?? {},
        approver: options.approver,
        ask: options.ask ?? (async () => undefined),
        grants: new Set(),
        reviews: { denials: 0 },
        guardrails,
        ancestors: [],
        services: this.#services(journal),
      },
      { vocabulary: config.values.tools.vocabulary },
    );
  }

  async close(): Promise<void> {
    for (const environment of this.#environments.values()) await (await environment).close();
  }

  #environment(name: string): Promise<Environment> {
    const known = this.#environments.get(name);
    if (known !== undefined) return known;
    if (name !== "local") {
      throw new HermesError(
        failure(
          "unavailable",
          `Environment ${name} is not available`,
          'This version runs tools in the "local" environment.',
        ),
      );
    }
    const { env, values } = this.#runtime.config;
    const made = import("../env/local.js").then(({ createLocalEnvironment }) =>
      createLocalEnvironment({ env, passthrough: values.terminal.env_passthrough }),
    );
    this.#environments.set(name, made);
    return made;
  }

  #services(journal: Journal): CallServices {
    const { config, hooks, events, log, secrets } = this.#runtime;
    const { values, paths } = config;
    const { overrides } = values.tool_budget;
    return {
      availability: this.#availability,
      policy: this.#policy,
      hooks,
      locks: this.#locks,
      journal,
      spill: createSpill({ dir: join(paths.cache, "spillover") }),
      limits: {
        ...DEFAULT_LIMITS,
        perResult: values.tool_budget.result_size_chars,
        perTurn: values.tool_budget.turn_size_chars,
        mcpResult: values.tool_budget.mcp_result_size_chars,
      },
      events,
      log,
      secrets,
      redact: (text) => secrets.redact(text),
      defaultTimeoutMs: values.tools.timeout_seconds * 1000,
      timeoutCeilingMs:
        config.origin("tools.timeout_seconds").source === "flag"
          ? values.tools.timeout_seconds * 1000
          : undefined,
      approvalTimeoutMs: values.approvals.timeout * 1000,
      maxWorkers: values.tools.max_workers,
      cacheDir: paths.cache,
      settingsFor: (tool) => settingsFor(tool, config),
      resultLimitOf: (tool) => (Object.hasOwn(overrides, tool) ? overrides[tool] : undefined),
    };
  }
}

function assertProfile(name: string): void {
  if (PROFILES.has(name)) return;
  const known = [...PROFILES.keys()];
  const close = nearest(name, known);
  throw new HermesError(
    failure(
      "not_found",
      `Unknown permission profile: ${name}`,
      close.length > 0 ? `Did you mean ${close.join(", ")}?` : `There are: ${known.join(", ")}.`,
    ),
  );
}

/** Programs are not watched unless they ask for it; where a model calls, the configuration may make it strict. */
function guardrailMode(asked: GuardrailMode | undefined, hardStop: "auto" | "on" | "off"): GuardrailMode {
  if (asked === undefined || asked === "off") return "off";
  if (hardStop === "on") return "stop";
  return hardStop === "off" ? "warn" : asked;
}
