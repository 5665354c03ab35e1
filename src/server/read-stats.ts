import { type BilledSum, billsBy } from "../agent/sessions/model-costs.js";
import type {
  CallCounts,
  Dimension,
  GroupStats,
  SeriesPoint,
  StatsFilter,
  TokenCounts,
  ToolStats,
} from "../call/stats/stats.js";
import { DIMENSIONS, noStats } from "../call/stats/stats.js";
import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";

/** What `hermes stats --json` and `GET /v1/stats` say. No arguments of calls are in it. */
export interface StatsDocument {
  readonly journal: boolean;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly days: number;
  readonly total: CallCounts;
  readonly tools: readonly ToolStats[];
  readonly models: readonly ModelBill[];
  readonly only?: StatsFilter;
  readonly by?: Dimension;
  readonly groups?: readonly GroupStats[];
  readonly series?: readonly SeriesPoint[];
}

export interface ModelBill {
  readonly model: string;
  readonly requests: number;
  readonly tokens: Omit<TokenCounts, "result">;
  readonly cost_usd: number;
  readonly definition_tokens: number;
}

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** `90s`, `15m`, `1h`, `7d`, `2w`, a date, or milliseconds since 1970. */
export function sinceFrom(text: string, now = Date.now()): number {
  const ago = /^(\d{1,9}(?:\.\d{1,3})?)\s*([smhdw])$/.exec(text.trim());
  const unit = UNITS[ago?.[2] ?? ""];
  if (ago !== null && unit !== undefined) return now - Number(ago[1]) * unit;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new HermesError(
    failure(
      "bad_request",
      `cannot read the time ${JSON.stringify(text)}`,
      "Write how long ago (15m, 1h, 7d) or a date (2026-01-31, 2026-01-31T08:00Z).",
    ),
  );
}

/** What calls are counted by, wherever somebody names one of them. */
export function filterFrom(given: (name: Dimension) => unknown): StatsFilter | undefined {
  const named = DIMENSIONS.flatMap((name) => {
    const value = given(name);
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/**
 * Each dollar counts once. The total and what is said of a model or a session are the bills of the conversations, and
 * beside them what calls spent outside of one; what is said of a tool is the part of it that its calls spent. No bill says
 * which tool, toolset, environment or door it was for: what is counted only for one of those is what its calls spent.
 */
export async function readStats(
  runtime: Runtime,
  query: {
    readonly since: number;
    /** Now when left out. */
    readonly until?: number | undefined;
    readonly by?: Dimension | undefined;
    readonly only?: StatsFilter | undefined;
    readonly series?: boolean;
  },
): Promise<StatsDocument> {
  const { since, by, only } = query;
  const until = query.until ?? Date.now() + 1;
  const journal = await runtime.journal();
  const stats = await journal.stats({ sinceMs: since, untilMs: until, by, only, series: query.series });
  const bills = (dimension: Billed) =>
    billsBy(dimension, { file: runtime.config.paths.sessionsDb, since, until }).filter(
      ({ key }) => (only?.[dimension] ?? key) === key,
    );
  const billed = billedBy(only);
  const own = billed === undefined ? [] : bills(billed);
  const whole = billed === undefined ? stats.total : own.reduce(addBill, stats.unbilled);
  return {
    journal: journal.enabled,
    since,
    days: (until - since) / DAY_MS,
    total: {
      ...stats.total,
      tokens: { ...whole.tokens, result: stats.total.tokens.result },
      cost_usd: whole.cost_usd,
      ...(billed !== undefined && {
        definition_tokens: own.reduce((sum, bill) => sum + bill.definition_tokens, 0),
      }),
    },
    tools: stats.tools,
    models: billed === "model" ? own.map(modelBill) : [],
    ...(only !== undefined && { only }),
    ...(by !== undefined && {
      by,
      groups:
        (by === "model" || by === "session") && (only === undefined || by === billed)
          ? withBills(stats.groups ?? [], bills(by))
          : (stats.groups ?? []),
    }),
    ...(stats.series !== undefined && { series: stats.series }),
  };
}

type Billed = "model" | "session";

/** Whose bills are the whole bill of what is asked for; undefined where there are none for just that. */
function billedBy(only: StatsFilter | undefined): Billed | undefined {
  const names = Object.keys(only ?? {});
  if (names.length === 0) return "model";
  const [name] = names;
  return names.length === 1 && (name === "model" || name === "session") ? name : undefined;
}

interface Spent {
  readonly tokens: TokenCounts;
  readonly cost_usd: number;
}

function addBill({ tokens, cost_usd }: Spent, bill: BilledSum): Spent {
  return {
    tokens: {
      input: tokens.input + bill.input,
      cached: tokens.cached + bill.cached,
      cache_write: tokens.cache_write + bill.cache_write,
      output: tokens.output + bill.output,
      result: tokens.result,
    },
    cost_usd: cost_usd + bill.cost_usd,
  };
}

function modelBill({ key, requests, cost_usd, definition_tokens, ...tokens }: BilledSum): ModelBill {
  return { model: key, requests, tokens, cost_usd, definition_tokens };
}

/** A bill takes the place of what calls say: it has their requests, too. */
function withBills(groups: readonly GroupStats[], bills: readonly BilledSum[]): readonly GroupStats[] {
  const open = new Map(bills.map((bill) => [bill.key, bill]));
  const known = groups.map((group) => {
    const bill = open.get(group.key);
    open.delete(group.key);
    return bill === undefined ? group : { ...group, ...onlyBill(bill, group.tokens.result) };
  });
  const { total } = noStats();
  return [...known, ...[...open.values()].map((bill) => ({ key: bill.key, ...total, ...onlyBill(bill, 0) }))];
}

function onlyBill(bill: BilledSum, result: number): Spent & { readonly definition_tokens: number } {
  const { tokens, cost_usd } = addBill({ tokens: noStats().total.tokens, cost_usd: 0 }, bill);
  return { tokens: { ...tokens, result }, cost_usd, definition_tokens: bill.definition_tokens };
}
