import { type ArgsOf, DEFAULT_TOOLSET, defineTool, type Parameters } from "./define.js";
import type { AnyTool, CallContext, HandlerOutput, Tool } from "./tool.js";

/**
 * For tools that hold something open: a connection pool, a browser, a child process.
 *
 * `setup` runs once, before the first call; when it fails, that call fails and the next one tries again.
 * `teardown` runs once when the registration ends, also after a failed setup or a failed run, so it must
 * cope with half-made state.
 *
 * `parameters` (a schema, named again as `BaseTool<typeof parameters>`) may be left out: then any named arguments come
 * as they are.
 */
export abstract class BaseTool<P extends Parameters = Parameters, Out = unknown> {
  abstract readonly name: string;
  abstract readonly description: string;
  readonly toolset: string = DEFAULT_TOOLSET;
  readonly permissions: Tool["permissions"] = [];
  readonly emoji?: string;
  readonly tags?: readonly string[];
  readonly timeoutMs?: number;
  readonly requiresEnv?: readonly string[];
  readonly needs?: Tool["needs"];
  readonly maxResultSizeChars?: number;

  setup(): void | Promise<void> {}
  abstract run(args: ArgsOf<P>, ctx: CallContext): HandlerOutput<Out> | Promise<HandlerOutput<Out>>;
  teardown(): void | Promise<void> {}

  effects?(args: ArgsOf<P>, scope: Parameters_<Tool["effects"]>): ReturnType<NonNullable<Tool["effects"]>>;
  checkFn?(): ReturnType<NonNullable<Tool["checkFn"]>>;
}

type Parameters_<F> = NonNullable<F> extends (args: never, scope: infer S) => unknown ? S : never;

/** Not a field of the class: one that may be left out would have to be marked as overridden where it is not. */
function parametersOf(instance: BaseTool & { readonly parameters?: unknown }): Parameters {
  return isParameters(instance.parameters) ? instance.parameters : { type: "object" };
}

function isParameters(value: unknown): value is Parameters {
  return (typeof value === "object" || typeof value === "function") && value !== null;
}

/** The tool value of a BaseTool instance. */
export function toolFromBase(instance: BaseTool): AnyTool {
  let ready: Promise<void> | undefined;
  let started = false;
  const ensureReady = (): Promise<void> => {
    if (ready === undefined) {
      started = true;
      ready = (async () => instance.setup())();
      ready.catch(() => {
        ready = undefined;
      });
    }
    return ready;
  };
  return defineTool({
    name: instance.name,
    description: instance.description,
    parameters: parametersOf(instance),
    toolset: instance.toolset,
    permissions: instance.permissions,
    ...(instance.emoji !== undefined && { emoji: instance.emoji }),
    ...(instance.tags !== undefined && { tags: instance.tags }),
    ...(instance.timeoutMs !== undefined && { timeoutMs: instance.timeoutMs }),
    ...(instance.requiresEnv !== undefined && { requiresEnv: instance.requiresEnv }),
    ...(instance.needs !== undefined && { needs: instance.needs }),
    ...(instance.maxResultSizeChars !== undefined && { maxResultSizeChars: instance.maxResultSizeChars }),
    ...(instance.effects !== undefined && { effects: instance.effects.bind(instance) }),
    ...(instance.checkFn !== undefined && { checkFn: instance.checkFn.bind(instance) }),
    async handler(args, ctx) {
      await ensureReady();
      return instance.run(args as never, ctx);
    },
    async dispose() {
      if (!started) return;
      started = false;
      await ready?.catch(() => undefined);
      ready = undefined;
      await instance.teardown();
    },
  }) as AnyTool;
}

/** True for a class that extends BaseTool, also one from another copy of this package. */
export function isBaseToolClass(value: unknown): value is new () => BaseTool {
  if (typeof value !== "function") return false;
  for (let proto: unknown = value; typeof proto === "function"; proto = Object.getPrototypeOf(proto)) {
    if (proto === BaseTool || (proto !== value && proto.name === "BaseTool")) return true;
  }
  return false;
}

export function isBaseToolInstance(value: unknown): value is BaseTool {
  return typeof value === "object" && value !== null && isBaseToolClass(value.constructor);
}
