import { sizeText } from "../base/human.js";
import { visible } from "../base/visible-text.js";
import { type CallCounts, DIMENSIONS, type Dimension, type SeriesPoint } from "../call/stats/stats.js";
import { filterFrom, readStats, type StatsDocument, sinceFrom } from "../server/read-stats.js";
import { type CommandContext, withRuntime } from "./context.js";
import { commandError } from "./errors.js";
import { positiveNumber } from "./input.js";
import { brief, type Output } from "./output.js";
import { sparkline } from "./stats/sparkline.js";

const DAY_MS = 86_400_000;
const HEAD = ["calls", "errors", "denied", "p50 ms", "p95 ms", "p99 ms", "bytes"];

export async function stats(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const by = dimensionFrom(options.by);
  const only = filterFrom((name) => options[name]);
  const since =
    typeof options.since === "string"
      ? sinceFrom(options.since)
      : Date.now() - positiveNumber(options.days, "--days") * DAY_MS;
  const read = await withRuntime(
    context,
    (runtime) => readStats(runtime, { since, by, only, series: true }),
    {
      userTools: false,
    },
  );
  // A person reads "30"; only a moment that was named is told as it is.
  const document = options.since === undefined ? { ...read, days: Number(options.days) } : read;
  if (out.json) return out.value(document);
  show(out, document);
}

function dimensionFrom(given: unknown): Dimension | undefined {
  if (given === undefined) return undefined;
  const dimension = DIMENSIONS.find((name) => name === given);
  if (dimension !== undefined) return dimension;
  throw commandError(
    "bad_request",
    `--by knows no ${JSON.stringify(given)}`,
    `Choose one of: ${DIMENSIONS.join(", ")}`,
  );
}

function show(out: Output, document: StatsDocument): void {
  const { since, total, tools, groups, by, models, series = [] } = document;
  const from = new Date(since).toLocaleString("sv-SE");
  const of = Object.entries(document.only ?? {}).map(
    ([name, value]) => ` of ${name} ${visible(value) || "none"}`,
  );
  if (total.calls === 0 && models.length === 0) {
    const next = of.length > 0 ? "See what there is: hermes stats" : "Try: hermes call system_info";
    out.line(`No calls${of.join("")} since ${from}. ${next}, or look further back: --days 365`);
    return;
  }
  const { color } = out;
  out.line(`${color.bold(String(total.calls))} calls${of.join("")} since ${from}${headline(total)}`);
  showSeries(out, series);
  out.line();
  const rows = groups?.map(({ key, ...counts }) => ({ name: key === "" ? "-" : key, last: "", ...counts }));
  out.list({
    rows:
      rows ??
      tools.map(({ tool, last_error, ...counts }) => ({ name: tool, last: last_error ?? "", ...counts })),
    head: [by ?? "tool", ...HEAD, by === undefined ? "last error" : "cost"],
    cells: (row) => [
      row.name,
      ...cellsOf(row, out),
      by === undefined ? brief(row.last, 60) : dollars(row.cost_usd),
    ],
  });
  if (models.length === 0 || by === "model") return;
  out.line();
  out.list({
    rows: models,
    head: ["model", "requests", "read", "from cache", "kept", "written", "definitions", "cost"],
    cells: ({ model, requests, tokens, cost_usd, definition_tokens }) => [
      model,
      ...[requests, tokens.input, tokens.cached, tokens.cache_write, tokens.output].map(String),
      `~${Math.round(definition_tokens)}`,
      dollars(cost_usd),
    ],
  });
}

function headline(total: CallCounts): string {
  const { by_status: status, errors } = total;
  const parts = [
    errors > 0 ? `${errors} failed (${percent(total.error_rate)})` : "",
    status.denied > 0 ? `${status.denied} denied` : "",
    status.cancelled > 0 ? `${status.cancelled} cancelled` : "",
    total.p50_ms === undefined
      ? ""
      : `p50 ${milliseconds(total.p50_ms)} ms, p95 ${milliseconds(total.p95_ms)} ms`,
    total.approval_wait_ms > 0 ? `${(total.approval_wait_ms / 1000).toFixed(1)} s waited for answers` : "",
    total.cost_usd > 0 ? dollars(total.cost_usd) : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}

function showSeries(out: Output, series: readonly SeriesPoint[]): void {
  const counts = series.map(({ by_status }) =>
    Object.values(by_status).reduce((sum, count) => sum + count, 0),
  );
  const failed = series.map(({ by_status: { error, timeout, unknown } }) => error + timeout + unknown);
  const slow = series.map(({ p95_ms }) => p95_ms ?? 0);
  if (!counts.some((count) => count > 0)) return;
  const { ascii, color } = out;
  out.line(`calls   ${color.cyan(sparkline(counts, { ascii }))}  most ${Math.max(...counts)}`);
  if (failed.some((count) => count > 0))
    out.line(`failed  ${color.red(sparkline(failed, { ascii }))}  most ${Math.max(...failed)}`);
  out.line(`p95     ${color.dim(sparkline(slow, { ascii }))}  most ${milliseconds(Math.max(...slow))} ms`);
}

function cellsOf(row: CallCounts, { color }: Output): readonly string[] {
  const { by_status: status, errors } = row;
  const failed = `${errors} (${percent(row.error_rate)})`;
  return [
    String(row.calls),
    errors > 0 ? color.red(failed) : failed,
    status.denied > 0 ? color.yellow(String(status.denied)) : "0",
    milliseconds(row.p50_ms),
    milliseconds(row.p95_ms),
    milliseconds(row.p99_ms),
    sizeText(row.bytes, "decimal"),
  ];
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}

function dollars(usd: number): string {
  return usd === 0 ? "-" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(1);
}
