import type { ToolUse } from "../search/tool-use.js";
import type { Runtime } from "./runtime.js";

const DAYS = 30;
const DAY_MS = 86_400_000;
/** Sessions that are opened one after another need not count again. */
const FRESH_MS = 600_000;

const known = new WeakMap<Runtime, { readonly use: Promise<ToolUse>; readonly at: number }>();

/** Which tools were used, where `tools.tool_search.auto_defer` asks for it; undefined otherwise. */
export async function toolUse(runtime: Runtime): Promise<ToolUse | undefined> {
  if (!runtime.config.values.tools.tool_search.auto_defer) return undefined;
  const last = known.get(runtime);
  if (last !== undefined && Date.now() - last.at < FRESH_MS) return last.use;
  const use = countUse(runtime);
  known.set(runtime, { use, at: Date.now() });
  return use;
}

async function countUse(runtime: Runtime): Promise<ToolUse> {
  const journal = await runtime.journal();
  const { total, tools } = await journal.stats({ sinceMs: Date.now() - DAYS * DAY_MS });
  return {
    days: DAYS,
    total: total.calls,
    calls: new Map(tools.map(({ tool, calls }) => [tool, calls])),
  };
}
