import type { LoadedConfig } from "../config/types.js";
import { contextWindow, LEAST_TOKENS } from "../model/context-window.js";
import { type OpenOptions, openModel } from "../model/open-route.js";
import { isRoute, type NoModel, resolveFallbacks, resolveRoute, routeName } from "../model/route.js";
import { loadPackage } from "../runtime/packages/find.js";
import type { AgentModel } from "./turn.js";

export interface ConfiguredModelOptions extends OpenOptions {
  /** Another one than the settings name: `[PROVIDER:]NAME`. */
  readonly model?: string | undefined;
  /** Told of retries, of another model that stands in, of a window that is too small. */
  onNotice?(message: string): void;
}

/** The model of the settings with those that stand in for it, or why there is none. */
export async function configuredModel(
  config: LoadedConfig,
  options: ConfiguredModelOptions = {},
): Promise<AgentModel | NoModel> {
  const { model, onNotice = () => {} } = options;
  const route = await resolveRoute(config, { model });
  if (!isRoute(route)) return route;
  const fallbacks = await resolveFallbacks(config, {
    onUnusable: (name, why) => onNotice(`${name} cannot stand in: ${why.reason}`),
  });
  const window = await contextWindow(route);
  if (window.tokens < LEAST_TOKENS)
    onNotice(
      `${routeName(route)} reads only ${window.tokens} tokens at once.${window.fix === undefined ? "" : ` ${window.fix}`}`,
    );
  const client = openModel([route, ...fallbacks], {
    loadPackage: options.loadPackage ?? ((name) => loadPackage(name, config.paths.home)),
    onRetry: ({ attempt, waitMs, error }) =>
      onNotice(`${error.message}; asked again in ${Math.ceil(waitMs / 1000)} s (attempt ${attempt}).`),
    onSwitch: ({ from, to, error }) =>
      onNotice(`${routeName(from)} does not answer (${error.message}); ${routeName(to)} goes on.`),
  });
  return {
    client,
    // Whoever answers now: a switch changes name and price.
    get name() {
      return routeName(client.route);
    },
    get prices() {
      return client.route.prices;
    },
    contextTokens: window.tokens,
  };
}
