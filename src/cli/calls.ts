import { visible } from "../base/visible-text.js";
import type { JournalRow } from "../call/journal.js";
import { type CommandContext, withRuntime } from "./context.js";
import { commandError } from "./errors.js";
import { positiveInteger } from "./input.js";
import { brief, type Output } from "./output.js";

/** How far back a call is looked for by its id. */
const LOOKED_AT = 10_000;

/** The last calls of every process of this home, newest first. */
export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const limit = positiveInteger(options.limit, "--limit");
  const tool = typeof options.tool === "string" ? { tool: options.tool } : {};
  const rows = await recorded(context, { limit, ...tool });
  out.list({
    rows,
    asJson: publicCall,
    head: ["id", "time", "tool", "status", "ms", "arguments"],
    cells: (row) => [
      String(row.seq),
      new Date(row.started_at).toLocaleString("sv-SE"),
      row.tool,
      painted(out, row.status),
      row.duration_ms === undefined ? "-" : row.duration_ms.toFixed(1),
      brief(visible(row.args), 200),
    ],
    empty: "No calls are recorded. Try: hermes call system_info",
  });
}

/** Everything that was written down of one call. */
export async function show(context: CommandContext): Promise<void> {
  const { out } = context;
  const [id = ""] = context.args;
  const rows = await recorded(context, { limit: LOOKED_AT });
  const row = rows.find((one) => String(one.seq) === id) ?? rows.find((one) => one.call_id === id);
  if (row === undefined) throw commandError("not_found", `No call ${id} is recorded`, "See: hermes calls");
  if (out.json) return out.value(publicCall(row));
  for (const [field, value] of Object.entries(publicCall(row))) {
    if (value !== undefined)
      out.line(`${field.padEnd(14)}${visible(typeof value === "string" ? value : JSON.stringify(value))}`);
  }
}

function recorded(
  context: CommandContext,
  query: { readonly limit: number; readonly tool?: string },
): Promise<readonly JournalRow[]> {
  return withRuntime(context, async (runtime) => (await runtime.journal()).recent(query), {
    userTools: false,
  });
}

/** Which process wrote a row concerns only the journal itself. */
function publicCall({ owner: _owner, ...call }: JournalRow): Readonly<Record<string, unknown>> {
  return { ...call, started_at: new Date(call.started_at).toISOString() };
}

function painted({ color }: Output, status: string): string {
  if (status === "ok") return color.green(status);
  return status === "running" ? status : color.yellow(status);
}
