import { type CommandContext, withRuntime } from "./context.js";
import { positiveNumber } from "./input.js";
import { brief } from "./output.js";

const HEAD = ["tool", "calls", "errors", "p50 ms", "p95 ms", "p99 ms", "last error"];

export async function stats(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const days = positiveNumber(options.days, "--days");
  const sinceMs = Date.now() - days * 86_400_000;
  const tools = await withRuntime(context, async (runtime) => (await runtime.journal()).stats({ sinceMs }), {
    userTools: false,
  });
  if (out.json) return out.value({ days, tools });
  out.list({
    rows: tools,
    head: HEAD,
    cells: (row) => [
      row.tool,
      String(row.calls),
      `${row.errors} (${Math.round(row.error_rate * 100)} %)`,
      milliseconds(row.p50_ms),
      milliseconds(row.p95_ms),
      milliseconds(row.p99_ms),
      brief(row.last_error ?? "", 60),
    ],
    empty: `No calls in the last ${days} days. Try: hermes call system_info`,
  });
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(1);
}
