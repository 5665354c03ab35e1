import type { Agent } from "undici";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { DaytonaOptions } from "./daytona.js";

const DEFAULT_API_URL = "https://app.daytona.io/api";
/** Requests are asked again for this long after the first failure; every one of them may arrive twice. */
const RETRY_FOR_MS = 6_000;
/** Longer than any script waits, see `WAIT_SECONDS` in scripts.ts. */
const ANSWER_LIMIT_MS = 60_000;

export interface ApiRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly json?: unknown;
  readonly file?: { readonly path: string; readonly bytes: Uint8Array } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long to ask again while the connection is broken. */
  readonly retryForMs?: number | undefined;
}

/** An answer that is not a success. */
export class DaytonaRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The service's REST interface: one connection pool, a key in every request, patience with broken connections. */
export class DaytonaApi {
  readonly url: string;
  readonly target: string | undefined;
  readonly #apiKey: string;
  #agent: Promise<Agent> | undefined;

  constructor(options: Pick<DaytonaOptions, "apiKey" | "apiUrl" | "target">) {
    const apiKey = options.apiKey ?? process.env.DAYTONA_API_KEY;
    if (!apiKey) {
      throw new ToolError("There is no key for Daytona.", {
        code: "unavailable",
        hint: "Make one in Daytona's dashboard and set DAYTONA_API_KEY.",
      });
    }
    this.#apiKey = apiKey;
    this.url = (options.apiUrl ?? process.env.DAYTONA_API_URL ?? DEFAULT_API_URL).replace(/\/+$/, "");
    this.target = options.target ?? process.env.DAYTONA_TARGET;
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#apiKey}`, "x-daytona-source": "hermes-tools" };
  }

  /** Also for web sockets, which then end with the pool. */
  agent(): Promise<Agent> {
    this.#agent ??= import("undici").then(
      ({ Agent }) =>
        new Agent({ headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS, connections: null }),
    );
    return this.#agent;
  }

  async call<T>(request: ApiRequest): Promise<T> {
    let firstFailure: number | undefined;
    for (let pause = 100; ; pause = Math.min(pause * 2, 1000)) {
      try {
        return await this.#once<T>(request);
      } catch (error) {
        if (request.signal?.aborted || !mayPass(error)) throw error;
        firstFailure ??= Date.now();
        if (Date.now() - firstFailure + pause > (request.retryForMs ?? RETRY_FOR_MS)) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
    this.#agent = undefined;
  }

  async #once<T>(request: ApiRequest): Promise<T> {
    const { request: send, FormData } = await import("undici");
    const { method, url, json, file, signal } = request;
    let body: string | InstanceType<typeof FormData> | null = null;
    if (json !== undefined) body = JSON.stringify(json);
    else if (file !== undefined) {
      body = new FormData();
      body.append("files[0].path", file.path);
      body.append("files[0].file", new Blob([new Uint8Array(file.bytes)]), file.path);
    }
    const response = await send(url, {
      method,
      headers: { ...this.headers, ...(json === undefined ? {} : { "content-type": "application/json" }) },
      body,
      dispatcher: await this.agent(),
      signal: signal ?? null,
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new DaytonaRefusal(response.statusCode, reasonIn(text));
    return parsed(text) as T;
  }
}

export function daytonaError(doing: string, error: unknown): ToolError {
  if (ToolError.isInstance(error)) return error;
  const text = messageOf(error).trim().replace(/\.$/, "");
  return new ToolError(`Could not ${doing}: ${text || "the connection was lost"}.`, {
    code: "unavailable",
    hint: hintFor(error),
    cause: error,
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof DaytonaRefusal && error.status === 404;
}

function hintFor(error: unknown): string {
  const status = error instanceof DaytonaRefusal ? error.status : undefined;
  if (status === 401 || status === 403)
    return "Daytona refused the key: check DAYTONA_API_KEY, and that it may manage sandboxes.";
  if (status === 400 || status === 422)
    return "Check image, snapshot, cpu, memory and disk in the configuration.";
  if (status === 429) return "The account's limits are reached; wait, or stop other sandboxes.";
  return "Check the network and DAYTONA_API_URL, then try again.";
}

/** A broken connection, or a gateway that found nobody behind it. */
function mayPass(error: unknown): boolean {
  if (error instanceof DaytonaRefusal) return [502, 503, 504].includes(error.status);
  return !ToolError.isInstance(error);
}

function reasonIn(text: string): string {
  const { message, error } = (parsed(text) ?? {}) as { message?: unknown; error?: unknown };
  const reason = Array.isArray(message) ? message.join("; ") : (message ?? error);
  return typeof reason === "string" ? reason : text.slice(0, 300);
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
