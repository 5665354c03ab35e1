import { AsyncLocalStorage } from "node:async_hooks";
import type { CallResult } from "../../tool/call.js";
import { textOf } from "../../tool/content.js";
import { type ErrorCode, type Failure, ToolError } from "../../tool/errors.js";
import type { AnyTool, CallContext, NestedTools } from "../../tool/tool.js";
import { holds } from "../../toolfile/json-select.js";
import { fill, type Values } from "../../toolfile/template.js";
import type { CompositeSpec, Step } from "../../toolfile/tool-spec.js";

/** Composites inside composites; a cycle through files that changed meanwhile ends here at the latest. */
const DEEPEST = 8;
const running = new AsyncLocalStorage<readonly string[]>();

type CompositeParts = Pick<AnyTool, "permissions" | "effects" | "timeoutMs" | "handler">;

/** Touches nothing itself: every step is a call of its own, judged and asked about like any other. */
export function compositeTool(spec: CompositeSpec): CompositeParts {
  return {
    permissions: [],
    effects: () => [],
    timeoutMs: spec.timeoutSeconds * 1000,
    handler: (args: Values, ctx: CallContext) => {
      const outer = running.getStore() ?? [];
      if (outer.includes(spec.name))
        throw new ToolError(`${spec.name} would call itself: ${[...outer, spec.name].join(" → ")}.`);
      if (outer.length >= DEEPEST)
        throw new ToolError(`Composites are nested deeper than ${DEEPEST}: ${outer.join(" → ")}.`);
      return running.run([...outer, spec.name], () => runSteps(spec, args, ctx));
    },
  };
}

async function runSteps(spec: CompositeSpec, args: Values, ctx: CallContext): Promise<unknown> {
  const tools = ctx.openTools({ only: spec.steps.map(({ tool }) => tool), except: [spec.name] });
  try {
    // Without a prototype, any id of a step is a name like any other.
    const results: Record<string, unknown> = Object.create(null);
    let last: unknown = null;
    for (const [index, step] of spec.steps.entries()) {
      const values = { ...args, steps: results };
      if (!isWanted(step, values)) continue;
      ctx.progress({
        message: `step ${index + 1} of ${spec.steps.length}: ${step.tool}`,
        fraction: index / spec.steps.length,
      });
      last = await runStep(step, { values, tools, ctx });
      results[step.id] = last;
    }
    return spec.result === undefined ? last : (fill(spec.result, { ...args, steps: results }) ?? null);
  } finally {
    tools.close();
  }
}

function isWanted({ condition }: Step, values: Values): boolean {
  if (condition === undefined) return true;
  if (condition.kind === "value") {
    const value = fill(condition, values);
    return (
      value !== undefined &&
      value !== null &&
      value !== false &&
      value !== "" &&
      value !== 0 &&
      value !== "false"
    );
  }
  return holds(condition, values);
}

interface Running {
  readonly values: Values;
  readonly tools: NestedTools;
  readonly ctx: CallContext;
}

async function runStep(step: Step, around: Running): Promise<unknown> {
  if (step.forEach === undefined) return callOnce(step, around);
  const items = fill(step.forEach, around.values) ?? [];
  if (!Array.isArray(items))
    throw new ToolError(`for_each of step ${step.id} must give a list, but it gave ${typeof items}.`);
  if (items.length > step.maxItems)
    throw new ToolError(
      `for_each of step ${step.id} gave ${items.length} items; at most ${step.maxItems} are allowed.`,
      {
        hint: "Ask for less, or raise max_items in the tool's file.",
      },
    );
  const results: unknown[] = [];
  for (const [index, item] of items.entries())
    results.push(await callOnce(step, { ...around, values: { ...around.values, item, index } }));
  return results;
}

async function callOnce(step: Step, { values, tools, ctx }: Running): Promise<unknown> {
  ctx.signal.throwIfAborted();
  const result = await tools.call({ name: step.tool, arguments: fill(step.arguments, values) });
  if (result.ok) return resultValue(result);
  const { code, message, hint } = result.error ?? { ...NO_REASON, message: textOf(result.content) };
  if (step.onError === "continue") return { error: { code, message } };
  const isOurs = PASSED_ON.includes(code);
  throw new ToolError(`Step ${step.id} (${step.tool}) failed: ${message}`, {
    ...(isOurs && { code, hint }),
    details: { step: step.id },
  });
}

const NO_REASON: Failure = { code: "failed", message: "" };
/** What holds for the whole call; that a step was called wrongly is the file's mistake, not the caller's. */
const PASSED_ON: readonly ErrorCode[] = [
  "denied",
  "blocked",
  "timed_out_waiting",
  "timeout",
  "cancelled",
  "unavailable",
];

function resultValue({ structured, content }: CallResult): unknown {
  return structured ?? textOf(content);
}
