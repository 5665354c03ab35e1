import { LATE, within } from "../base/deadline.js";
import type { Decoder } from "../tool/decode.js";
import { type Failure, failure } from "../tool/errors.js";
import type { JsonSchema } from "../tool/json-schema.js";
import { describeThrown } from "../tool/thrown.js";
import type { AnyTool, CheckFn, Needs, ToolSchema } from "../tool/tool.js";
import { definitionSchema } from "./definition-schema.js";

/** Where a tool came from. Foreign sources get linear-time patterns and stricter linting. */
export interface Provenance {
  readonly kind: "builtin" | "code" | "home" | "project" | "plugin" | "mcp" | "yaml" | "openapi";
  /** File, package or server, for people. */
  readonly source?: string;
}

const FOREIGN: ReadonlySet<Provenance["kind"]> = new Set(["mcp", "yaml", "openapi", "plugin"]);

export function isForeign(provenance: Provenance): boolean {
  return FOREIGN.has(provenance.kind);
}

/** What can be told about a tool without its code. */
export type StaticFields = Pick<
  AnyTool,
  | "name"
  | "aliases"
  | "toolset"
  | "description"
  | "emoji"
  | "tags"
  | "parameters"
  | "output"
  | "permissions"
  | "everyCallNeeds"
  | "requiresEnv"
  | "host"
  | "interactive"
  | "stays"
  | "idempotent"
  | "tolerant"
  | "maxResultSizeChars"
>;

/** The OpenAI form, which every other wire format is derived from. */
export interface ToolDefinition {
  readonly type: "function";
  readonly function: ToolSchema;
}

const NO_ALIASES: readonly string[] = [];
const TEARDOWN_MS = 5_000;

/**
 * One registered version of a tool. The registry hands out the same object for as long as that version is
 * in force, so holding an entry pins the version (a running call keeps the one it began with).
 *
 * Every field is always set, to undefined if need be: thousands of entries then share one shape. Only declared here,
 * or each would be set twice.
 */
export class Entry {
  declare readonly name: string;
  declare readonly aliases: readonly string[];
  declare readonly toolset: string;
  declare readonly description: string;
  declare readonly emoji: string | undefined;
  declare readonly tags: readonly string[] | undefined;
  declare readonly parameters: JsonSchema;
  declare readonly output: JsonSchema | undefined;
  declare readonly permissions: AnyTool["permissions"];
  declare readonly everyCallNeeds: AnyTool["everyCallNeeds"];
  declare readonly requiresEnv: readonly string[] | undefined;
  declare readonly host: AnyTool["host"] | undefined;
  declare readonly interactive: boolean | undefined;
  declare readonly stays: boolean | undefined;
  declare readonly idempotent: boolean | undefined;
  declare readonly tolerant: boolean | undefined;
  declare readonly maxResultSizeChars: number | undefined;
  declare readonly needs: Needs | undefined;
  declare readonly checkFn: CheckFn | undefined;
  declare readonly hasDynamicSchema: boolean;
  declare readonly provenance: Provenance;
  /** Set once the code is in memory; built-ins load on first use. */
  declare tool: AnyTool | undefined;
  /** Set with the code: lists and definitions never need the validator. */
  decoder: Decoder | undefined = undefined;

  readonly #load: (() => Promise<AnyTool>) | undefined;
  #loading: Promise<AnyTool> | undefined = undefined;
  #definition: ToolDefinition | undefined = undefined;
  #running = 0;
  #retired = false;

  constructor(fields: {
    readonly statics: StaticFields & { readonly needs?: Needs; readonly checkFn?: CheckFn };
    readonly provenance: Provenance;
    readonly hasDynamicSchema: boolean;
    readonly tool?: AnyTool;
    readonly load?: () => Promise<AnyTool>;
  }) {
    const { statics } = fields;
    this.name = statics.name;
    this.aliases = statics.aliases ?? NO_ALIASES;
    this.toolset = statics.toolset;
    this.description = statics.description;
    this.emoji = statics.emoji;
    this.tags = statics.tags;
    this.parameters = statics.parameters;
    this.output = statics.output;
    this.permissions = statics.permissions;
    const touchesAll = fields.tool !== undefined && fields.tool.effects === undefined;
    this.everyCallNeeds = touchesAll ? statics.permissions : statics.everyCallNeeds;
    this.requiresEnv = statics.requiresEnv;
    this.host = statics.host;
    this.interactive = statics.interactive;
    this.stays = statics.stays;
    this.idempotent = statics.idempotent;
    this.tolerant = statics.tolerant;
    this.maxResultSizeChars = statics.maxResultSizeChars;
    this.needs = statics.needs;
    this.checkFn = statics.checkFn;
    this.hasDynamicSchema = fields.hasDynamicSchema;
    this.provenance = fields.provenance;
    this.tool = fields.tool;
    this.#load = fields.load;
  }

  /** A call runs this version: it must not be taken apart under it. */
  pin(): void {
    this.#running += 1;
  }

  unpin(): void {
    this.#running -= 1;
    if (this.#running === 0 && this.#retired) void this.dispose();
  }

  /** No longer registered: frees what the tool holds, after the calls that still run it. */
  retire(): void {
    this.#retired = true;
    if (this.#running === 0) void this.dispose();
  }

  /** Frees what the tool holds. Never rejects, and never waits for a teardown that does not end. */
  async dispose(): Promise<Failure | undefined> {
    const { tool } = this;
    if (tool?.dispose === undefined) return undefined;
    try {
      const ended = await within(Promise.resolve(tool.dispose()), TEARDOWN_MS);
      return ended === LATE ? failure("timeout", `it did not end within ${TEARDOWN_MS / 1000} s`) : undefined;
    } catch (thrown) {
      return failure("failed", describeThrown(thrown).message);
    }
  }

  /** What a model is told under the canonical name, before any dynamic patch. */
  get definition(): ToolDefinition {
    this.#definition ??= {
      type: "function",
      function: { name: this.name, description: this.description, parameters: this.#told() },
    };
    return this.#definition;
  }

  /** Of others' tools a model is told exactly what their authors wrote. */
  #told(): JsonSchema {
    // A copy: whoever holds the original may change it, and a model must not be told two things.
    const parameters = copyOf(this.parameters);
    return this.provenance.kind === "builtin" ? definitionSchema(parameters) : parameters;
  }

  static fromTool(tool: AnyTool, provenance: Provenance): Entry {
    return new Entry({
      statics: tool,
      provenance,
      hasDynamicSchema: tool.dynamicSchemaOverrides !== undefined,
      tool,
    });
  }

  /** The tool's code and its decoder, imported on first use. */
  load(): Promise<AnyTool> {
    this.#loading ??= this.#loadOnce();
    return this.#loading;
  }

  async #loadOnce(): Promise<AnyTool> {
    try {
      const { createDecoder } = await import("../tool/decode.js");
      this.decoder = createDecoder({
        name: this.name,
        parameters: this.parameters,
        foreign: isForeign(this.provenance),
      });
      if (this.tool === undefined) {
        if (this.#load === undefined) throw new Error(`tool ${this.name} has no code`);
        this.tool = await this.#load();
      }
      return this.tool;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}

function copyOf(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
