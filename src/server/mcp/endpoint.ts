import type { ServerResponse } from "node:http";
import type { CallToolResult, McpHttpHandler } from "@modelcontextprotocol/server";
import { isRecord } from "../../base/record.js";
import type { Runtime } from "../../runtime/runtime.js";
import { SESSION_HEADER, SESSION_NAME, SESSION_NAME_RULE } from "../query.js";
import type { RunningRequests } from "../running-requests.js";
import {
  type ClientSession,
  ClientSessions,
  type ConnectedClient,
  DEFAULT_MCP_SESSION_LIMITS,
  type McpSessionLimits,
} from "./client-sessions.js";
import { RecentEvents } from "./event-store.js";
import { HeldCalls } from "./held-calls.js";
import { McpSession } from "./mcp-session.js";
import type { McpDoor, Sdk, ToolServerMaker } from "./tool-server.js";

/** A client that lost its stream is told to come back after this long. */
const RETRY_MS = 1_000;

const REVISION_HEADER = "mcp-protocol-version";
const NO_ROOM = "Too many clients are connected: try again when one of them has gone";

export interface McpRequest {
  /** Without its body, which has been read under the server's own limits. */
  readonly request: Request;
  readonly body: unknown;
  /** Whose token it came with. */
  readonly principal: "owner" | "caller";
  readonly outgoing: ServerResponse;
}

/**
 * `/mcp`: Streamable HTTP. Clients from before 2026 connect, and each has a session. Those of 2026 send requests that
 * stand for themselves: one that names its session (`X-Hermes-Session`) has it to itself, any other shares one with
 * those of the same token that call themselves the same.
 */
export class McpEndpoint {
  readonly #runtime: Runtime;
  readonly #running: RunningRequests;
  readonly #held = new HeldCalls<CallToolResult>();
  readonly #clients: ClientSessions<ConnectedClient>;
  readonly #modernClients: ClientSessions<ClientSession>;
  #modern: Promise<Modern> | undefined;
  #closed = false;

  constructor(options: {
    readonly runtime: Runtime;
    readonly running: RunningRequests;
    readonly limits?: McpSessionLimits;
  }) {
    this.#runtime = options.runtime;
    this.#running = options.running;
    const limits = options.limits ?? DEFAULT_MCP_SESSION_LIMITS;
    this.#clients = new ClientSessions(limits);
    this.#modernClients = new ClientSessions(limits);
  }

