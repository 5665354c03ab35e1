import type { ServerResponse } from "node:http";
import type { CallToolResult, McpHttpHandler } from "@modelcontextprotocol/server";
import type { Runtime } from "../../runtime/runtime.js";
import type { RunningRequests } from "../running-requests.js";
import {
  type ClientSession,
  ClientSessions,
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

export interface McpRequest {
  /** Without its body, which has been read under the server's own limits. */
  readonly request: Request;
  readonly body: unknown;
  /** Whose token it came with. */
  readonly principal: "owner" | "caller";
  readonly outgoing: ServerResponse;
}

/**
 * `/mcp`: Streamable HTTP. Clients of 2026 send requests that stand for themselves and share one session; each
 * client from before has a session of its own, because otherwise it could not be asked anything.
 */
export class McpEndpoint {
  readonly #runtime: Runtime;
  readonly #running: RunningRequests;
  readonly #held = new HeldCalls<CallToolResult>();
  readonly #clients: ClientSessions;
  #modern: Promise<Modern> | undefined;
  #closed = false;

  constructor(options: {
    readonly runtime: Runtime;
    readonly running: RunningRequests;
    readonly limits?: McpSessionLimits;
  }) {
    this.#runtime = options.runtime;
    this.#running = options.running;
    this.#clients = new ClientSessions(options.limits ?? DEFAULT_MCP_SESSION_LIMITS);
  }

  async handle(incoming: McpRequest): Promise<Response> {
    const { request, body, principal } = incoming;
    this.#modern ??= this.#open();
    const { handler, ...made } = await this.#modern;
    if (await made.sdk.isLegacyRequest(request, body)) return this.#serveClient(incoming, made);
    return handler.fetch(request, {
      parsedBody: body,
      authInfo: { token: "", clientId: principal, scopes: [] },
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#clients.close();
    this.#held.close();
    const modern = await this.#modern?.catch(() => undefined);
    modern?.session.close();
    await modern?.handler.close();
  }

  async #serveClient(incoming: McpRequest, made: Made): Promise<Response> {
    const { request, body, principal, outgoing } = incoming;
    const { sdk } = made;
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      if (!sdk.isInitializeRequest(body))
        return rpcError(400, "Mcp-Session-Id is missing: begin with initialize");
      if (this.#closed || !this.#clients.hasRoom())
        return rpcError(503, "Too many clients are connected: try again when one of them has gone");
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
    const live = new McpSession(this.#runtime);
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
    const session = new McpSession(this.#runtime);
    const handler = sdk.createMcpHandler(
      ({ authInfo }) => {
        const principal = authInfo?.clientId === "owner" ? "owner" : "caller";
        return createToolServer(this.#door(session, { principal, ownSession: false }), {
          sdk,
          era: "modern",
        });
      },
      { legacy: "reject", onerror: (error) => this.#runtime.log.debug(`MCP client: ${error.message}`) },
    );
    session.onToolsChanged(() => handler.notify.toolsChanged());
    return { sdk, createToolServer, handler, session };
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
  { client, sdk }: { readonly client: ClientSession; readonly sdk: Sdk },
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
  readonly session: McpSession;
}

function rpcError(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
