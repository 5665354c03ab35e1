import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { errnoOf, messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** Where an engine listens: a unix socket, or a port of this machine. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number };

/** The engine answered with a refusal (`status`), or could not be reached at all (no status). */
export class EngineError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor(
    message: string,
    options: { status?: number; code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EngineError";
    this.status = options.status;
    this.code = options.code;
  }
}

export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE" | "HEAD";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON; a stream or bytes go as they are (an archive). */
  readonly body?: object;
  readonly raw?: Readable | Uint8Array;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const ANSWER_MS = 60_000;
/** Newest version of the engine's interface this was written for; older engines are spoken to in their own. */
const NEWEST_VERSION = "1.47";

/**
 * The HTTP interface that Docker and Podman share, over one kept connection per request in flight. Small on
 * purpose: a dozen requests are all that is needed.
 */
export class EngineApi {
  readonly #address: EngineAddress;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });
  #version: Promise<string> | undefined;

  constructor(address: EngineAddress) {
    this.#address = address;
  }

  /** Version of the interface in use, e.g. "1.41". */
  version(): Promise<string> {
    this.#version ??= this.#negotiate().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  async ping(timeoutMs = 5_000): Promise<{ readonly podman: boolean; readonly version: string }> {
    const { headers } = await this.#send({ path: "/_ping", timeoutMs });
    return {
      podman: headers["libpod-api-version"] !== undefined,
      version: String(headers["api-version"] ?? "1.41"),
    };
  }

  async json<T>(request: ApiRequest): Promise<T> {
    const { body } = await this.send(request);
    try {
      return JSON.parse(body.toString("utf8")) as T;
    } catch (error) {
      throw new EngineError(`The engine's answer to ${request.path} is not JSON`, { cause: error });
    }
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    return this.#send({ ...request, path: await this.#versioned(request.path) });
  }

  /** Objects of a streamed answer (pulling an image), one per line. */
  async *lines<T>(request: ApiRequest): AsyncGenerator<T> {
    const message = await this.#open({ ...request, path: await this.#versioned(request.path) });
    await refuseFailure(message, request);
    let rest = "";
    message.setEncoding("utf8");
    for await (const chunk of message) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part.trim() !== "") yield JSON.parse(part) as T;
    }
    if (rest.trim() !== "") yield JSON.parse(rest) as T;
  }

  /** A request whose connection then carries the streams of a program. */
  async hijack(request: ApiRequest): Promise<{ readonly socket: Socket; readonly head: Buffer }> {
    const path = await this.#versioned(request.path);
    const body = JSON.stringify(request.body ?? {});
    return new Promise((resolve, reject) => {
      // A connection of its own: on a kept one that has just been closed it could not be told whether the
      // program was started, so it could not be tried again either.
      const outgoing = httpRequest({
        ...this.#target(path, request.query),
        method: "POST",
        agent: false,
        headers: {
          Connection: "Upgrade",
          Upgrade: "tcp",
          "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(body),
        },
      });
      outgoing.on("upgrade", (_message, socket, head) => {
        socket.setTimeout(0);
        resolve({ socket: socket as Socket, head });
      });
      outgoing.on("response", (message) => {
        refuseFailure(message, request).then(() => {
          message.destroy();
          reject(new EngineError(`The engine did not open a stream for ${request.path}`));
        }, reject);
      });
      outgoing.on("error", (error) => reject(unreachable(error)));
      outgoing.setTimeout(ANSWER_MS, () => outgoing.destroy(noAnswer(request, ANSWER_MS)));
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #negotiate(): Promise<string> {
    const { version } = await this.ping();
    return newer(version, NEWEST_VERSION) ? NEWEST_VERSION : version;
  }

  async #versioned(path: string): Promise<string> {
    return `/v${await this.version()}${path}`;
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const message = await this.#open(request);
    await refuseFailure(message, request);
    return { status: message.statusCode ?? 0, headers: message.headers, body: await readAll(message) };
  }

  async #open(request: ApiRequest): Promise<IncomingMessage> {
    try {
      return await this.#openOnce(request);
    } catch (error) {
      // A kept connection that the engine closed while it was idle says nothing about the engine.
      const stale = error instanceof StaleConnection && !(request.raw !== undefined && "pipe" in request.raw);
      if (!stale) throw error instanceof StaleConnection ? unreachable(error.reason) : error;
      return await this.#openOnce(request, { fresh: true });
    }
  }

  #openOnce(request: ApiRequest, how: { readonly fresh?: boolean } = {}): Promise<IncomingMessage> {
    const { method = "GET", timeoutMs = ANSWER_MS } = request;
    const payload = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        {
          ...this.#target(request.path, request.query),
          method,
          agent: how.fresh === true ? false : this.#agent,
          headers: payloadHeaders(payload),
          signal: request.signal,
        },
        resolve,
      );
      outgoing.on("error", (error) =>
        reject(outgoing.reusedSocket && wasClosed(error) ? new StaleConnection(error) : unreachable(error)),
      );
      outgoing.setTimeout(timeoutMs, () => outgoing.destroy(noAnswer(request, timeoutMs)));
      if (payload !== undefined && typeof payload !== "string" && "pipe" in payload) payload.pipe(outgoing);
      else outgoing.end(payload);
    });
  }

  #target(path: string, query: ApiRequest["query"]): RequestOptions {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) search.set(name, String(value));
    const text = search.toString();
    // The host name only fills the header that HTTP demands; over a socket nothing is looked up.
    const where = "socketPath" in this.#address ? { ...this.#address, host: "localhost" } : this.#address;
    return { ...where, path: text === "" ? path : `${path}?${text}` };
  }
}

