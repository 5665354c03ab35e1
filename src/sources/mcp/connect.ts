import type {
  Client,
  FetchLike,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import { inTime, unlessAborted, within } from "../../base/deadline.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { VERSION } from "../../version.js";
import type { SourceHost } from "../types.js";
import { ConnectError, EndedEarly, explainConnectError, refusesTransport } from "./connect-errors.js";
import type { DirectCalls } from "./direct-calls.js";
import { LONGEST_MESSAGE } from "./message-lines.js";
import type { ServerPrograms } from "./server-programs.js";
import { StdioTransport } from "./stdio-transport.js";
import { ToolListGuard } from "./tool-list-guard.js";

export type TransportKind = "stdio" | "http" | "sse";

export interface Connection {
  readonly client: Client;
  readonly guard: ToolListGuard;
  /** A shorter way for calls of tools, where there is one. */
  readonly calls: DirectCalls | undefined;
  readonly transport: TransportKind;
  /** Resolves when the connection is over, with how that came about. */
  readonly closed: Promise<string>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

export interface ConnectRequest {
  readonly server: string;
  /** With all variables filled in. */
  readonly config: McpServerConfig;
  readonly host: SourceHost;
  readonly programs: ServerPrograms;
  /** What is known about the protocol the server speaks. */
  readonly prior: PriorDiscovery | undefined;
  readonly signal: AbortSignal;
  readonly onStderr: (chunk: string) => void;
  /** Registers what the server may ask of us; called before the connection is made. */
  readonly prepare: (client: Client) => void;
  readonly capabilities: NonNullable<ConstructorParameters<typeof Client>[1]>["capabilities"];
}

const LEAVING_MS = 1_000;
/** The longest a server program may stay silent before it is taken to speak the older protocol. */
const PROBE_MS = 5_000;

/** Connects in the way the settings say; throws a `ConnectError` that tells a person why not. */
export async function connectServer(request: ConnectRequest): Promise<Connection> {
  const kinds = transportsOf(request.config);
  for (const [index, kind] of kinds.entries()) {
    try {
      return await connectBy(kind, request);
    } catch (error) {
      if (index < kinds.length - 1 && refusesTransport(error)) continue;
      throw explainConnectError(error, request);
    }
  }
  throw new Error("no transport to try");
}

export function transportsOf({ command, transport }: McpServerConfig): readonly TransportKind[] {
  if (transport !== "auto") return [transport];
  return command === "" ? ["http", "sse"] : ["stdio"];
}

async function connectBy(kind: TransportKind, request: ConnectRequest): Promise<Connection> {
  // The old SSE transport is spoken only by servers of the older protocol.
  const prior: PriorDiscovery | undefined = kind === "sse" ? { kind: "legacy" } : request.prior;
  try {
    return await open(kind, request, prior);
  } catch (error) {
    if (kind !== "stdio" || prior !== undefined || !(error instanceof EndedEarly)) throw error;
    // Some older servers end when they are asked anything before the greeting.
    return open(kind, request, { kind: "legacy" });
  }
}

async function open(
  kind: TransportKind,
  request: ConnectRequest,
  prior: PriorDiscovery | undefined,
): Promise<Connection> {
  const { Client } = await import("@modelcontextprotocol/client");
  const timeoutMs = request.config.connect_timeout * 1000;
  const transport = await transportFor(kind, request);
  const guard = new ToolListGuard(transport);
  const client = new Client(
    { name: "hermes-tools", version: VERSION },
    {
      capabilities: request.capabilities ?? {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs / 2) } },
    },
  );
  request.prepare(client);
  const program = transport instanceof StdioTransport ? transport : undefined;
  let end: (how: string) => void = () => undefined;
  const closed = new Promise<string>((resolve) => {
    end = resolve;
  });
  client.onclose = () => end(program?.ending ?? "the connection was closed");
  const close = async () => {
    await leave(transport);
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    end("it was closed here");
  };
  try {
    const connecting = client.connect(transport, {
      timeout: timeoutMs,
      ...(prior !== undefined && { prior }),
    });
    const wanted = unlessAborted(connecting, request.signal).catch((error: unknown) => {
      throw request.signal.aborted ? new Error("it is no longer wanted") : error;
    });
    // Connecting includes starting a program, which has no limit of its own.
    await inTime(wanted, { ms: timeoutMs, otherwise: "it did not answer" });
  } catch (error) {
    const ending = program?.ending;
    await close();
    if (program?.failure !== undefined) throw program.failure;
    if (ending === undefined) throw error;
    throw new EndedEarly(ending);
  }
  const calls = client.getProtocolEra() === "modern" ? undefined : program?.calls;
  return { client, guard, calls, transport: kind, closed, close };
}

