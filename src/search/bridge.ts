import type { Bridge } from "../call/scope.js";
import { isReady } from "../registry/definitions.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { Found, NameVariants, View } from "../registry/view.js";
import type { IncomingCall } from "../tool/call.js";
import type { Failure } from "../tool/errors.js";
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
      isBridge: (name) => this.#ownName(name) !== undefined,
      isDirect: (name) => this.#isDirect(name),
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

  #isDirect(name: string): boolean {
    const found = this.#view.find(name);
    return "entry" in found && !isDeferrable(found.entry);
  }

  #entries(): ReadonlyMap<string, Entry> {
    this.#catalogue ??= new Catalogue({
      ready: [...this.#view.entries.values()].filter((entry) => isReady(this.#view.statuses, entry)),
      finderFor: this.#finderFor,
    });
    this.#tools ??= new Map(
      bridgeTools({ catalogue: this.#catalogue, settings: this.#settings }).map((tool) => [
        tool.name,
        Entry.fromTool(tool, { kind: "builtin" }),
      ]),
    );
    return this.#tools;
  }
}
