import type { Bridge } from "../call/scope.js";
import { isReady } from "../registry/definitions.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { Found, NameVariants, View } from "../registry/view.js";
import type { IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { parseArguments } from "../tool/parse-arguments.js";
import { clip } from "../tool/preview.js";
import { describeThrown } from "../tool/thrown.js";
import { type Assembly, assembleTools } from "./assemble.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import type { BridgeNames, ToolSearchSettings } from "./settings.js";
import { isHardlyUsed } from "./tool-use.js";
import type { SearchableTool, ToolFinder } from "./types.js";

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
  /** Set where only a part of what can be hidden is: the rest is listed. */
  #listed: ReadonlySet<string> = new Set();

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
    const { use } = this.#settings;
    const entryOf = (name: string) => {
      const found = this.#view.find(name);
      return "entry" in found && isDeferrable(found.entry) ? found.entry : undefined;
    };
    return assembleTools({
      definitions,
      settings: this.#settings,
      isDeferrable: (name) => entryOf(name) !== undefined,
      isHardlyUsed: (name) => {
        const entry = entryOf(name);
        return use !== undefined && entry !== undefined && isHardlyUsed(use, entry.name);
      },
      bridge: (deferred) => {
        const hidden = new Set(deferred);
        const listed = definitions.filter((definition) => !hidden.has(definition));
        this.#listed = new Set(listed.flatMap(({ function: { name } }) => entryOf(name)?.name ?? []));
        return [...this.#entries().values()].map((entry) => entry.definition);
      },
    });
  }

  #isHidden(entry: Entry): boolean {
    return isDeferrable(entry) && !this.#listed.has(entry.name);
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
      if (this.#isHidden(found.entry)) return found.entry;
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
    const entries = this.#view.current().filter((entry) => this.#isHidden(entry) && isReady(statuses, entry));
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

/** Where models put the arguments of the inner call when they forget what the field is called. */
const ARGUMENT_FIELDS = ["arguments", "args", "input", "parameters"];

interface UnwrapOptions {
  readonly names: BridgeNames;
  /** Why a name cannot be called this way: the session has no such tool, or shows it anyway. */
  refuse(name: string): Failure | undefined;
}

/** The call inside a call of the calling stand-in, or why there is none. Never throws: it runs before the path. */
function unwrapCall(request: IncomingCall, options: UnwrapOptions): IncomingCall | Failure {
  const { call, search } = options.names;
  const usage = `Usage: ${call}({"name": "…", "arguments": {…}}); ${search} finds names.`;
  const outer = read(request.arguments);
  if (outer.kind !== "object") {
    const why = outer.kind === "refused" ? outer.reason : "no arguments were given";
    return failure("invalid_arguments", `Invalid arguments for ${call}: ${why}`, usage);
  }
  const { name, ...rest } = outer.value;
  if (typeof name !== "string" || name.trim() === "")
    return failure("invalid_arguments", `${call} needs the name of a tool`, usage);
  const refused = options.refuse(name);
  if (refused !== undefined) return refused;
  const inner = innerArguments(rest);
  if ("problem" in inner)
    return failure(
      "invalid_arguments",
      `The arguments for ${name} are not usable: ${inner.problem}; nothing was run`,
      usage,
    );
  return { id: request.id, name, arguments: inner.value };
}

/** Objects of a program may throw when they are read. */
function read(given: unknown): ReturnType<typeof parseArguments> {
  try {
    return parseArguments(given);
  } catch (thrown) {
    return { kind: "refused", reason: `they cannot be read: ${describeThrown(thrown).message}` };
  }
}

/**
 * An object, JSON text, or nothing at all; text may still be repaired by decode. Arguments that stand beside the name
 * are taken as they are meant: a tool must never run without what it was given.
 */
function innerArguments(
  rest: Readonly<Record<string, unknown>>,
): { readonly value: unknown } | { readonly problem: string } {
  const field = ARGUMENT_FIELDS.find((candidate) => rest[candidate] !== undefined);
  if (field === undefined) return { value: rest };
  const { [field]: given, ...beside } = rest;
  const isBlank = given === null || (typeof given === "string" && given.trim() === "");
  const strays = Object.keys(beside).filter((key) => beside[key] !== undefined && beside[key] !== null);
  if (strays.length > 0) {
    if (isBlank) return { value: beside };
    const shown = strays.slice(0, 3).map((key) => clip(key, 40));
    return { problem: `${shown.join(", ")} must stand inside ${field}, not beside it` };
  }
  if (isBlank) return { value: {} };
  if (typeof given === "string") {
    const parsed = parseArguments(given);
    return parsed.kind === "refused" ? { problem: parsed.reason } : { value: given };
  }
  return typeof given === "object" && !Array.isArray(given)
    ? { value: given }
    : { problem: `an object or JSON text is needed, not ${Array.isArray(given) ? "a list" : typeof given}` };
}
