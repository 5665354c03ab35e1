import type { FetchLike } from "@modelcontextprotocol/client";
import { judgeAddress } from "../../../net/addresses.js";
import { systemResolve } from "../../../net/dial.js";
import { guardedFetch } from "../../../net/fetch.js";
import { hostOf } from "../../../net/hosts.js";
import { networkRules } from "../../../net/rules.js";
import type { OAuthSettings } from "./settings.js";

const TIMEOUT_MS = 10_000;
const LONGEST_ANSWER = 1024 * 1024;
/** An error says little; a page that stands in its place would be quoted whole in messages. */
const LONGEST_ERROR = 2_000;
const MOST_REDIRECTS = 3;
const EMPTY = new Set([101, 204, 205, 304]);

/**
 * Fetches the documents and tokens of a login. Their addresses come from the server, so they are judged like any
 * address a stranger names: a server on the internet cannot point into the private network.
 */
export async function oauthFetch(settings: OAuthSettings): Promise<FetchLike> {
  const rules = networkRules(settings.host.config.values);
  const allowPrivate = rules.allowPrivate || (await isPrivate(settings.config.url));
  return async (url, init = {}) => {
    const method = init.method ?? "GET";
    const response = await guardedFetch({
      url: String(url),
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: bodyOf(init.body),
      timeoutMs: TIMEOUT_MS,
      maxBytes: LONGEST_ANSWER,
      signal: init.signal ?? undefined,
      // A code or a secret goes to the address that was named, and nowhere else.
      followRedirects: method === "GET",
      maxRedirects: MOST_REDIRECTS,
      rules: { ...rules, allowPrivate },
    });
    // A stream of events may never end, and none is an answer to what is asked here.
    const endless = response.headers.get("content-type")?.includes("event-stream") === true;
    const isEmpty = endless || EMPTY.has(response.status);
    const body = isEmpty ? null : new Uint8Array(await response.bytes());
    if (isEmpty) await response.close();
    return new Response(response.status < 400 ? body : body?.subarray(0, LONGEST_ERROR), {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
    });
  };
}

/** Whether the server itself lies in a private network: then what it names may lie there too. */
async function isPrivate(url: string): Promise<boolean> {
  const addresses = await systemResolve(hostOf(new URL(url))).catch(() => []);
  return addresses.length > 0 && addresses.every((address) => judgeAddress(address)?.level === "private");
}

function bodyOf(body: RequestInit["body"]): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new TypeError("only text is sent to an authorization server");
}
