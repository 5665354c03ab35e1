import type { LoadedConfig } from "../config/types.js";
import { hostOf } from "../net/hosts.js";
import { networkRules } from "../net/rules.js";
import { proxyFor } from "../net/urls.js";
import { findLocalServers, type LocalServer, modelsAt } from "./local-servers.js";
import { FREE, type ModelPrices, publishedPrices } from "./prices.js";
import { AUTO_ORDER, PROVIDERS, type ProviderName, splitModel } from "./providers.js";

/**
 * Whom to ask, where, as whom and for how much: one value, so that no name of a model reaches the host of another, and
 * no key a stranger.
 */
export interface ModelRoute {
  readonly provider: ProviderName;
  readonly model: string;
  /** Base address; the path of a file for `gguf`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** As configured. */
  readonly contextTokens?: number | undefined;
  /** Undefined where nobody knows what it costs. */
  readonly prices?: ModelPrices | undefined;
  readonly idleMs: number;
  /** HTTP proxy that leads there (`network.proxy`). */
  readonly proxy?: string | undefined;
  /** Why it is this one: a setting, a variable, a server that was found. */
  readonly foundBy: string;
}

/** Why there is no model, and the shortest ways to one. */
export interface NoModel {
  readonly reason: string;
  readonly fixes: readonly string[];
}

export interface RouteOptions {
  /** Another model than the configured one: `[PROVIDER:]NAME`. */
  readonly model?: string | undefined;
  /** In place of the usual addresses of this machine. */
  findLocal?(): Promise<readonly LocalServer[]>;
}

export function isRoute(found: ModelRoute | NoModel): found is ModelRoute {
  return "provider" in found;
}

/** `anthropic:claude-x`, as it is shown and as answers that go back are marked. */
export function routeName({ provider, model }: ModelRoute): string {
  return `${provider}:${model}`;
}

const LIST_MS = 5_000;

/** The model the configuration means. */
export async function resolveRoute(
  config: LoadedConfig,
  options: RouteOptions = {},
): Promise<ModelRoute | NoModel> {
  const wanted = splitModel((options.model ?? config.values.model.name).trim());
  const configured = config.values.model.provider;
  const named = wanted.provider ?? (configured === "auto" ? undefined : configured);
  const isOther = wanted.provider !== undefined && wanted.provider !== providerOfSettings(config);
  const settings = isOther ? undefined : config.values.model;
  const baseUrl = settings?.base_url.trim() ?? "";
  if (named !== undefined) {
    const foundBy = wanted.provider === undefined ? "model.provider" : "the name of the model";
    return routeTo(named, { config, name: wanted.name, baseUrl, isOther, foundBy });
  }
  if (baseUrl !== "")
    return routeTo("compatible", { config, name: wanted.name, baseUrl, isOther, foundBy: "model.base_url" });
  for (const provider of AUTO_ORDER) {
    const { keys, addresses } = PROVIDERS[provider];
    const variable = [...keys, ...addresses].find((one) => (config.env[one] ?? "") !== "");
    if (variable !== undefined)
      return routeTo(provider, { config, name: wanted.name, baseUrl, isOther, foundBy: variable });
  }
  return localRoute(config, wanted.name, options);
}

/**
 * What was configured for one provider is not for another that somebody names for once, on the command line or as a
 * fallback: its key would go to a stranger. Where no provider was set, name and address that were written down together
 * belong together, and an address alone is that of a compatible server.
 */
function providerOfSettings(config: LoadedConfig): string | undefined {
  const { provider, name, base_url } = config.values.model;
  if (provider !== "auto") return provider;
  const { source } = config.origin("model.base_url");
  const isOneHand = source === "default" || source === config.origin("model.name").source;
  const named = isOneHand ? splitModel(name.trim()).provider : undefined;
  return named ?? (base_url.trim() === "" ? undefined : "compatible");
}

/** The models of `model.fallback`, in their order; those that cannot be asked are left out and told. */
export async function resolveFallbacks(
  config: LoadedConfig,
  options: RouteOptions & { onUnusable?(model: string, why: NoModel): void } = {},
): Promise<readonly ModelRoute[]> {
  const routes: ModelRoute[] = [];
  for (const model of config.values.model.fallback.split(",").flatMap((one) => one.trim() || [])) {
    const found = await resolveRoute(config, { ...options, model });
    // Prices and window of the configuration are those of the first model.
    if (isRoute(found))
      routes.push({ ...found, prices: pricesOf(found.provider, found), contextTokens: undefined });
    else options.onUnusable?.(model, found);
  }
  return routes;
}

interface Wish {
  readonly config: LoadedConfig;
  readonly name: string;
  readonly baseUrl: string;
  readonly isOther: boolean;
  readonly foundBy: string;
}