class StaleConnection extends Error {
  constructor(readonly reason: Error) {
    super(reason.message);
  }
}

function payloadHeaders(
  payload: string | Uint8Array | Readable | undefined,
): Record<string, string | number> {
  if (payload === undefined) return {};
  if (typeof payload === "string")
    return { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(payload) };
  if ("pipe" in payload) return { "Content-Type": "application/x-tar" };
  return { "Content-Type": "application/x-tar", "Content-Length": payload.byteLength };
}

async function refuseFailure(message: IncomingMessage, request: ApiRequest): Promise<void> {
  const status = message.statusCode ?? 0;
  // 304: it was so already (started, stopped).
  if ((status >= 200 && status < 300) || status === 304) return;
  const text = (await readAll(message)).toString("utf8").trim();
  throw new EngineError(messageIn(text) || `${request.path} answered with status ${status}`, { status });
}

function messageIn(text: string): string {
  try {
    const parsed = JSON.parse(text) as { message?: unknown; cause?: unknown };
    return typeof parsed.message === "string" ? parsed.message : text;
  } catch {
    return text;
  }
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unreachable(error as Error);
  }
  return Buffer.concat(chunks);
}

function unreachable(error: Error): EngineError {
  if (error instanceof EngineError) return error;
  const code = errnoOf(error);
  return new EngineError(error.message, code === undefined ? { cause: error } : { code, cause: error });
}

function noAnswer(request: ApiRequest, timeoutMs: number): EngineError {
  return new EngineError(`the engine did not answer ${request.path} within ${timeoutMs / 1000} s`, {
    code: "ETIMEDOUT",
  });
}

function wasClosed(error: Error): boolean {
  const code = errnoOf(error);
  return code === "ECONNRESET" || code === "EPIPE";
}

function newer(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split(".").map(Number);
  return major > thanMajor || (major === thanMajor && minor > thanMinor);
}

/** What an engine refused or could not do, in words for whoever asked for a command. */
export function engineFailure(what: string, error: unknown, hint?: string): ToolError {
  if (ToolError.isInstance(error)) return error;
  const why = messageOf(error);
  if (error instanceof EngineError && error.status === undefined) {
    return new ToolError(`The container engine does not answer: ${why}.`, {
      code: "unavailable",
      hint: "Start it again (for instance `systemctl start docker`), then call again.",
      cause: error,
    });
  }
  return new ToolError(`${what}: ${why.replace(/\.?\s*$/, ".")}`, {
    code: "unavailable",
    hint: hint ?? "See what the engine's own log says about it.",
    cause: error,
  });
}

export function isGone(error: unknown): boolean {
  return error instanceof EngineError && (error.status === 404 || /no such container/i.test(error.message));
}

/** Docker says 409 when a container is not running; Podman a 500 about its state. */
export function isNotRunning(error: unknown): boolean {
  if (!(error instanceof EngineError)) return false;
  return error.status === 409 || /state improper|is not running/i.test(error.message);
}
