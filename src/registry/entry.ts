import type { Decoder } from "../tool/decode.js";
import type { JsonSchema } from "../tool/json-schema.js";
import type { AnyTool, CheckFn, Needs } from "../tool/tool.js";

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

/**
 * One registered version of a tool. The registry hands out the same object for as long as that version is
 * in force, so holding an entry pins the version (a running call keeps the one it began with).
 */
export class Entry implements StaticFields {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly emoji?: string;
  readonly tags?: readonly string[];
  readonly parameters: JsonSchema;
  readonly output?: JsonSchema;
  readonly permissions: AnyTool["permissions"];
  readonly requiresEnv?: readonly string[];
  readonly host?: NonNullable<AnyTool["host"]>;
  readonly interactive?: boolean;
  readonly idempotent?: boolean;
  readonly tolerant?: boolean;
  readonly maxResultSizeChars?: number;
  readonly needs?: Needs;
  readonly checkFn?: CheckFn;
  readonly hasDynamicSchema: boolean;
  readonly provenance: Provenance;
  /** Set once the code is in memory; built-ins load on first use. */
  tool: AnyTool | undefined;
  /** Set with the code: lists and definitions never need the validator. */
  decoder: Decoder | undefined;

  readonly #load: (() => Promise<AnyTool>) | undefined;
  #loading: Promise<AnyTool> | undefined;

  constructor(fields: {
    readonly statics: StaticFields & { readonly needs?: Needs; readonly checkFn?: CheckFn };
    readonly provenance: Provenance;
    readonly hasDynamicSchema: boolean;
    readonly tool?: AnyTool;
    readonly load?: () => Promise<AnyTool>;
  }) {
    const { statics } = fields;
    this.name = statics.name;
    this.aliases = statics.aliases ?? [];
    this.toolset = statics.toolset;
    this.description = statics.description;
    this.parameters = statics.parameters;
    this.permissions = statics.permissions;
    if (statics.emoji !== undefined) this.emoji = statics.emoji;
    if (statics.tags !== undefined) this.tags = statics.tags;
    if (statics.output !== undefined) this.output = statics.output;
    if (statics.requiresEnv !== undefined) this.requiresEnv = statics.requiresEnv;
    if (statics.host !== undefined) this.host = statics.host;
    if (statics.interactive !== undefined) this.interactive = statics.interactive;
    if (statics.idempotent !== undefined) this.idempotent = statics.idempotent;
    if (statics.tolerant !== undefined) this.tolerant = statics.tolerant;
    if (statics.maxResultSizeChars !== undefined) this.maxResultSizeChars = statics.maxResultSizeChars;
    if (statics.needs !== undefined) this.needs = statics.needs;
    if (statics.checkFn !== undefined) this.checkFn = statics.checkFn;
    this.hasDynamicSchema = fields.hasDynamicSchema;
    this.provenance = fields.provenance;
    this.tool = fields.tool;
    this.#load = fields.load;
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
