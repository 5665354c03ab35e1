import { type ArgsOf, defineTool, type Parameters, type ToolDefinition } from "./define.js";
import type { JsonSchema } from "./json-schema.js";
import type { AnyTool, CallContext, HandlerOutput } from "./tool.js";

/** Everything of a tool but its handler, which is the decorated method. The name defaults to the method's. */
export type ToolOptions<P extends Parameters> = Omit<
  ToolDefinition<P, unknown>,
  "handler" | "name" | "timeoutMs"
> & {
  readonly name?: string;
  readonly timeoutMs?: number;
  /** Spelling of the source documents. */
  readonly timeoutSeconds?: number;
};

/** The same without `parameters`: they come from the method's signature, the description from its comment. */
export type SignatureToolOptions = Omit<ToolOptions<JsonSchema>, "parameters" | "description"> & {
  readonly parameters?: undefined;
  readonly description?: string;
};

type ToolMethod<This, P extends Parameters, Out> = (
  this: This,
  args: ArgsOf<P>,
  ctx: CallContext,
) => HandlerOutput<Out> | Promise<HandlerOutput<Out>>;

// biome-ignore lint/suspicious/noExplicitAny: any signature; its types are read from the source.
type AnyMethod = (...args: any[]) => unknown;

/** What the source of a method says of the tool it is. */
export interface MethodSignature {
  readonly description: string | undefined;
  readonly parameters: JsonSchema;
  /** What the method takes, in order: all arguments in one object, one of them by name, or the call's context. */
  readonly takes: readonly (
    | { readonly kind: "arguments" | "context" }
    | { readonly kind: "one"; readonly name: string }
  )[];
}

/** A tool whose parameters stand in the source of its method. */
export interface UnreadTool {
  readonly className: string;
  readonly method: string;
  made(signature: MethodSignature): AnyTool;
}

const toolsByOwner = new WeakMap<object, (AnyTool | UnreadTool)[]>();

/**
 * Marks a method as a tool (standard decorators). `toolsOf(instance)` gives the tool values; static methods
 * belong to the class itself. In a tools folder `parameters` may be left out: they are read from the types of the
 * method and from its comment.
 *
 * ```ts
 * class Weather {
 *   @tool({ description: "Weather of a city", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } })
 *   async weather_query({ city }: { city: string }) { … }
 *
 *   @tool({ description: "Weather of the coming days" })
 *   async forecast(city: string, days = 3, unit: "celsius" | "fahrenheit" = "celsius") { … }
 * }
 * ```
 */
export function tool<const P extends Parameters>(
  options: ToolOptions<P>,
): <This extends object, Out>(
  method: ToolMethod<This, P, Out>,
  context: ClassMethodDecoratorContext<This, ToolMethod<This, P, Out>>,
) => void;
export function tool(
  options?: SignatureToolOptions,
): (method: AnyMethod, context: ClassMethodDecoratorContext) => void;
export function tool(options: ToolOptions<Parameters> | SignatureToolOptions = {}) {
  return (method: AnyMethod, context: ClassMethodDecoratorContext): void => {
    const { timeoutSeconds, ...rest } = options;
    context.addInitializer(function (this: unknown) {
      const self = this as object;
      const common = {
        ...rest,
        ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1000 }),
        name: options.name ?? String(context.name),
      };
      const given = options.parameters;
      const value: AnyTool | UnreadTool =
        given === undefined
          ? {
              className: typeof self === "function" ? self.name : self.constructor.name,
              method: String(context.name),
              made: ({ description = "", parameters, takes }) =>
                defineTool({
                  description,
                  ...common,
                  parameters,
                  handler: (args: Readonly<Record<string, unknown>>, ctx: CallContext) =>
                    method.apply(
                      self,
                      takes.map((each) =>
                        each.kind === "one" ? args[each.name] : each.kind === "context" ? ctx : args,
                      ),
                    ),
                } as ToolDefinition<JsonSchema, unknown>) as AnyTool,
            }
          : (defineTool({
              ...common,
              handler: (args: unknown, ctx: CallContext) => method.call(self, args, ctx),
            } as ToolDefinition<Parameters, unknown>) as AnyTool);
      const owned = toolsByOwner.get(self);
      if (owned === undefined) toolsByOwner.set(self, [value]);
      else owned.push(value);
    });
  };
}

/** The tools that decorators attached to an instance, or to a class through its static methods. */
export function toolsOf(owner: object): readonly AnyTool[] {
  return decoratedTools(owner, ({ className, method }) => {
    throw new TypeError(
      `The tool ${method} of ${className} has no parameters: its signature is read only in files of a tools folder; write @tool({ parameters: { type: "object", properties: { … } } }).`,
    );
  });
}

export function decoratedTools(owner: object, read: (unread: UnreadTool) => AnyTool): readonly AnyTool[] {
  return (toolsByOwner.get(owner) ?? []).map((each) => ("made" in each ? read(each) : each));
}
