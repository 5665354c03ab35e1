import { type Failure, failure } from "../tool/errors.js";
import type { Status } from "./availability.js";
import type { Entry } from "./entry.js";
import type { RegistrySnapshot, ToolRegistry } from "./registry.js";
import { canonicalToolName, type Selection, type SelectionStep, unknownTool } from "./toolsets.js";

export interface Found {
  readonly entry: Entry;
  /** The spelling that matched: the canonical name or one of its aliases. */
  readonly spelling: string;
}

/** Candidate spellings of a decorated name ("functions.web_search"); injected so that the registry needs no protocol. */
export type NameVariants = (name: string) => readonly string[];

/**
 * The tools of one session, fixed when it opens. What is outside it cannot be called, whatever the model
 * says; what vanishes later answers "unavailable"; a reloaded version of the same tool is picked up.
 */
export class View {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly statuses: ReadonlyMap<string, Status>;
  readonly #registry: ToolRegistry;
  readonly #snapshot: RegistrySnapshot;
  readonly #selection: Selection;
  readonly #variants: NameVariants;

  constructor(fields: {
    readonly registry: ToolRegistry;
    readonly snapshot: RegistrySnapshot;
    readonly selection: Selection;
    readonly statuses: ReadonlyMap<string, Status>;
    readonly variants: NameVariants;
  }) {
    this.#registry = fields.registry;
    this.#snapshot = fields.snapshot;
    this.#selection = fields.selection;
    this.#variants = fields.variants;
    this.statuses = fields.statuses;
    const entries = new Map<string, Entry>();
    for (const [name, entry] of fields.snapshot.entries) {
      if (fields.selection.selects(name)) entries.set(name, entry);
    }
    this.entries = entries;
  }

  /** Changes whenever `current` may. */
  get generation(): number {
    return this.#registry.generation;
  }

  /** The tools as they are now: reloaded versions in place of older ones, without what is gone. */
  current(): readonly Entry[] {
    return [...this.entries.keys()].flatMap((name) => {
      const found = this.#current(name);
      return found !== undefined && "entry" in found ? [found.entry] : [];
    });
  }

  /** The entry a typed name means here, or why it means none. */
  find(name: string): Found | Failure {
    const direct = this.#current(name);
    if (direct !== undefined) return direct;
    for (const variant of [name, ...this.#variants(name)]) {
      const found = this.#current(canonicalToolName(variant, this.#snapshot), variant);
      if (found !== undefined) return found;
    }
    return this.#absent(name);
  }

  #current(name: string, spelling = name): Found | Failure | undefined {
    const frozen = this.entries.get(name);
    if (frozen === undefined) return undefined;
    const live = this.#registry.get(name);
    if (live === frozen) return { entry: frozen, spelling };
    if (live === undefined) {
      return failure(
        "unavailable",
        `${name} is no longer registered`,
        "Open a new session to see the tools that exist now.",
      );
    }
    const sameOwner = live.toolset === frozen.toolset && live.provenance.kind === frozen.provenance.kind;
    return { entry: sameOwner ? live : frozen, spelling };
  }

  #absent(name: string): Failure {
    for (const variant of [name, ...this.#variants(name)]) {
      const canonical = canonicalToolName(variant, this.#snapshot);
      if (!this.#snapshot.entries.has(canonical)) continue;
      const { because } = this.explain(canonical);
      return failure(
        "out_of_scope",
        `Unknown tool: ${name}`,
        `It exists, but not in this session: ${because}.`,
      );
    }
    return unknownTool(name, this.#known());
  }

  /** For whoever is inside: the same words for what does not exist and what this session may not know of. */
  unknown(name: string): Failure {
    return unknownTool(name, { ...this.#known(), inside: true });
  }

  #known(): { readonly registry: RegistrySnapshot } {
    return { registry: { ...this.#snapshot, entries: this.entries } };
  }

  /** True for the name of a tool that exists, but not in this session. */
  isForeign(name: string): boolean {
    const canonical = canonicalToolName(name, this.#snapshot);
    return !this.entries.has(canonical) && this.#snapshot.entries.has(canonical);
  }

  /** Why a tool is in or out; the view was made of the same steps. */
  explain(canonical: string): SelectionStep {
    return this.#selection.explain(canonical);
  }

  /** A view that holds only what both this one and the request hold. */
  narrowedTo(names: ReadonlySet<string>): View {
    const kept = new Set([...this.entries.keys()].filter((name) => names.has(name)));
    return new View({
      registry: this.#registry,
      snapshot: this.#snapshot,
      selection: { ...this.#selection, selects: (name) => kept.has(name) },
      statuses: this.statuses,
      variants: this.#variants,
    });
  }
}
