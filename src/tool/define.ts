import type { FromSchema, JsonSchema } from "./json-schema.js";
import { isStandardSchema, jsonSchemaOf, refineWith, type StandardSchema } from "./standard-schema.js";
import type { Tool } from "./tool.js";

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
