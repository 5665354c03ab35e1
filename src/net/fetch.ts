import { setMaxListeners } from "node:events";
import type { BodyInit, Response } from "undici";
import { unlessAborted } from "../base/deadline.js";
import { ToolError } from "../tool/errors.js";
import type { FetchRequest, FetchResponse } from "../tool/fetch.js";
import type { Progress } from "../tool/tool.js";
import { connectionFailure, wasKeptTooLong } from "./connection-failure.js";
import { dispatcherFor, loadUndici, refused, shownUrl, systemResolve, unresolved } from "./dial.js";
import { requestHeaders } from "./headers.js";
import { hostOf } from "./hosts.js";
import { boundedResponse } from "./response.js";
import { judgeUrl, type NetworkRules, openedFor, proxyFor, type ResolveHost } from "./urls.js";

export interface GuardedRequest extends FetchRequest {
  /** Holds for every redirect too. */
  readonly rules: NetworkRules;
  /** Why the call may not go to an address; asked for redirects. Undefined when it may. */
  refusal?(url: string): string | undefined;
  /** Told how much of a large body has arrived. */
  progress?(update: Progress): void;
  /** How long the other side may be silent; 0 for ever, five minutes unless said. */
  readonly silenceMs?: number | undefined;
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost | undefined;
}

export const DEFAULT_MAX_REDIRECTS = 10;
const SHORT_BYTES = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What may follow a redirect to another origin. Everything else could be a credential by any name. */
const HARMLESS_HEADER =
  /^(?:accept(?:-language|-encoding|-charset)?|user-agent|content-(?:type|language)|range|if-(?:none-match|modified-since)|cache-control)$/i;

/**
 * Fetches over addresses that were judged and pinned beforehand: nothing is looked up a second time, and
 * each redirect is judged like a first request. What goes wrong, also while the body is read, is a `ToolError`
 * that says what and why.
 */
export async function guardedFetch(request: GuardedRequest): Promise<FetchResponse> {
  const headers = requestHeaders(request.headers ?? {});
  const end = new RequestEnd(request);
  const explain = (error: unknown): unknown => explained(error, request, end);
  try {
    const { response, url, redirects, close: letGoOf } = await follow(request, headers, end.signal);
    const close = () => {
      end.forget();
      return letGoOf();
    };
    return boundedResponse({ response, url, redirects, close, explain, request });
  } catch (error) {
    end.forget();
    throw explain(error);
  }
}

/**
 * Ends a request when its time is over or its call is. By hand: the timers and signals that `AbortSignal.timeout` and
 * `AbortSignal.any` make live on after the request, which a thousand requests feel.
 */
class RequestEnd {
  late = false;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: NodeJS.Timeout | undefined;

  constructor({ timeoutMs, signal }: GuardedRequest) {
    this.#outer = signal;
    if (signal?.aborted) this.#stop();
    // A call may have many requests under way; that is no leak to warn of.
    if (signal !== undefined) setMaxListeners(0, signal);
    signal?.addEventListener("abort", this.#stop);
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.late = true;
      this.#controller.abort();
    }, timeoutMs).unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
}

interface Arrival {
  readonly response: Response;
  readonly url: string;
  readonly redirects: readonly string[];
  close(): Promise<void>;
}

