import type { Withheld } from "../policy/profiles/permission-files.js";
import type { AvailabilityCache, Status } from "../registry/availability.js";
import {
  buildDefinitions,
  DefinitionsMemo,
  isReady,
  statusesOf,
  type ToolDefinition,
} from "../registry/definitions.js";
import type { Entry } from "../registry/entry.js";
import { isDeferrable } from "../search/deferrable.js";
import type { Runtime } from "./runtime.js";
import { toolUse } from "./tool-use.js";

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

/** What a model is told of the tools, and what a person is, without a session. */
export class RuntimeDefinitions {
  readonly #runtime: Runtime;
  readonly #availability: AvailabilityCache;
  readonly #memo = new DefinitionsMemo();
  #withheld: Promise<Withheld | undefined> | undefined;

  constructor(runtime: Runtime, availability: AvailabilityCache) {
    this.#runtime = runtime;
    this.#availability = availability;
  }

  /** The rules are to be read anew. */
  forgetRules(): void {
    this.#withheld = undefined;
  }

  async get(request: DefinitionsRequest): Promise<readonly ToolDefinition[]> {
    const { config, registry, toolSelection, log } = this.#runtime;
    const { vocabulary } = config.values.tools;
    const key = JSON.stringify([
      request.enabled?.toSorted(),
      request.disabled?.toSorted(),
      registry.generation,
      toolSelection.version,
      vocabulary,
      request.toolSearch,
      request.contextTokens,
    ]);
    const remembered = this.#memo.get(key, Date.now());
    if (remembered !== undefined) return remembered;
    const snapshot = registry.snapshot();
    const selection = toolSelection.select(request.enabled, request.disabled);
    const withheld = await this.#rules();
    const entries = [...snapshot.entries.values()].filter(
      // What needs an agent loop is offered by the sessions of one.
      (entry) => entry.host === undefined && selection.selects(entry.name) && withheld?.(entry) === undefined,
    );
    const statuses = await statusesOf(entries, this.#availability);
    let definitions = await buildDefinitions({ entries, statuses, vocabulary, log });
    if (request.quiet !== true && definitions.length < entries.length) {
      log.info(`${entries.length - definitions.length} tools are left out because they are not available`);
    }
    if (request.toolSearch !== false && entries.some(isDeferrable)) {
      const { assembleReady } = await import("../search/assemble.js");
      ({ definitions } = assembleReady({
        definitions,
        ready: entries.filter((entry) => isReady(statuses, entry)),
        registry: snapshot,
        values: this.#runtime.config.values,
        contextTokens: request.contextTokens,
        use: await toolUse(this.#runtime),
        mode: request.toolSearch === "on" ? "on" : undefined,
      }));
    }
    this.#memo.set(key, { definitions, freshUntil: this.#availability.freshUntil(entries) });
    return definitions;
  }

  async list(request: Pick<DefinitionsRequest, "enabled" | "disabled">): Promise<readonly ToolListing[]> {
    const { registry, toolSelection } = this.#runtime;
    const { entries } = registry.snapshot();
    const selection = toolSelection.select(request.enabled, request.disabled);
    const [statuses, withheld] = await Promise.all([
      statusesOf(entries.values(), this.#availability),
      this.#rules(),
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

  /** What the profile in force keeps from a model. */
  #rules(): Promise<Withheld | undefined> {
    this.#withheld ??= import("../policy/profiles/permission-files.js").then(({ offeringFor }) =>
      offeringFor(this.#runtime.config),
    );
    return this.#withheld;
  }
}

/** One line of `hermes tools list`, and the whole of `hermes tools info`. */
export interface ToolListing {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly emoji: string;
  readonly permissions: readonly string[];
  readonly provenance: Entry["provenance"];
  readonly enabled: boolean;
  readonly because: string;
  readonly available: boolean;
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  readonly requires_env: readonly string[];
  /** Whether Tool Search may hide it from a model that has too many. */
  readonly deferrable: boolean;
}

const DEFAULT_EMOJI = "⚡";

function listingOf(options: {
  readonly entry: Entry;
  readonly status: Status;
  readonly enabled: boolean;
  readonly because: string;
}): ToolListing {
  const { entry, status } = options;
  return {
    name: entry.name,
    aliases: entry.aliases,
    toolset: entry.toolset,
    description: entry.description,
    emoji: entry.emoji ?? DEFAULT_EMOJI,
    permissions: entry.permissions,
    provenance: entry.provenance,
    enabled: options.enabled,
    because: options.because,
    available: status.ok,
    reason: status.reason,
    fix: status.fix,
    requires_env: entry.requiresEnv ?? [],
    deferrable: isDeferrable(entry),
  };
}
