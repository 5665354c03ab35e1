import type { Decoder } from "../tool/decode.js";
import type { JsonSchema } from "../tool/json-schema.js";
import type { AnyTool, CheckFn, Needs, ToolSchema } from "../tool/tool.js";

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

type StaticFields = Pick<
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
  | "requiresEnv"
  | "host"
  | "interactive"
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

/**
 * One registered version of a tool. The registry hands out the same object for as long as that version is
 * in force, so holding an entry pins the version (a running call keeps the one it began with).
 *
 * Every field is always set, to undefined if need be: thousands of entries then share one shape.
 */
export class Entry {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly emoji: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly parameters: JsonSchema;
  readonly output: JsonSchema | undefined;
  readonly permissions: AnyTool["permissions"];
  readonly requiresEnv: readonly string[] | undefined;
  readonly host: AnyTool["host"] | undefined;
  readonly interactive: boolean | undefined;
  readonly idempotent: boolean | undefined;
  readonly tolerant: boolean | undefined;
  readonly maxResultSizeChars: number | undefined;
  readonly needs: Needs | undefined;
  readonly checkFn: CheckFn | undefined;
  readonly hasDynamicSchema: boolean;
  readonly provenance: Provenance;
  /** Set once the code is in memory; built-ins load on first use. */
  tool: AnyTool | undefined;
  /** Set with the code: lists and definitions never need the validator. */
  decoder: Decoder | undefined = undefined;

  readonly #load: (() => Promise<AnyTool>) | undefined;
  #loading: Promise<AnyTool> | undefined = undefined;
  #definition: ToolDefinition | undefined = undefined;

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
    this.requiresEnv = statics.requiresEnv;
    this.host = statics.host;
    this.interactive = statics.interactive;
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

  /** What a model is told under the canonical name, before any dynamic patch. */
  get definition(): ToolDefinition {
    this.#definition ??= {
      type: "function",
      function: { name: this.name, description: this.description, parameters: this.parameters },
    };
    return this.#definition;
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
