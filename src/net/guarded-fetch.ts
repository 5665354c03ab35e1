import { lookup } from "node:dns/promises";
import type { BodyInit, Response } from "undici";
import { ToolError } from "../tool/errors.js";
import { judgeAddress } from "./addresses.js";
import { hostOf } from "./hosts.js";
import { judgeUrl, type NetworkRules, opensPrivate, type ResolveHost } from "./urls.js";

export interface GuardedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly followRedirects: boolean;
  /** Holds for every redirect too. */
  readonly rules: NetworkRules;
  /** Why the call may not go to an address it is redirected to; undefined when it may. */
  refusal?(url: string): string | undefined;
  readonly maxRedirects?: number;
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost;
}

export interface GuardedResponse {
  readonly response: Response;
  /** Where the response came from, after redirects. */
  readonly url: string;
  readonly redirects: readonly string[];
  /** Ends the connection; call it when the body has been read or is not wanted. */
  close(): Promise<void>;
}

export const DEFAULT_MAX_REDIRECTS = 10;
const CONNECT_TIMEOUT_MS = 30_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What may follow a redirect to another origin. Everything else could be a credential by any name. */
const HARMLESS_HEADER =
  /^(?:accept(?:-language|-encoding|-charset)?|user-agent|content-(?:type|language)|range|if-(?:none-match|modified-since)|cache-control)$/i;

/**
 * Fetches over addresses that were judged and pinned beforehand: nothing is looked up a second time, and
 * each redirect is judged like a first request.
 */
export async function guardedFetch(request: GuardedRequest): Promise<GuardedResponse> {
  const { Agent, buildConnector, fetch } = await import("undici");
  const resolve = request.resolve ?? systemResolve;
  const redirects: string[] = [];
  let hop = { url: request.url, method: request.method, headers: request.headers, body: request.body };
  for (;;) {
    const verdict = await raceAbort(judgeUrl(hop.url, { ...request.rules, resolve }), request.signal);
    if (verdict.verdict === "block") throw refused(hop.url, verdict.reason, redirects);
    const agent = new Agent({
      connect: pinnedConnector({
        buildConnector,
        host: hostOf(verdict.url),
        addresses: verdict.addresses,
        allowPrivate: opensPrivate(hostOf(verdict.url), request.rules),
      }),
    });
    const close = () => agent.destroy();
    try {
      const response = await fetch(verdict.url, {
        method: hop.method,
        headers: hop.headers,
        ...(hop.body === undefined ? {} : { body: hop.body as BodyInit }),
        redirect: "manual",
        signal: request.signal,
        dispatcher: agent,
      });
      const location = response.headers.get("location");
      if (!request.followRedirects || !REDIRECTS.has(response.status) || location === null) {
        return { response, url: verdict.url.href, redirects, close };
      }
      if (redirects.length >= (request.maxRedirects ?? DEFAULT_MAX_REDIRECTS)) {
        throw new ToolError(`Gave up after ${redirects.length} redirects, last at ${verdict.url.href}.`, {
          hint: "Set follow_redirects to false to see where the server points.",
        });
      }
      const next = URL.canParse(location, verdict.url.href) ? new URL(location, verdict.url.href) : undefined;
      if (next === undefined) throw refused(location, "it is not a valid URL", [...redirects, hop.url]);
      redirects.push(verdict.url.href);
      const unwanted = request.refusal?.(next.href);
      if (unwanted !== undefined) throw refused(location, unwanted, redirects);
      const onward = nextHop({ ...hop, from: verdict.url, to: next, location, status: response.status });
      if (onward.body !== undefined && next.origin !== verdict.url.origin) {
        throw bodyStays(verdict.url, next, response.status);
      }
      hop = onward;
    } catch (error) {
      await close();
      throw error;
    }
    await close();
  }
}

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

function nextHop(at: Hop & { from: URL; to: URL; location: string; status: number }): Hop {
  const becomesGet = at.status === 303 ? at.method !== "HEAD" : at.status <= 302 && at.method === "POST";
  const sameOrigin = at.from.origin === at.to.origin;
  const headers = Object.fromEntries(
    Object.entries(at.headers).filter(
      ([name]) =>
        (sameOrigin || HARMLESS_HEADER.test(name)) &&
        !(becomesGet && name.toLowerCase().startsWith("content-")),
    ),
  );
  return {
    url: asJudged(at.location, at.to.href),
    method: becomesGet ? "GET" : at.method,
    headers,
    body: becomesGet ? undefined : at.body,
  };
}

/** An absolute location is judged as the server wrote it, before a parser has smoothed it. */
export function asJudged(location: string, resolved: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(location.trim()) ? location : resolved;
}

/** Whoever is sent something need not be whom the body was meant for. */
function bodyStays(from: URL, to: URL, status: number): ToolError {
  return new ToolError(
    `${from.origin} redirects (${status}) to ${to.origin}, another origin; the body of the request was not sent there.`,
    {
      code: "blocked",
      hint: `If the body may go there, send the request to ${shown(to.href)} directly.`,
    },
  );
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
        return callback(refused(asked, forbidden.reason, []), null);
      }
      return callback(null, socket);
    });
  };
}

export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true, verbatim: true });
  return answers.map(({ address }) => address);
}

async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function refused(url: string, reason: string, redirects: readonly string[]): ToolError {
  const path = redirects.length === 0 ? "" : ` (reached by redirect from ${redirects.at(-1)})`;
  return new ToolError(`Refused to fetch ${shown(url)}${path}: ${reason}.`, {
    code: "blocked",
    hint: "Only public http and https addresses are fetched. The operator can open private networks with security.allow_private_urls.",
  });
}

/** Without credentials, and not longer than a message can bear. */
function shown(url: string): string {
  const clean = url.replace(/\/\/[^/?#]*@/, "//***@");
  return JSON.stringify(clean.length > 200 ? `${clean.slice(0, 200)}…` : clean);
}