async function transportFor(kind: TransportKind, request: ConnectRequest): Promise<Transport> {
  const { config, host } = request;
  if (kind === "stdio") {
    const program = {
      command: config.command,
      args: config.args,
      env: childEnvironment(host.config.env, config.env),
      cwd: config.cwd === "" ? host.cwd : config.cwd,
    };
    return new StdioTransport({ program, programs: request.programs, onStderr: request.onStderr });
  }
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import("@modelcontextprotocol/client");
  const { oauthFor } = await import("./oauth/provider.js");
  const url = addressOf(config.url);
  const options = {
    requestInit: { headers: config.headers },
    fetch: oauthFor({
      server: request.server,
      config,
      host,
      fetch: boundedAnswers((address, init) => fetch(address, init)),
    }),
    // What was written for this address, headers included, goes to no other.
    redirectPolicy: "same-origin" as const,
  };
  return kind === "http"
    ? new StreamableHTTPClientTransport(url, options)
    : new SSEClientTransport(url, options);
}

/** A server keeps a session until it is told that nobody comes back; one that is slow to hear it is not waited for. */
async function leave(transport: Transport): Promise<void> {
  const { terminateSession } = transport as Partial<StreamableHTTPClientTransport>;
  if (terminateSession === undefined) return;
  await within(
    terminateSession.call(transport).catch(() => undefined),
    LEAVING_MS,
  );
}

/** Read again here: the address may come from a variable. */
function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new ConnectError("its url is no address of the web", { fix: "it begins with http:// or https://" });
}

const NEW_LINE = 10;
const RETURN = 13;

/** Ends answers with a message that would fill the memory; a stream of events may go on for ever, one event may not. */
export function boundedAnswers(send: FetchLike, longest = LONGEST_MESSAGE): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    const { body, status, statusText, headers } = response;
    // Where it leads to is read from the answer itself.
    const isRedirect = status >= 300 && status < 400;
    if (body === null || isRedirect) return response;
    const isStream = headers.get("content-type")?.includes("event-stream") === true;
    const bounded = body.pipeThrough(new MessageBound({ longest, isStream }));
    return new Response(bounded, { status, statusText, headers });
  };
}

class MessageBound extends TransformStream<Uint8Array, Uint8Array> {
  constructor({ longest, isStream }: { readonly longest: number; readonly isStream: boolean }) {
    let size = 0;
    let isLineEmpty = true;
    super({
      transform(chunk, controller) {
        size += chunk.length;
        for (let start = 0; isStream && start < chunk.length; ) {
          const end = chunk.indexOf(NEW_LINE, start);
          const line = chunk.subarray(start, end === -1 ? chunk.length : end);
          isLineEmpty &&= line.every((byte) => byte === RETURN);
          if (end === -1) break;
          // An empty line ends an event.
          if (isLineEmpty) size = chunk.length - end - 1;
          isLineEmpty = true;
          start = end + 1;
        }
        if (size > longest)
          controller.error(new Error(`it sent a message of more than ${longest / 1024 / 1024} MB`));
        else controller.enqueue(chunk);
      },
    });
  }
}

const INHERITED: ReadonlySet<string> = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TERM",
  "SHELL",
  "TMPDIR",
]);
const INHERITED_FAMILY = /^(?:LC_|XDG_)[A-Z_]+$/;

/** What a server program sees: a few names of ours and what its settings add. Keys of other things stay behind. */
function childEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || (!INHERITED.has(name) && !INHERITED_FAMILY.test(name))) continue;
    // A function that bash exports is code, not a setting.
    if (!value.startsWith("()")) child[name] = value;
  }
  return { ...child, ...added };
}
