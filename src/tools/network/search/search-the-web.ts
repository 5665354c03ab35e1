import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { askEngine, type SearchAnswer, type SearchRequest } from "./ask-engine.js";
import { ENGINES, type Engine, engineNamed } from "./engines.js";
import { LocalDocuments } from "./local-documents.js";
import { SearchCache } from "./search-cache.js";

const LOCAL = "local";

/** Asks the engines in their order until one answers; the documents of a folder are the one that always can. */
export async function searchTheWeb(options: {
  readonly request: SearchRequest;
  readonly engine: string | undefined;
  readonly ctx: CallContext;
}) {
  const { request, ctx } = options;
  const settings = settingsOf(ctx);
  const names = options.engine === undefined ? engineOrder(settings, ctx) : [options.engine];
  const skipped: { readonly engine: string; readonly why: string }[] = [];
  const started = performance.now();
  for (const name of names) {
    try {
      const { answer, cached } = await ctx.keep(SearchCache).answer({
        key: JSON.stringify([name, request]),
        // Documents change while one works with them, and looking again costs nothing.
        keepMs: name === LOCAL ? 0 : settings.cacheMs,
        ask: () =>
          name === LOCAL ? searchLocally(request, settings, ctx) : askNamed(name, request, settings, ctx),
      });
      return {
        success: true as const,
        status: "success" as const,
        results: answer.results,
        total_results: answer.total ?? answer.results.length,
        query_time_ms: Math.round(performance.now() - started),
        engine: engineNamed(name)?.name ?? name,
        cached: cached || undefined,
        skipped: skipped.length === 0 ? undefined : skipped,
        note:
          name === LOCAL && options.engine === undefined
            ? "No search engine is set up: these are documents of a local folder. `hermes config set web.searxng_url` or a key (BRAVE_API_KEY, TAVILY_API_KEY …) searches the web."
            : undefined,
      };
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (options.engine !== undefined || !(error instanceof Error)) throw error;
      skipped.push({ engine: name, why: error.message });
      ctx.progress({ message: `${name} cannot answer: ${error.message}` });
    }
  }
  throw new ToolError(
    `No search engine could answer. ${skipped.map(({ engine, why }) => `${engine}: ${why}`).join(" ")}`,
    { hint: "Name another engine with search_engine, or set web.search_engine." },
  );
}

interface SearchSettings {
  readonly order: readonly string[];
  readonly searxng: string | undefined;
  readonly folder: string | undefined;
  readonly cacheMs: number;
  /** Addresses in place of the vendors' own, by engine. */
  readonly urls: Readonly<Record<string, unknown>>;
}

function settingsOf({ settings }: CallContext): SearchSettings {
  const web = isRecord(settings.web) ? settings.web : {};
  const word = (value: unknown) =>
    typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  return {
    order: (word(web.search_engine) ?? "").split(/[\s,]+/).filter((name) => name !== ""),
    searxng: word(web.searxng_url),
    folder: word(web.local_folder),
    cacheMs: (typeof web.cache_minutes === "number" ? web.cache_minutes : 20) * 60_000,
    urls: isRecord(settings.urls) ? settings.urls : {},
  };
}

/** As configured; else every engine that has what it needs, then the local documents. */
function engineOrder(settings: SearchSettings, ctx: CallContext): readonly string[] {
  if (settings.order.length > 0) return settings.order;
  const ready = ENGINES.filter((engine) =>
    engine.ownServer === true
      ? settings.searxng !== undefined
      : engine.key !== undefined && ctx.secrets.get(engine.key) !== undefined,
  );
  return [...ready.map(({ name }) => name), LOCAL];
}

async function askNamed(
  name: string,
  request: SearchRequest,
  settings: SearchSettings,
  ctx: CallContext,
): Promise<SearchAnswer> {
  const engine = engineNamed(name);
  if (engine === undefined) {
    throw new ToolError(`There is no search engine ${JSON.stringify(name)}.`, {
      code: "invalid_arguments",
      hint: `Known ones: ${[...ENGINES.map((one) => one.name), LOCAL].join(", ")}.`,
    });
  }
  const missing = whatIsMissing(engine, settings, ctx);
  if (missing !== undefined)
    throw new ToolError(`${engine.name} cannot be asked: ${missing} is not set.`, {
      code: "unavailable",
      hint: `Set ${missing}, or leave search_engine out.`,
    });
  const own = settings.urls[engine.name];
  const base = engine.ownServer === true ? settings.searxng : typeof own === "string" ? own : undefined;
  return askEngine({ engine, request, base, ctx });
}

function whatIsMissing(engine: Engine, settings: SearchSettings, ctx: CallContext): string | undefined {
  if (engine.ownServer === true) return settings.searxng === undefined ? "web.searxng_url" : undefined;
  return engine.key === undefined || ctx.secrets.get(engine.key) !== undefined ? undefined : engine.key;
}

async function searchLocally(
  request: SearchRequest,
  settings: SearchSettings,
  ctx: CallContext,
): Promise<SearchAnswer> {
  const { files } = ctx.environment;
  const folder = files.resolve(settings.folder ?? ".", ctx.session.cwd);
  const refused = ctx.refusal({ action: "file:read", resource: folder, mode: "read" });
  if (refused !== undefined)
    throw new ToolError(`The documents in ${folder} may not be read: ${refused}.`, {
      code: "denied",
      hint: "Set web.local_folder to a folder that may be read, or set up a search engine.",
    });
  return ctx.keep(LocalDocuments).search(folder, request, ctx);
}
