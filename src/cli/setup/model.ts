import { setConfigValue, unsetConfigValue, writeSecret } from "../../config/edit.js";
import type { EditResult } from "../../config/edit-result.js";
import type { LoadedConfig } from "../../config/types.js";
import { contextWindow } from "../../model/context-window.js";
import { modelsAt } from "../../model/local-servers.js";
import { complete, ModelError } from "../../model/model-client.js";
import { openRoute } from "../../model/open-route.js";
import { costOf, type ModelPrices } from "../../model/prices.js";
import { PROVIDERS } from "../../model/providers.js";
import { isRoute, type ModelRoute, resolveRoute, routeName } from "../../model/route.js";
import { loadPackage } from "../../runtime/packages/find.js";
import { installPackages, type SetupItem } from "../../runtime/packages/install.js";
import { GGUF_PACKAGE } from "../../runtime/packages/wanted.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../errors.js";
import { assertPerson } from "../person.js";
import { reportItems } from "./items.js";
import { type ModelWish, wishedModel } from "./wished-model.js";

const ANSWER_MS = 120_000;
const LIST_MS = 5_000;
const ANSWER_TOKENS = 64;

/** Which model the agent asks: tested with one request, then written down. */
export async function setupModel(context: CommandContext): Promise<void> {
  const config = await context.config();
  if (context.options.check === true) return reportItems(context, [await checked(config)]);
  assertPerson("Which model is asked, and where it is, is for a person to say");
  const wish = await wishedModel(context);
  const route = await resolveRoute(withWish(config, wish));
  if (!isRoute(route)) {
    const item = { what: "model", state: "failed", fix: route.fixes[0], detail: route.reason } as const;
    return reportItems(context, [item]);
  }
  if (route.provider === "gguf") {
    const onProgress = (text: string) => context.out.note(text);
    const brought = await installPackages({ home: context.home, packages: [GGUF_PACKAGE], onProgress });
    if (brought.some(({ state }) => state === "failed" || state === "missing"))
      return reportItems(context, brought);
  }
  context.out.note(`asking ${routeName(route)} one question`);
  const tried = await tryOut(route, context.home);
  if (tried.state === "installed") await save({ home: context.home, config, wish, model: route.model });
  reportItems(context, [tried, ...(await windowOf(route, tried))]);
  if (tried.exit !== undefined) process.exitCode = tried.exit;
}

async function checked(config: LoadedConfig): Promise<SetupItem> {
  const route = await resolveRoute(config);
  if (!isRoute(route))
    return { what: "model", state: "missing", fix: "hermes setup model", detail: route.reason };
  const what = `model ${routeName(route)}`;
  const { provider, url, apiKey, proxy } = route;
  if (provider === "ollama" || provider === "compatible") {
    const models = await modelsAt(url, { provider, apiKey, proxy, timeoutMs: LIST_MS });
    if (models === undefined)
      return { what, state: "missing", fix: `start the server at ${url}`, detail: "it does not answer" };
  }
  return { what, state: "present", detail: `by ${route.foundBy}; ${pricesText(route.prices)}` };
}

/** The configuration as it would be. What was meant for another provider does not count any more. */
function withWish(config: LoadedConfig, wish: ModelWish): LoadedConfig {
  const { model } = config.values;
  const isSame = model.provider === wish.provider;
  const changed = {
    ...model,
    provider: wish.provider,
    name: wish.name,
    base_url: wish.baseUrl ?? (isSame ? model.base_url : ""),
    api_key: wish.key ?? (isSame ? model.api_key : ""),
  };
  return { ...config, values: { ...config.values, model: changed } };
}

async function tryOut(route: ModelRoute, home: string): Promise<SetupItem & { readonly exit?: number }> {
  const what = `model ${routeName(route)}`;
  const began = performance.now();
  try {
    const client = openRoute(route, { loadPackage: (name) => loadPackage(name, home) });
    const { usage } = await complete(client, {
      messages: [{ role: "user", content: "Answer with one word: ready" }],
      maxTokens: ANSWER_TOKENS,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const cost = usage === undefined ? undefined : costOf(usage, route.prices);
    const tokens = usage === undefined ? "" : `: ${usage.inputTokens} + ${usage.outputTokens} tokens`;
    const paid = cost === undefined || cost === 0 ? "" : `, ${cost.toFixed(6)} USD`;
    const detail = `answered in ${seconds} s${tokens}${paid}; ${pricesText(route.prices)}`;
    return { what, state: "installed", detail };
  } catch (error) {
    if (!ModelError.isInstance(error)) {
      const detail = error instanceof Error ? error.message : String(error);
      return { what, state: "failed", detail, fix: "hermes setup model" };
    }
    return {
      what,
      state: "failed",
      detail: `${error.message}; nothing was written`,
      ...remedy(error, route),
    };
  }
}

function remedy(error: ModelError, route: ModelRoute): { readonly fix: string; readonly exit: number } {
  const again = `hermes setup model --provider ${route.provider}`;
  switch (error.code) {
    case "refused":
      return { fix: `${again} --key-stdin, with a key that is valid`, exit: EXIT.authentication };
    case "unreachable":
    case "broken_off":
      return {
        fix: `start the server at ${route.url}, or name another with --base-url`,
        exit: EXIT.unreachable,
      };
    case "quota":
      return { fix: `add credit at ${PROVIDERS[route.provider].title}`, exit: EXIT.toolError };
    case "busy":
      return { fix: `${again}, in a while`, exit: EXIT.toolError };
    default:
      return { fix: `${again} --name NAME, with a model that is there`, exit: EXIT.toolError };
  }
}

/** Says so where the server reads too little for an agent. */
async function windowOf(route: ModelRoute, tried: SetupItem): Promise<readonly SetupItem[]> {
  if (tried.state !== "installed" || route.provider === "gguf") return [];
  const { tokens, fix } = await contextWindow(route);
  if (fix === undefined) return [];
  return [{ what: `context window of ${tokens} tokens`, state: "missing", fix }];
}

/** The key goes to `.env`, the rest to config.yaml. */
async function save(made: {
  readonly home: string;
  readonly config: LoadedConfig;
  readonly wish: ModelWish;
  readonly model: string;
}): Promise<void> {
  const { home, config, wish } = made;
  const keep = (done: EditResult) => {
    if (!done.ok) throw new HermesError(done);
  };
  if (wish.key !== undefined) {
    // A key that was set for any provider counts before the provider's own.
    const own = PROVIDERS[wish.provider].keys[0];
    const name = config.values.model.api_key !== "" || own === undefined ? "HERMES_MODEL_API_KEY" : own;
    keep(await writeSecret({ home, name, value: wish.key }));
  }
  keep(await setConfigValue({ home, key: "model.provider", value: wish.provider }));
  keep(await setConfigValue({ home, key: "model.name", value: made.model }));
  if (wish.baseUrl !== undefined)
    keep(await setConfigValue({ home, key: "model.base_url", value: wish.baseUrl }));
  else if (config.values.model.provider !== wish.provider && config.values.model.base_url !== "")
    keep(await unsetConfigValue({ home, key: "model.base_url" }));
}

function pricesText(prices: ModelPrices | undefined): string {
  if (prices === undefined)
    return "what it costs is not known: set model.prices.input and model.prices.output";
  if (prices.input === 0 && prices.output === 0) return "it costs nothing";
  return `${prices.input} USD per million tokens read, ${prices.output} written`;
}
