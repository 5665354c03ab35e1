import { isBaseToolClass, isBaseToolInstance, toolFromBase } from "../../tool/base-tool.js";
import { toolsOf } from "../../tool/decorator.js";
import type { AnyTool } from "../../tool/tool.js";

/** What a module exports: tool values, BaseTool classes, classes with `@tool` methods. */
export function toolsOfModule(module: Readonly<Record<string, unknown>>): readonly AnyTool[] {
  const tools: AnyTool[] = [];
  const seen = new Set<unknown>();
  for (const value of Object.values(module)) {
    if (seen.has(value)) continue;
    seen.add(value);
    tools.push(...toolsOfValue(value));
  }
  return tools;
}

export function toolsOfValue(value: unknown): readonly AnyTool[] {
  if (isTool(value)) return [value];
  if (isBaseToolClass(value)) return [toolFromBase(new value())];
  if (isBaseToolInstance(value)) return [toolFromBase(value)];
  if (Array.isArray(value)) return value.flatMap((item) => toolsOfValue(item));
  if (typeof value === "function") return [...toolsOf(value), ...toolsOfInstance(value)];
  return typeof value === "object" && value !== null ? toolsOf(value) : [];
}

/** Instance methods carry `@tool` only once an instance exists; a class that needs arguments makes its own. */
function toolsOfInstance(value: unknown): readonly AnyTool[] {
  const source = typeof value === "function" ? value : undefined;
  if (source === undefined || !/^class\b/.test(Function.prototype.toString.call(source)) || source.length > 0)
    return [];
  return toolsOf(Reflect.construct(source, []) as object);
}

function isTool(value: unknown): value is AnyTool {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "handler" in value &&
    typeof value.handler === "function" &&
    "parameters" in value
  );
}