async function routeTo(provider: ProviderName, wish: Wish): Promise<ModelRoute | NoModel> {
  const { config, isOther } = wish;
  const { env, values } = config;
  const about = PROVIDERS[provider];
  if (provider === "gguf") return ggufRoute(wish);
  const set = (names: readonly string[]) => names.flatMap((name) => env[name] || []).at(0);
  const address = wish.baseUrl || set(about.addresses) || about.url;
  const url = provider === "ollama" ? ollamaAddress(address) : address;
  if (url === "")
    return {
      reason: "model.provider is compatible, and no address is set",
      fixes: ["hermes config set model.base_url http://HOST:PORT"],
    };
  const own = isOther ? "" : values.model.api_key;
  const apiKey = own || set(about.keys);
  if (apiKey === undefined && url === about.url && about.keys.length > 0)
    return {
      reason: `${about.title} wants a key, and none is set`,
      fixes: [`hermes setup model --provider ${provider}`, `export ${about.keys[0]}=…`],
    };
  const model =
    wish.name ||
    about.model ||
    (await modelsAt(url, { provider, apiKey, proxy: proxyTo(url, config), timeoutMs: LIST_MS }))?.[0];
  if (model === undefined)
    return {
      reason: `${about.title} at ${url} does not say which models it has`,
      fixes: [
        provider === "ollama" ? "ollama serve, and ollama pull qwen3:8b" : `start the server at ${url}`,
        "hermes config set model.name NAME",
      ],
    };
  return finished({ provider, model, url, apiKey, foundBy: wish.foundBy }, wish);
}

function ggufRoute(wish: Wish): ModelRoute | NoModel {
  const path = wish.name || wish.baseUrl;
  if (path === "")
    return { reason: "no GGUF file is named", fixes: ["hermes config set model.name /path/to/model.gguf"] };
  return finished({ provider: "gguf", model: path, url: path, foundBy: wish.foundBy }, wish);
}

async function localRoute(
  config: LoadedConfig,
  name: string,
  options: RouteOptions,
): Promise<ModelRoute | NoModel> {
  const servers = await (options.findLocal ?? findLocalServers)();
  const server = servers.find(({ models }) => (name === "" ? models.length > 0 : models.includes(name)));
  const model = name || server?.models[0];
  if (server !== undefined && model !== undefined) {
    const { provider, url } = server;
    const foundBy = `${server.title} at ${url}`;
    return finished({ provider, model, url, foundBy }, { config, isOther: false, isLocal: true });
  }
  return noModel(servers, name);
}

/** The three shortest ways; a server that runs already makes one of them shorter. */
function noModel(servers: readonly LocalServer[], name: string): NoModel {
  const [running] = servers;
  const wanted = name === "" ? "qwen3:8b" : name;
  const local =
    running === undefined
      ? `Without a key: install Ollama (https://ollama.com), then: ollama pull ${wanted}`
      : running.provider === "ollama"
        ? `Ollama runs here: ollama pull ${wanted}`
        : `${running.title} runs at ${running.url}: load a model there`;
  return {
    reason:
      name === ""
        ? "No model is set up: there is no key, no address, and no local server with a model"
        : `Nobody here has the model ${name}: there is no key, no address, and no local server that has it`,
    fixes: [
      "With a key of OpenAI, Anthropic, Gemini or OpenRouter: hermes setup model",
      local,
      "With a server that speaks OpenAI's API: hermes config set model.base_url http://HOST:PORT",
    ],
  };
}

function finished(
  route: Omit<ModelRoute, "prices" | "contextTokens" | "idleMs" | "proxy">,
  by: Pick<Wish, "config" | "isOther"> & { readonly isLocal?: boolean },
): ModelRoute {
  const { config, isOther, isLocal } = by;
  const { context_tokens, idle_seconds } = config.values.model;
  const set = isOther ? undefined : configuredPrices(config);
  return {
    ...route,
    apiKey: route.apiKey || undefined,
    contextTokens: isOther || context_tokens === 0 ? undefined : context_tokens,
    prices: set ?? (isLocal === true ? FREE : pricesOf(route.provider, route)),
    idleMs: idle_seconds * 1_000,
    proxy: isLocal === true ? undefined : proxyTo(route.url, config),
  };
}

function proxyTo(url: string, { values }: LoadedConfig): string | undefined {
  return URL.canParse(url) ? proxyFor(hostOf(new URL(url)), networkRules(values)) : undefined;
}

function configuredPrices(config: LoadedConfig): ModelPrices | undefined {
  const { prices } = config.values.model;
  const set = (name: keyof typeof prices) =>
    config.origin(`model.prices.${name}`).source === "default" ? undefined : prices[name];
  const [input, output] = [set("input"), set("output")];
  if (input === undefined && output === undefined) return undefined;
  return { input: input ?? 0, output: output ?? 0, cached: set("cached"), cacheWrite: set("cache_write") };
}

function pricesOf(
  provider: ProviderName,
  { model, url }: { readonly model: string; readonly url: string },
): ModelPrices | undefined {
  const about = PROVIDERS[provider];
  if (about.isLocal === true) return FREE;
  return url === about.url && provider !== "openrouter" ? publishedPrices(model) : undefined;
}

/** As Ollama reads it: a host, a port, or a whole address; "every address" means this machine to somebody who asks. */
export function ollamaAddress(text: string): string {
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) return text;
  const url = new URL(address);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (url.port === "" && !/:\d+(?:\/|$)/.test(text) && url.protocol === "http:") url.port = "11434";
  return url.href.replace(/\/+$/, "");
}
