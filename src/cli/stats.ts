import { failure, HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

export async function run(
  { out, runtime: open }: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const days = Number(options.days);
  if (!(days > 0))
    throw new HermesError(
      failure("bad_request", `--days must be a positive number, not ${JSON.stringify(options.days)}`),
    );
  const runtime = await open({ userTools: false });
  const journal = await runtime.journal();
  const stats = await journal.stats({ sinceMs: Date.now() - days * 86_400_000 });
  if (out.json) out.value({ days, tools: stats });
  else if (stats.length === 0) out.line(`No calls in the last ${days} days. Try: hermes call system_info`);
  else {
    const head = ["tool", "calls", "errors", "p50 ms", "p95 ms", "p99 ms", "last error"];
    const rows = stats.map((row) => [
      row.tool,
      String(row.calls),
      `${row.errors} (${Math.round(row.error_rate * 100)} %)`,
      milliseconds(row.p50_ms),
      milliseconds(row.p95_ms),
      milliseconds(row.p99_ms),
      brief(row.last_error ?? "", 60),
    ]);
    for (const line of table([head, ...rows])) out.line(line);
  }
  await runtime.close();
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(1);
}
