import type { Dispatcher } from "undici";
import type { LoadedConfig } from "../config/types.js";
import { loadUndici } from "./dial.js";
import { hostOf } from "./hosts.js";
import { networkRules } from "./rules.js";
import { proxyFor } from "./urls.js";

let forPrograms: Readonly<Record<string, string>> = {};

/** What programs that download for us (npm, installers) are told of that proxy: they do not know our settings. */
export function proxyVariables(): Readonly<Record<string, string>> {
  return forPrograms;
}

/** npm would say nothing for more than a minute when nobody answers: it waits 10 s and then 60 s before it asks again. */
export const NPM_PATIENCE = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"] as const;

/**
 * Sends every `fetch` and WebSocket of this process that knows nothing of our settings (MCP servers, gateways, traces,
 * downloads) through the operator's proxy. A program that uses this package as a library decides this for itself.
 */
export async function proxyThisProcess(
  settings: Pick<LoadedConfig["values"], "security" | "network">,
): Promise<void> {
  const rules = networkRules(settings);
  // A wrong address is told by the first request that needs it; commands that need none still work.
  if (rules.proxy === undefined || !URL.canParse(rules.proxy)) return;
  const direct = [...(rules.noProxy ?? []), "localhost", "127.0.0.1"].join(",");
  forPrograms = { HTTPS_PROXY: rules.proxy, https_proxy: rules.proxy, NO_PROXY: direct, no_proxy: direct };
  const { Agent, Dispatcher: Base, ProxyAgent, setGlobalDispatcher } = await loadUndici();
  const unproxied = new Agent();
  const proxied = new ProxyAgent({ uri: rules.proxy, proxyTunnel: false });
  const tunnelled = new ProxyAgent(rules.proxy);
  class ByHost extends Base {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const host = hostOf(new URL(String(options.origin)));
      if (proxyFor(host, rules) === undefined) return unproxied.dispatch(options, handler);
      // A WebSocket is no request that a proxy could pass on.
      return (options.upgrade ? tunnelled : proxied).dispatch(options, handler);
    }
  }
  setGlobalDispatcher(new ByHost());
}