  async handle(incoming: McpRequest): Promise<Response> {
    const { request, body, principal } = incoming;
    this.#modern ??= this.#open();
    const { handler, ...made } = await this.#modern;
    if (await made.sdk.isLegacyRequest(request, body)) return this.#serveClient(incoming, made);
    const named = request.headers.get(SESSION_HEADER);
    if (named !== null && !SESSION_NAME.test(named)) return rpcError(400, SESSION_NAME_RULE);
    const id = JSON.stringify([principal, named ?? clientNameIn(body)]);
    if (this.#modernClients.find(id, principal) === undefined) {
      if (this.#closed || !this.#modernClients.hasRoom()) return rpcError(503, NO_ROOM);
      const live = new McpSession(this.#runtime, { own: named !== null });
      live.onToolsChanged(() => handler.notify.toolsChanged());
      this.#modernClients.add(id, { live, principal });
    }
    this.#modernClients.use(id, incoming.outgoing);
    return handler.fetch(request, {
      parsedBody: body,
      authInfo: { token: "", clientId: principal, scopes: [], extra: { id, ownSession: named !== null } },
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#clients.close();
    this.#modernClients.close();
    this.#held.close();
    const modern = await this.#modern?.catch(() => undefined);
    await modern?.handler.close();
  }

  async #serveClient(incoming: McpRequest, made: Made): Promise<Response> {
    const { request, body, principal, outgoing } = incoming;
    const { sdk } = made;
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      if (!sdk.isInitializeRequest(body))
        return rpcError(400, "Mcp-Session-Id is missing: begin with initialize");
      if (this.#closed || !this.#clients.hasRoom()) return rpcError(503, NO_ROOM);
      return this.#letIn(incoming, made);
    }
    const client = this.#clients.find(id, principal);
    if (client === undefined)
      return rpcError(404, "There is no such session: begin with initialize", -32_001);
    this.#clients.use(id, outgoing);
    const agreed = inAgreedRevision(request, { client, sdk });
    const response = await client.transport.handleRequest(agreed, { parsedBody: body });
    // Until its stream is open, a client hears of nothing that is not an answer.
    if (request.method === "GET" && response.ok && client.live.isOutdated)
      client.server.sendToolListChanged().catch(() => undefined);
    return response;
  }

  /** The session is kept once the transport has accepted the client, and not before. */
  async #letIn({ request, body, principal, outgoing }: McpRequest, made: Made): Promise<Response> {
    const { sdk, createToolServer } = made;
    const leave = this.#clients.enter();
    const live = new McpSession(this.#runtime, { own: true });
    const id = this.#clients.newId();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => {
        leave();
        this.#clients.add(id, { transport, server, live, principal });
        this.#clients.use(id, outgoing);
      },
      onsessionclosed: () => this.#clients.end(id),
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
    });
    const server = createToolServer(this.#door(live, { principal, ownSession: true }), {
      sdk,
      era: "legacy",
    });
    server.onerror = (error) => this.#runtime.log.debug(`MCP client: ${error.message}`);
    server.onclose = live.onToolsChanged(() => void server.sendToolListChanged().catch(() => undefined));
    try {
      await server.connect(transport);
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      leave();
      if (this.#clients.find(id, principal) === undefined) {
        live.close();
        await transport.close();
      }
    }
  }

  async #open(): Promise<Modern> {
    const [sdk, { createToolServer }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("./tool-server.js"),
    ]);
    const handler = sdk.createMcpHandler(
      ({ authInfo }) => {
        const principal = authInfo?.clientId === "owner" ? "owner" : "caller";
        const client = this.#modernClients.find(String(authInfo?.extra?.id), principal);
        if (client === undefined) throw new Error("the session of the client has ended");
        const ownSession = authInfo?.extra?.ownSession === true;
        return createToolServer(this.#door(client.live, { principal, ownSession }), {
          sdk,
          era: "modern",
        });
      },
      { legacy: "reject", onerror: (error) => this.#runtime.log.debug(`MCP client: ${error.message}`) },
    );
    return { sdk, createToolServer, handler };
  }

  #door(
    session: McpSession,
    { principal, ownSession }: { readonly principal: McpRequest["principal"]; readonly ownSession: boolean },
  ): McpDoor {
    return {
      runtime: this.#runtime,
      session,
      ownSession,
      mayApprove: principal === "owner",
      unattended: this.#runtime.approvals.unattended(),
      held: this.#held,
      principal,
      run: (signal, work) => this.#running.run(signal, work),
    };
  }
}

/**
 * What was agreed on when the session began counts, also for a request that names another known revision: the
 * transport takes the header for what the client understands.
 */
function inAgreedRevision(
  request: Request,
  { client, sdk }: { readonly client: ConnectedClient; readonly sdk: Sdk },
): Request {
  const agreed = client.server.getNegotiatedProtocolVersion();
  const named = request.headers.get(REVISION_HEADER);
  if (agreed === undefined || named === agreed) return request;
  if (named === null || !sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(named)) return request;
  const headers = new Headers(request.headers);
  headers.set(REVISION_HEADER, agreed);
  return new Request(request, { headers });
}

/** Loaded with the first request: a server nobody speaks MCP to starts without it. */
interface Made {
  readonly sdk: Sdk;
  readonly createToolServer: ToolServerMaker;
}

interface Modern extends Made {
  readonly handler: McpHttpHandler;
}

/** What a client of 2026 calls itself in each request. */
function clientNameIn(body: unknown): unknown {
  const params = isRecord(body) ? body.params : undefined;
  const meta = isRecord(params) ? params._meta : undefined;
  const info = isRecord(meta) ? meta["io.modelcontextprotocol/clientInfo"] : undefined;
  return isRecord(info) ? [String(info.name).slice(0, 128), String(info.version).slice(0, 128)] : undefined;
}

function rpcError(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
