import { type ArgsOf, defineTool, type Parameters, type ToolDefinition } from "./define.js";
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

type ToolMethod<This, P extends Parameters, Out> = (
  this: This,
  args: ArgsOf<P>,
  ctx: CallContext,
) => HandlerOutput<Out> | Promise<HandlerOutput<Out>>;

const toolsByOwner = new WeakMap<object, AnyTool[]>();

/**
 * Marks a method as a tool (standard decorators). `toolsOf(instance)` gives the tool values; static methods
 * belong to the class itself.
 *
 * ```ts
 * class Weather {
 *   @tool({ description: "Weather of a city", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } })
 *   async weather_query({ city }: { city: string }) { … }
 * }
 * ```
 */
export function tool<const P extends Parameters>(options: ToolOptions<P>) {
  return <This extends object, Out>(
    method: ToolMethod<This, P, Out>,
    context: ClassMethodDecoratorContext<This, ToolMethod<This, P, Out>>,
  ): void => {
    const { timeoutSeconds, ...rest } = options;
    context.addInitializer(function (this: This) {
      const value = defineTool({
        ...rest,
        ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1000 }),
        name: options.name ?? String(context.name),
        handler: (args: ArgsOf<P>, ctx: CallContext) => method.call(this, args, ctx),
      } as ToolDefinition<P, Out>);
      const owned = toolsByOwner.get(this);
      if (owned === undefined) toolsByOwner.set(this, [value]);
      else owned.push(value);
    });
  };
}

/** The tools that decorators attached to an instance, or to a class through its static methods. */
export function toolsOf(owner: object): readonly AnyTool[] {
  return toolsByOwner.get(owner) ?? [];
}
