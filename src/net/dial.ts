import { lookup } from "node:dns/promises";
import type { Dispatcher } from "undici";
import { ToolError } from "../tool/errors.js";
import { judgeAddress } from "./addresses.js";
import { hostOf } from "./hosts.js";
import { type NetworkRules, opensPrivate, proxyFor } from "./urls.js";

const CONNECT_TIMEOUT_MS = 30_000;

/** Origins whose connections are kept open for the next request. */
const KEPT_ORIGINS = 64;
const kept = new Map<string, Dispatcher>();

let undiciLoaded: Promise<typeof import("undici")> | undefined;

/** Loaded once: in a bundle, each import of a CommonJS package copies all its names. */
export function loadUndici(): Promise<typeof import("undici")> {
  undiciLoaded ??= import("undici");
  return undiciLoaded;
}

/**
 * Connections for a request: through the operator's proxy, else only to addresses that were judged. Requests that were
 * judged alike share them, so that a thousand pages of one server are not a thousand handshakes.
 */
export async function dispatcherFor(target: {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly rules: NetworkRules;
  /** How long the other side may be silent, before its answer and within it; 0 for ever, five minutes unless said. */
  readonly silenceMs?: number | undefined;
}): Promise<Dispatcher> {
  const undici = await loadUndici();
  const host = hostOf(target.url);
  const allowPrivate = opensPrivate(host, target.rules);
  const proxy = proxyFor(host, target.rules);
  const { silenceMs } = target;
  const patience = silenceMs === undefined ? {} : { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const key = JSON.stringify([target.url.origin, target.addresses, allowPrivate, proxy, silenceMs]);
  const dispatcher =
    kept.get(key) ??
    (proxy === undefined
      ? new undici.Agent({
          ...patience,
          connect: pinnedConnector({
            buildConnector: undici.buildConnector,
            host,
            addresses: target.addresses,
            allowPrivate,
          }),
        })
      : // Many proxies open tunnels for TLS alone, and pass http requests on as they are.
        new undici.ProxyAgent({
          ...patience,
          uri: proxy,
          proxyTunnel: false,
          connectTimeout: CONNECT_TIMEOUT_MS,
        }));
  kept.delete(key);
  kept.set(key, dispatcher);
  for (const [oldest, unused] of kept) {
    if (kept.size <= KEPT_ORIGINS) break;
    kept.delete(oldest);
    // Lets what is running end by itself.
    unused.close().catch(() => undefined);
  }
  return dispatcher;
}

type BuildConnector = typeof import("undici").buildConnector;
type Connector = ReturnType<BuildConnector>;

/** Dials only the pinned addresses, and looks at the far end once more before a byte is sent. */
function pinnedConnector(pin: {
  buildConnector: BuildConnector;
  host: string;
  addresses: readonly string[];
  allowPrivate: boolean;
}): Connector {
  const family = (address: string) => (address.includes(":") ? 6 : 4);
  const answers = pin.addresses.map((address) => ({ address, family: family(address) }));
  const dial = pin.buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: (_hostname, options, callback) => {
      const [first] = answers;
      if (options.all || first === undefined) callback(null, answers);
      else callback(null, first.address, first.family);
    },
  });
  return (options, callback) => {
    const asked = options.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    if (asked !== pin.host) {
      callback(new Error(`connection to ${asked} was not agreed`), null);
      return;
    }
    dial(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null) return callback(error, null);
      const forbidden = judgeAddress(socket.remoteAddress ?? "");
      if (forbidden !== undefined && !(forbidden.level === "private" && pin.allowPrivate)) {
        socket.destroy();
        return callback(refused({ url: asked, reason: forbidden.reason }), null);
      }
      return callback(null, socket);
    });
  };
}

export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true, verbatim: true });
  return answers.map(({ address }) => address);
}

export function refused(request: {
  readonly url: string;
  readonly reason: string;
  /** Where a redirect came from. */
  readonly from?: string | undefined;
}): ToolError {
  const path = request.from === undefined ? "" : ` (reached by redirect from ${request.from})`;
  return new ToolError(`Refused to fetch ${shownUrl(request.url)}${path}: ${request.reason}.`, {
    code: "blocked",
    hint: "Only public http and https addresses are fetched. The operator can open private networks with security.allow_private_urls.",
  });
}

/** Nobody refused anything: the name leads nowhere. */
export function unresolved(url: string, reason: string): ToolError {
  return new ToolError(`No answer from ${shownUrl(url)}: ${reason}.`, {
    hint: "Check the spelling of the name, and whether this machine can reach its name server. Where a proxy looks names up: set network.proxy or HTTPS_PROXY.",
  });
}

/** Without credentials, and not longer than a message can bear. */
export function shownUrl(url: string): string {
  const clean = url.replace(/\/\/[^/?#]*@/, "//***@");
  return JSON.stringify(clean.length > 200 ? `${clean.slice(0, 200)}…` : clean);
}
