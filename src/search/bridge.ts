import type { Bridge } from "../call/scope.js";
import { isReady } from "../registry/definitions.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { Found, NameVariants, View } from "../registry/view.js";
import type { IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { type Assembly, assembleTools } from "./assemble.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import type { ToolSearchSettings } from "./settings.js";
import type { SearchableTool, ToolFinder } from "./types.js";
import { unwrapCall } from "./unwrap.js";

/**
 * Tool Search of one session. It holds nothing but the session's view: what a narrower session may not call, its
 * search does not find and its calls do not reach.
 */
export class ToolSearchBridge implements Bridge {
  readonly #view: View;
  readonly #settings: ToolSearchSettings;
  readonly #variants: NameVariants;
  readonly #finderFor: (tools: readonly SearchableTool[]) => ToolFinder;
  #catalogue: Catalogue | undefined;
  /** The registry's generation that the catalogue was made or compared at. */
  #comparedAt = -1;
  #tools: ReadonlyMap<string, Entry> | undefined;

  constructor(options: {
    readonly view: View;
    readonly settings: ToolSearchSettings;
    readonly variants: NameVariants;
    finderFor(tools: readonly SearchableTool[]): ToolFinder;
  }) {
    this.#view = options.view;
    this.#settings = options.settings;
    this.#variants = options.variants;
    this.#finderFor = options.finderFor;
  }

  find(name: string): Found | undefined {
    const own = this.#ownName(name);
    const entry = own === undefined ? undefined : this.#entries().get(own);
    return entry && { entry, spelling: entry.name };
  }

  unwrap(request: IncomingCall): IncomingCall | Failure | undefined {
    const { names } = this.#settings;
    if (this.#ownName(request.name) !== names.call) return undefined;
    return unwrapCall(request, {
      names,
      refuse: (name) => {
        const found = this.#lookUp(name);
        return "code" in found ? found : undefined;
      },
    });
  }

  /** What a model of this session is told. */
  assemble(definitions: readonly ToolDefinition[]): Assembly {
    return assembleTools({
      definitions,
      settings: this.#settings,
      isDeferrable: (name) => {
        const found = this.#view.find(name);
        return "entry" in found && isDeferrable(found.entry);
      },
      bridge: () => [...this.#entries().values()].map((entry) => entry.definition),
    });
  }

  #ownName(name: string): string | undefined {
    const { mode, names } = this.#settings;
    if (mode === "off") return undefined;
    const isOwn = (spelling: string) =>
      spelling === names.call || spelling === names.search || spelling === names.describe;
    if (isOwn(name)) return name;
    // Nearly every call names a tool as it is; undressing names costs more than the rest of the look-up.
    return this.#view.entries.has(name) ? undefined : this.#variants(name).find(isOwn);
  }

  /** The hidden tool of this session that a name means in any spelling, or why it means none. */
  #lookUp(name: string): Entry | Failure {
    const { names } = this.#settings;
    const own = this.#ownName(name);
    if (own !== undefined)
      return failure("bad_request", `${own} is itself a part of the tool search`, `Call ${own} directly.`);
    const found = this.#view.find(name);
    if ("entry" in found) {
      if (isDeferrable(found.entry)) return found.entry;
      const listed = found.entry.name;
      return failure(
        "bad_request",
        `${listed} is not behind the tool search`,
        `It is one of the tools you have been told of: call ${listed} directly, by its own name.`,
      );
    }
    if (found.code !== "not_found") return found;
    const near = this.#hidden().similar(name);
    const hint = `${near.length > 0 ? `Did you mean ${near.join(", ")}? ` : ""}${names.search} finds names.`;
    return failure(found.code, found.message, hint);
  }

  /** The hidden tools as they are now: a source may have changed some, or taken them away, since the view was made. */
  #hidden(): Catalogue {
    const { generation, statuses } = this.#view;
    if (this.#catalogue !== undefined && this.#comparedAt === generation) return this.#catalogue;
    const entries = this.#view.current().filter((entry) => isDeferrable(entry) && isReady(statuses, entry));
    this.#comparedAt = generation;
    if (this.#catalogue?.isOf(entries) !== true)
      this.#catalogue = new Catalogue({ entries, finderFor: this.#finderFor });
    return this.#catalogue;
  }

  /** Made once: what a model has been told of them holds for the whole session. */
  #entries(): ReadonlyMap<string, Entry> {
    this.#tools ??= new Map(
      bridgeTools({
        settings: this.#settings,
        catalogue: () => this.#hidden(),
        lookUp: (name) => this.#lookUp(name),
      }).map((tool) => [tool.name, Entry.fromTool(tool, { kind: "builtin" })]),
    );
    return this.#tools;
  }
}
