import { networkAdvice } from "../net/connection-failure.js";
import { guardedFetch } from "../net/fetch.js";
import { ToolError } from "../tool/errors.js";
import type { FetchResponse } from "../tool/fetch.js";
import { IdleWatch } from "./idle.js";
import { ModelError } from "./model-client.js";
import { statusError } from "./server-error.js";
import { brokenOff } from "./wire.js";

/** What every client that asks over the network can be told. */
export interface ConnectionOptions {
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** Bytes of one answer. */
  readonly maxBytes?: number | undefined;
  /** Without a byte for this long, an answer is broken off; 0 waits for ever. */
  readonly idleMs?: number | undefined;
  /** HTTP proxy to go through. */
  readonly proxy?: string | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;
export const IDLE_MS = 300_000;

export interface Question {
  /** Undefined: what was configured is no address. */
  readonly url: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Written when it is sent: a long conversation is not held as text for as long as its answer takes. */
  body(): string;
  readonly signal: AbortSignal | undefined;
  readonly maxBytes?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly proxy?: string | undefined;
  /**
   * A server may refuse what it does not know. True when the question is to be put again, otherwise; what to leave out
   * is the asker's business.
   */
  retryOtherwise?(status: number, complaint: string): boolean;
}

export interface Reply {
  readonly isStream: boolean;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Puts a question and hands the reply to whoever reads it, as parts. What goes wrong is a ModelError, or the reason of
 * the signal. `question` is asked for anew when the server refused it and `retryOtherwise` wants it put again.
 */
export async function* ask<Part>(
  question: () => Question,
  read: (reply: Reply) => AsyncIterable<Part>,
): AsyncGenerator<Part> {
  for (;;) {
    const asked = question();
    const { url, signal } = asked;
    if (url === undefined)
      throw new ModelError("unreachable", "the model's address is not an http or https address");
    const idle = new IdleWatch(asked.idleMs ?? IDLE_MS);
    let response: FetchResponse | undefined;
    try {
      response = await post(url, { question: asked, idle });
      const body = limited(response.body, { maxBytes: asked.maxBytes ?? MAX_BYTES, idle });
      if (response.status !== 200) {
        const complaint = await whole(body);
        if (asked.retryOtherwise?.(response.status, complaint) === true) continue;
        throw statusError({ status: response.status, complaint, headers: response.headers });
      }
      const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
      yield* read({ isStream, body });
      return;
    } catch (error) {
      throw readable(error, { url, signal, idle, proxy: asked.proxy, began: response !== undefined });
    } finally {
      idle.stop();
      await response?.close();
    }
  }
}

async function post(
  url: string,
  { question, idle }: { readonly question: Question; readonly idle: IdleWatch },
): Promise<FetchResponse> {
  const signals = [question.signal, idle.signal].filter((signal) => signal !== undefined);
  return guardedFetch({
    url,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...question.headers,
    },
    body: Buffer.from(question.body()),
    signal: AbortSignal.any(signals),
    // Counted where the answer is read, which has its own word for it.
    maxBytes: Number.POSITIVE_INFINITY,
    // A redirect could carry the key and the question to somebody else.
    followRedirects: false,
    // The operator has named this address; it may be on this machine.
    rules: { allowPrivate: true, proxy: question.proxy },
    // Whoever watches here has its own word for it.
    silenceMs: 0,
  });
}

/** Messages of a failed request could quote what was sent: only a short name of what went wrong is told. */
function readable(
  error: unknown,
  at: {
    readonly url: string;
    readonly signal: AbortSignal | undefined;
    readonly idle: IdleWatch;
    readonly proxy: string | undefined;
    readonly began: boolean;
  },
): unknown {
  if (at.signal?.aborted === true) return at.signal.reason;
  if (at.idle.reason !== undefined) return at.idle.reason;
  if (ModelError.isInstance(error)) return error;
  // What had begun to answer was there; its answer just did not come to its end.
  if (at.began) return ToolError.isInstance(error) ? brokenOff() : error;
  const failed = (why: string) => {
    const advice = networkAdvice(why, at.proxy);
    const what = `the model's server at ${new URL(at.url).host} failed (${why})`;
    return new ModelError("unreachable", advice === undefined ? what : `${what}. ${advice}`);
  };
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const code = ToolError.isInstance(inner)
      ? (inner.details?.errno ?? inner.code)
      : "code" in inner && inner.code;
    if (typeof code === "string") return failed(code);
  }
  return failed(error instanceof Error ? error.name : "unknown");
}

async function* limited(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, idle }: { readonly maxBytes: number; readonly idle: IdleWatch },
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    idle.beat();
    size += chunk.length;
    if (size > maxBytes) throw new ModelError("too_large", "the model's answer was too large");
    yield chunk;
  }
}

export async function whole(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** An address as configured, with its version when that is missing, and what is asked there. */
export function endpoint(
  configured: string,
  at: { readonly version: string; readonly path: string },
): string | undefined {
  if (!URL.canParse(configured)) return undefined;
  const url = new URL(configured);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith(at.path)) {
    const versioned = /\/v\d+\w*(?:\/|$)/.test(path) ? path : `${path}/${at.version}`;
    url.pathname = `${versioned}${at.path}`;
  }
  url.hash = "";
  return url.href;
}
