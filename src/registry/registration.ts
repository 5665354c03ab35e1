import { isRecord } from "../base/record.js";
import { DEFAULT_TOOLSET } from "../tool/define.js";
import type { JsonSchema } from "../tool/json-schema.js";
import type { AnyTool, CallContext, CheckFn, SchemaView, ToolSchema } from "../tool/tool.js";
import type { Provenance } from "./entry.js";
import { inOurSpelling } from "./registration-fields.js";

/** The registration record of the source documents, in camelCase. */
export interface Registration {
  readonly name: string;
  readonly toolset: string;
  /** `{ description, parameters }`; `parameters` may be left out for a tool without any. */
  readonly schema: {
    readonly name?: string;
    readonly description?: string;
    readonly parameters?: JsonSchema;
  };
  // biome-ignore lint/suspicious/noExplicitAny: authors annotate their own argument type; decode has checked it.
  readonly handler: (args: any, ctx: CallContext) => unknown;
  readonly checkFn?: CheckFn;
  readonly requiresEnv?: readonly string[];
  readonly description?: string;
  readonly emoji?: string;
  /** Said in the source documents; here a handler may be either without saying so. */
  readonly isAsync?: boolean;
  readonly maxResultSizeChars?: number;
  readonly dynamicSchemaOverrides?: (view: SchemaView) => Partial<ToolSchema>;
  /** Permit replacing a tool owned by another toolset. */
  readonly override?: boolean;
}

/** The same fields as the source documents spell them. */
export interface SnakeCaseFields {
  readonly check_fn?: CheckFn;
  readonly is_async?: boolean;
  readonly requires_env?: readonly string[];
  readonly max_result_size_chars?: number;
  readonly dynamic_schema_overrides?: (view: SchemaView) => Partial<ToolSchema>;
  readonly timeout_seconds?: number;
}

/** The optional fields of a tool value that the short record above has no word for. */
export type RegistrationExtras = Partial<
  Pick<
    AnyTool,
    | "aliases"
    | "tags"
    | "permissions"
    | "effects"
    | "needs"
    | "host"
    | "interactive"
    | "stays"
    | "idempotent"
    | "tolerant"
    | "changesThroughEnvironment"
    | "timeoutMs"
    | "output"
    | "present"
    | "aliasArguments"
    | "dispose"
  >
> &
  SnakeCaseFields;

/** What `defineTool` makes has its parameters at the top; a registration record has them in its schema. */
export function isToolValue(given: (Registration & RegistrationExtras) | AnyTool): given is AnyTool {
  return isRecord(given) && !("schema" in given) && "parameters" in given && "permissions" in given;
}

/** The tool value of a registration record. */
export function toolFromRegistration(given: Registration & RegistrationExtras): AnyTool {
  const registration = inOurSpelling(given);
  const { name, schema, description } = registration;
  if (typeof name !== "string" || name === "") {
    throw new TypeError("A tool cannot be registered: it has no name; set `name`.");
  }
  if (!isRecord(schema)) {
    throw new TypeError(
      `Tool ${name} cannot be registered: its schema is ${schema === null ? "null" : Array.isArray(schema) ? "an array" : typeof schema}; ` +
        "give an object { description, parameters }.",
    );
  }
  if (typeof registration.handler !== "function") {
    throw new TypeError(`Tool ${name} cannot be registered: its handler is not a function.`);
  }
  // The whole record: leaving fields out takes ten times as long, and nothing reads those that are too many.
  return {
    ...registration,
    toolset: registration.toolset ?? DEFAULT_TOOLSET,
    description: description ?? schema.description ?? "",
    parameters: schema.parameters === undefined ? { type: "object", properties: {} } : schema.parameters,
    permissions: registration.permissions ?? [],
  } as AnyTool;
}

/** What a source (a server, a file, a plugin) brings at one moment. */
export interface SourceTools {
  /** Names the source: `mcp:github`, `yaml:/path/file.yaml`, `plugin:weather`. */
  readonly source: string;
  readonly provenance: Provenance;
  readonly tools: readonly AnyTool[];
  /** Names it may take from another toolset. */
  readonly overrides?: ReadonlySet<string>;
  /** Other names of its toolsets. */
  readonly toolsetAliases?: Readonly<Record<string, string>>;
}

export interface SwapReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}