async function follow(
  request: GuardedRequest,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Arrival> {
  const { fetch } = await loadUndici();
  const resolve = request.resolve ?? systemResolve;
  const redirects: string[] = [];
  let hop: Hop = { url: request.url, method: request.method ?? "GET", headers, body: request.body };
  for (;;) {
    const rules = rulesFor(hop.url, request);
    const verdict = await unlessAborted(judgeUrl(hop.url, { ...rules, resolve }), signal);
    if (verdict.verdict === "block" && verdict.unresolved === true) throw unresolved(hop.url, verdict.reason);
    if (verdict.verdict === "block") {
      throw refused({ url: hop.url, reason: verdict.reason, from: redirects.at(-1) });
    }
    const { url: here, addresses } = verdict;
    const dispatcher = await dispatcherFor({ url: here, addresses, rules, silenceMs: request.silenceMs });
    let response: Response | undefined;
    const close = () => letGo(response);
    try {
      const { method, headers: sent, body } = hop;
      const send = () =>
        fetch(here, {
          method,
          headers: sent,
          ...(body !== undefined && { body: body as BodyInit, duplex: "half" }),
          redirect: "manual",
          signal,
          dispatcher,
        });
      response = await send().catch((error: unknown) => {
        if (method === "GET" && body === undefined && wasKeptTooLong(error)) return send();
        throw error;
      });
      const location = response.headers.get("location");
      if (request.followRedirects === false || !REDIRECTS.has(response.status) || location === null) {
        return { response, url: here.href, redirects, close };
      }
      if (redirects.length >= (request.maxRedirects ?? DEFAULT_MAX_REDIRECTS)) {
        throw new ToolError(`Gave up after ${redirects.length} redirects, last at ${here.href}.`, {
          hint: "Set follow_redirects to false to see where the server points.",
        });
      }
      const next = URL.canParse(location, here.href) ? new URL(location, here.href) : undefined;
      if (next === undefined)
        throw refused({ url: location, reason: "it is not a valid URL", from: hop.url });
      redirects.push(here.href);
      const unwanted = request.refusal?.(next.href);
      if (unwanted !== undefined) throw refused({ url: location, reason: unwanted, from: here.href });
      hop = nextHop(hop, { from: here, to: next, location, status: response.status });
    } catch (error) {
      await close();
      throw error;
    }
    await close();
  }
}

/**
 * What nobody reads on must not keep the connection busy; one that was read to its end serves the next request, so the
 * little that is left of a short answer is taken, which is quicker than a new connection.
 */
async function letGo(response: Response | undefined): Promise<void> {
  if (response?.bodyUsed !== false || response.body === null) return;
  // What is packed may be long once it is unpacked.
  const packed = response.headers.get("content-encoding") !== null;
  const length = Number(packed ? Number.NaN : (response.headers.get("content-length") ?? Number.NaN));
  if (length <= SHORT_BYTES) void response.arrayBuffer().catch(() => undefined);
  else await response.body.cancel().catch(() => undefined);
}

/** A configured address is open where it was written, and nowhere else. */
function rulesFor(url: string, { configured, url: first, rules }: GuardedRequest): NetworkRules {
  if (configured !== true || !URL.canParse(url) || !URL.canParse(first)) return rules;
  const { origin } = new URL(first);
  return new URL(url).origin === origin ? openedFor(hostOf(new URL(first)), rules) : rules;
}

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FetchRequest["body"];
}

interface Redirect {
  readonly from: URL;
  readonly to: URL;
  readonly location: string;
  readonly status: number;
}

function nextHop(hop: Hop, { from, to, location, status }: Redirect): Hop {
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status <= 302 && hop.method === "POST";
  const sameOrigin = from.origin === to.origin;
  const body = becomesGet ? undefined : hop.body;
  if (body !== undefined && !sameOrigin) throw bodyStays(from, to, status);
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new ToolError(`${from.origin} redirects (${status}), but the body was a stream and is gone.`, {
      hint: `Send the request to ${shownUrl(to.href)} directly.`,
    });
  }
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(
      ([name]) =>
        (sameOrigin || HARMLESS_HEADER.test(name)) &&
        !(becomesGet && name.toLowerCase().startsWith("content-")),
    ),
  );
  return { url: asJudged(location, to.href), method: becomesGet ? "GET" : hop.method, headers, body };
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
      hint: `If the body may go there, send the request to ${shownUrl(to.href)} directly.`,
    },
  );
}

function explained(error: unknown, request: GuardedRequest, { late }: { readonly late: boolean }): unknown {
  if (ToolError.isInstance(error)) return error;
  if (request.signal?.aborted) {
    return new ToolError("The request was cancelled.", { code: "cancelled", cause: error });
  }
  if (late) {
    const seconds = (request.timeoutMs ?? 0) / 1000;
    return new ToolError(`No complete answer from ${request.url} within ${seconds} s.`, {
      code: "timeout",
      hint: request.hints?.timeout ?? "Ask for less, or allow more time.",
      cause: error,
    });
  }
  const proxy = URL.canParse(request.url) ? proxyFor(hostOf(new URL(request.url)), request.rules) : undefined;
  return connectionFailure(error, request.url, proxy);
}
