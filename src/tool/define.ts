import type { FromSchema, JsonSchema } from "./json-schema.js";
import type { Refined, Tool } from "./tool.js";

/** What an author may write as `parameters`: a JSON-Schema literal or any Standard Schema. */
export type Parameters = JsonSchema | StandardSchema;

/** The type a handler receives for those parameters, defaults filled in. */
export type ArgsOf<P> = P extends {
  readonly "~standard": { readonly types?: { readonly output: infer O } | undefined };
}
  ? O
  : FromSchema<P>;

/** A tool as its author writes it: `permissions` and `toolset` may be left out. */
export type ToolDefinition<P extends Parameters, Out> = Omit<
  Tool<ArgsOf<P>, Out>,
  "parameters" | "permissions" | "toolset" | "refine"
> & {
  readonly parameters: P;
  readonly toolset?: string;
  readonly permissions?: Tool["permissions"];
};

/** Home of tools whose author names no toolset. */
export const DEFAULT_TOOLSET = "custom";

/**
 * Makes a tool value. Argument types come from `parameters`.
 *
 * ```ts
 * export default defineTool({
 *   name: "greet",
 *   description: "Greet somebody",
 *   parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
 *   handler: ({ who }) => `Hello, ${who}!`,
 * });
 * ```
 */
export function defineTool<const P extends Parameters, Out>(
  definition: ToolDefinition<P, Out>,
): Tool<ArgsOf<P>, Out> {
  const { parameters, ...rest } = definition;
  const standard = isStandardSchema(parameters);
  return {
    ...rest,
    toolset: definition.toolset ?? DEFAULT_TOOLSET,
    permissions: definition.permissions ?? [],
    parameters: standard ? jsonSchemaOf(parameters) : (parameters as JsonSchema),
    ...(standard && { refine: refineWith(parameters as StandardSchema<unknown, ArgsOf<P>>) }),
  };
}

/** The part of the Standard Schema contract (zod, valibot, arktype …) that is read here. */
interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/** The JSON Schema a model is shown for a Standard Schema. */
function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) {
    const advice =
      vendor === "valibot"
        ? 'wrap it: toStandardJsonSchema(schema) from "@valibot/to-json-schema"'
        : "use a version of the library that implements Standard JSON Schema, or pass a JSON Schema literal";
    throw new TypeError(
      `The ${vendor} schema cannot describe itself as JSON Schema, which a model needs; ${advice}.`,
    );
  }
  return jsonSchema.input({ target: "draft-07" });
}

/** Runs the schema's own validation: refinements and transforms that JSON Schema cannot express. */
function refineWith<Output>(schema: StandardSchema<unknown, Output>) {
  const settle = (result: StandardResult<Output>): Refined<Output> =>
    result.issues === undefined
      ? { ok: true, value: result.value }
      : {
          ok: false,
          issues: result.issues.map((issue) => ({ path: pointer(issue.path), message: issue.message })),
        };
  return (args: unknown): Refined<Output> | Promise<Refined<Output>> => {
    const result = schema["~standard"].validate(args);
    return result instanceof Promise ? result.then(settle) : settle(result);
  };
}

function pointer(path: readonly unknown[] | undefined): string {
  return (path ?? [])
    .map((segment) => {
      const key = typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment;
      return `/${String(key)}`;
    })
    .join("");
}
