import { visible } from "../../base/visible-text.js";
import { type Scorecard, scorecards } from "../../observe/scorecard.js";
import { type CommandContext, withRuntime } from "../context.js";
import { positiveNumber } from "../input.js";

const MOST_CALLS = 100_000;
const HEAD = ["tool", "model", "calls", "errors", "mended", "retries", "tokens", "p50 ms", "p95 ms"];

/** How each model gets along with each tool, and what a better description could prevent. */
export async function scorecard(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const days = positiveNumber(options.days ?? 30, "--days");
  const sinceMs = Date.now() - days * 86_400_000;
  const tool = typeof options.tool === "string" ? { tool: options.tool } : {};
  const cards = await withRuntime(
    context,
    async (runtime) =>
      scorecards(await (await runtime.journal()).recent({ limit: MOST_CALLS, sinceMs, ...tool })),
    { userTools: false },
  );
  if (out.json) return out.value({ days, cards });
  out.list({
    rows: cards,
    head: HEAD,
    cells: cellsOf,
    empty: `No calls in the last ${days} days. Try: hermes call system_info`,
  });
  for (const { tool: name, hints } of cards) {
    for (const hint of hints) out.line(`${visible(name)}: ${visible(hint)}`);
  }
}

function cellsOf(card: Scorecard): string[] {
  const failed = Object.entries(card.errors_by_code).map(([code, some]) => `${some} ${code}`);
  return [
    card.tool,
    card.model ?? "-",
    String(card.calls),
    failed.join(", ") || "0",
    String(card.repaired),
    String(card.retries),
    String(card.result_tokens),
    milliseconds(card.p50_ms),
    milliseconds(card.p95_ms),
  ];
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(1);
}
