import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { readDuckDuckGo } from "./duckduckgo-page.js";
import type { Engine } from "./engines.js";

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly dateRange?: string | undefined;
  readonly safeSearch?: boolean | undefined;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly score?: number | undefined;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  readonly total?: number | undefined;
}

const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
const SNIPPET_CHARS = 500;
const DAYS: Readonly<Record<string, number>> = { past_day: 1, past_week: 7, past_month: 31, past_year: 366 };

/** Asks one engine. `base` is the operator's own address for it, in place of the vendor's. */
export async function askEngine(options: {
  readonly engine: Engine;
  readonly request: SearchRequest;
  readonly base: string | undefined;
  readonly ctx: CallContext;
}): Promise<SearchAnswer> {
  const { engine, request, base, ctx } = options;
  const values = valuesOf(engine, request, ctx);
  const url = addressOf(engine, base, values);
  const body = engine.body === undefined ? undefined : JSON.stringify(filled(engine.body, values));
  const headers = filled(engine.headers ?? {}, values) as Record<string, string>;
  const response = await ctx.fetch({
    url: url.href,
    method: body === undefined ? "GET" : "POST",
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    body,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    // Which engines are asked, and where they are, the operator has decided.
    configured: true,
  });
  const text = await response.text();
  if (!response.ok) throw refusedBy(engine, response.status);
  return engine.answer === "duckduckgo-page"
    ? { results: await readDuckDuckGo(text, request.limit) }
    : readJson(text, engine, request.limit);
}

function valuesOf(
  engine: Engine,
  request: SearchRequest,
  ctx: CallContext,
): Readonly<Record<string, unknown>> {
  const { query, limit, dateRange, safeSearch } = request;
  const days = dateRange === undefined ? undefined : DAYS[dateRange];
  return {
    query,
    limit,
    key: engine.key === undefined ? undefined : ctx.secrets.get(engine.key),
    range: dateRange === undefined ? undefined : engine.ranges?.[dateRange],
    after: days === undefined ? undefined : new Date(Date.now() - days * 86_400_000).toISOString(),
    safe: safeSearch === undefined ? undefined : engine.safe?.[safeSearch ? 0 : 1],
  };
}

function addressOf(engine: Engine, base: string | undefined, values: Readonly<Record<string, unknown>>): URL {
  const vendor = engine.ownServer === true ? undefined : new URL(engine.url);
  const path = vendor?.pathname ?? engine.url;
  const url =
    base === undefined && vendor !== undefined
      ? vendor
      : new URL(`${(base ?? "").replace(/\/+$/, "")}${path}`);
  for (const [name, value] of Object.entries(filled(engine.query ?? {}, values) as Record<string, unknown>))
    url.searchParams.set(name, String(value));
  return url;
}

/** Templates replaced by values; what comes out empty is left out. */
function filled(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === "string") {
    const whole = /^\{(\w+)\}$/.exec(template)?.[1];
    if (whole !== undefined) return values[whole];
    return template.replace(/\{(\w+)\}/g, (_all, name: string) => String(values[name] ?? ""));
  }
  if (Array.isArray(template)) return template.map((part) => filled(part, values));
  if (!isRecord(template)) return template;
  const parts = Object.entries(template).map(([name, part]) => [name, filled(part, values)] as const);
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}

function readJson(text: string, engine: Engine, limit: number): SearchAnswer {
  if (engine.answer === "duckduckgo-page") return { results: [] };
  const { results, total, fields } = engine.answer;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new ToolError(`${engine.name} did not answer in JSON.`, {
      hint: engine.ownServer === true ? "Switch on the format json in its settings." : undefined,
      cause,
    });
  }
  const rows = at(answer, results);
  const count = total === undefined ? undefined : at(answer, total);
  return {
    results: (Array.isArray(rows) ? rows : []).slice(0, limit).map((row: unknown) => {
      const score = fields.score === undefined ? undefined : at(row, fields.score);
      return {
        title: plain(at(row, fields.title)),
        url: plain(at(row, fields.url)),
        snippet: plain(at(row, fields.snippet)).slice(0, SNIPPET_CHARS),
        score: typeof score === "number" ? score : undefined,
      };
    }),
    total: typeof count === "number" && count > 0 ? count : undefined,
  };
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((here, name) => (isRecord(here) ? here[name] : undefined), value);
}

/** Engines mark the words that were found; nobody here looks at that. */
function plain(value: unknown): string {
  const text = Array.isArray(value) ? value.join(" … ") : typeof value === "string" ? value : "";
  return text
    .replace(/<\/?(?:b|strong|em|mark)>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}

function refusedBy(engine: Engine, status: number): ToolError {
  const why =
    status === 401 || status === 403
      ? "refused the key"
      : status === 402
        ? "says that its credit is used up"
        : status === 429
          ? "says that it was asked too often"
          : `answered ${status}`;
  return new ToolError(`${engine.name} ${why}.`, {
    hint: engine.key === undefined ? undefined : `Check ${engine.key}, or name another engine.`,
  });
}
