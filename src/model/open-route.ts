import { anthropicClient } from "./anthropic.js";
import { promoteCallsInText } from "./calls-in-text.js";
import { type RoutedClient, type Switch, withFallback } from "./fallback.js";
import { geminiClient } from "./gemini.js";
import { ggufClient, type LoadPackage } from "./gguf.js";
import type { ModelClient } from "./model-client.js";
import { chatCompletionsClient } from "./openai-chat.js";
import { responsesClient } from "./openai-responses.js";
import { PROVIDERS } from "./providers.js";
import { type Retry, withRetries } from "./retry.js";
import type { ModelRoute } from "./route.js";
import { thoughtsApart } from "./thoughts-in-text.js";

export interface OpenOptions {
  /** Loads a library that not everybody has; without it, `gguf` cannot be asked. */
  readonly loadPackage?: LoadPackage | undefined;
}

/** The client of a route, as it is: no retries, no fallback. */
export function openRoute(route: ModelRoute, options: OpenOptions = {}): ModelClient {
  const { provider, model, url, apiKey, idleMs, proxy } = route;
  const connection = { url, model, apiKey, idleMs, proxy };
  switch (PROVIDERS[provider].wire) {
    case "anthropic":
      return anthropicClient(connection);
    case "gemini":
      return geminiClient(connection);
    case "responses":
      return responsesClient(connection);
    case "gguf":
      return withHabits(ggufClient({ path: model, loadPackage: options.loadPackage }));
    case "chat": {
      const client = chatCompletionsClient({ ...connection, provider });
      return provider === "openai" ? client : withHabits(client);
    }
  }
}

/** Models that anybody may serve write their thoughts and calls as text where the server does not know better. */
function withHabits(client: ModelClient): ModelClient {
  return { stream: (request) => promoteCallsInText(thoughtsApart(client.stream(request)), request) };
}

/** What an agent asks: retries what may pass, then asks the fallback models, and tells of both. */
export function openModel(
  routes: readonly [ModelRoute, ...ModelRoute[]],
  options: OpenOptions & {
    onRetry?(retry: Retry, route: ModelRoute): void;
    onSwitch?(change: Switch): void;
    /** Of the first wait before a retry. */
    readonly retryBaseMs?: number | undefined;
  } = {},
): RoutedClient {
  const { onSwitch } = options;
  return withFallback(routes, {
    open: (route) =>
      withRetries(openRoute(route, options), {
        onRetry: (retry) => options.onRetry?.(retry, route),
        baseMs: options.retryBaseMs,
      }),
    ...(onSwitch !== undefined && { onSwitch }),
  });
}
