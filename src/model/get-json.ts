import { guardedFetch } from "../net/fetch.js";

const MAX_BYTES = 8 * 1024 * 1024;

/** What a model's server says of itself; undefined when it is not there, or says something else. */
export async function getJson(
  url: string,
  options: {
    readonly timeoutMs: number;
    readonly apiKey?: string | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** Sent as JSON, with POST. */
    readonly body?: unknown;
    readonly proxy?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<unknown> {
  const { timeoutMs, apiKey, body, proxy, signal } = options;
  try {
    const response = await guardedFetch({
      url,
      headers: {
        ...(apiKey !== undefined && apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      timeoutMs,
      signal,
      maxBytes: MAX_BYTES,
      followRedirects: false,
      rules: { allowPrivate: true, proxy },
    });
    const text = await response.text();
    return response.status === 200 ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
