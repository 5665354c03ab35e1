import { type ModelClient, ModelError, type ModelErrorCode } from "./model-client.js";
import type { ModelRoute } from "./route.js";

/** A client that says whom it asks. */
export interface RoutedClient extends ModelClient {
  /** The route that is asked now: prices, window and name of an answer are those of this one. */
  readonly route: ModelRoute;
}

export interface Switch {
  readonly from: ModelRoute;
  readonly to: ModelRoute;
  readonly error: ModelError;
}

/** Another model may do better: this one is away, full, closed to us, or gone. Not: a question it cannot read. */
const ELSEWHERE: ReadonlySet<ModelErrorCode> = new Set([
  "unreachable",
  "busy",
  "quota",
  "refused",
  "status",
  "broken_off",
]);

/**
 * Asks the first route, and the next one when it cannot answer. A switch is told and holds: going to and fro would cost
 * the cache each time. What has begun to answer is not replaced in the middle.
 */
export function withFallback(
  routes: readonly [ModelRoute, ...ModelRoute[]],
  options: { open(route: ModelRoute): ModelClient; onSwitch?(change: Switch): void },
): RoutedClient {
  const clients = new Map<ModelRoute, ModelClient>();
  const clientOf = (route: ModelRoute) => {
    const client = clients.get(route) ?? options.open(route);
    clients.set(route, client);
    return client;
  };
  let current = routes[0];
  return {
    get route() {
      return current;
    },
    async *stream(request) {
      for (;;) {
        let began = false;
        const from = current;
        try {
          for await (const part of clientOf(from).stream(request)) {
            began = true;
            yield part;
          }
          return;
        } catch (error) {
          const to = routes[routes.indexOf(from) + 1];
          const mayHelp = ModelError.isInstance(error) && ELSEWHERE.has(error.code);
          if (began || !mayHelp || to === undefined) throw error;
          current = to;
          options.onSwitch?.({ from, to, error });
        }
      }
    },
  };
}
