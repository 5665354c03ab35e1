import { existsSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Agents } from "../agent/agents.js";
import type { Runtime } from "../runtime/runtime.js";
import { SessionPool } from "../runtime/session-pool.js";
import { Authenticator } from "./auth.js";
import { AgentPool } from "./chat/agent-pool.js";
import { ChatTurns } from "./chat/chat-turns.js";
import { conversationElsewhere } from "./conversation-elsewhere.js";
import { WebFiles } from "./dashboard/web-files.js";
import { EventFeed } from "./event-feed.js";
import { gate, LINGER_MS, refuse } from "./gate.js";
import type { HookDoor } from "./hooks-route.js";
import { bracketed, type HostRules, hostRules } from "./host-rules.js";
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "./limits.js";
import { listen, refuseOpenBind, resolveBind } from "./listen.js";
import { McpEndpoint } from "./mcp/endpoint.js";
import { JSON_TYPE, type Problem, problemResponse, problemText } from "./problem.js";
import type { ServerServices } from "./route.js";
import { type HermesApp, mountRoutes } from "./routes.js";
import { RunningRequests } from "./running-requests.js";
import { SourceLogins } from "./source-logins.js";
import { resolveCallToken, type ServerToken } from "./token.js";

export interface ServerOptions {
  readonly runtime: Runtime;
  readonly token: ServerToken;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Further names (`hermes.example`, `box.lan:9119`) under which a proxy or another machine asks. */
  readonly allowedHosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  /** Takes what comes to `/hooks/NAME`. */
  readonly hooks?: HookDoor | undefined;
  /** The files of the page; those of the package when left out. */
  readonly webFolder?: string | undefined;
}

export interface HermesServer {
  /** Ends with a slash and holds no token. */
  readonly url: string;
  readonly port: number;
  /** Lets running calls finish for a while, then aborts them; resolves when every connection is closed. */
  close(options?: { readonly finishMs?: number; readonly abortMs?: number }): Promise<void>;
}

const FINISH_MS = 3_000;
const ABORT_MS = 2_000;

/** Throws a HermesError when the address is taken, does not exist, or would be open to others. */
export async function createServer(options: ServerOptions): Promise<HermesServer> {
  const { runtime, token, host } = options;
  const limits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const callToken = resolveCallToken({
    configured: runtime.config.values.server.call_token,
    token: token.value,
  });
  const address = await resolveBind(host);
  await refuseOpenBind({ host, address, token });

  const server = createHttpServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: 1_000,
    // Long: a client that reuses a connection just as it is closed for idleness sees a reset.
    keepAliveTimeout: 60_000,
    // A missing Host is judged by the gate like any other wrong one.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  server.on("clientError", answerBrokenRequest);
  // Loaded before the port is open: from then on every request must find its handler.
  const [{ Hono }, { getRequestListener }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const port = await listen(server, { host, address, port: options.port });

  const auth = new Authenticator({ token: token.value, callToken, port });
  runtime.secrets.add("HERMES_TOKEN", token.value);
  if (callToken !== undefined) runtime.secrets.add("HERMES_CALL_TOKEN", callToken);
  runtime.secrets.add("HERMES_PAGE_COOKIE", auth.cookieValue);
  runtime.secrets.add("HERMES_PAGE_KEY", auth.pageKey);
  const feed = new EventFeed({
    events: runtime.events,
    redact: runtime.redact,
    limits,
    logLines: runtime.logLines,
  });
  runtime.approvals.pageIsHere(() => feed.pages > 0);
  const running = new RunningRequests();
  const app: HermesApp = new Hono();
  const sessions = new SessionPool(runtime, {
    door: "http",
    approver: runtime.approvals.unattended(),
    forConversation: conversationElsewhere,
    limits: { sessions: limits.sessions, idleMs: limits.sessionIdleMs },
  });
  // Loaded with the first message: a server nobody talks to opens no conversations.
  let opened: Promise<Agents> | undefined;
  const openAgents = () => {
    opened ??= import("../agent/agents.js").then(({ Agents }) => new Agents(runtime));
    return opened;
  };
  const agents = new AgentPool(openAgents, {
    sessions: limits.sessions,
    idleMs: limits.sessionIdleMs,
  });
  const mcp = new McpEndpoint({ runtime, running });
  const logins = new SourceLogins(runtime);
  const services: ServerServices = {
    runtime,
    auth,
    sessions,
    agents,
    turns: new ChatTurns(),
    conversations: async () =>
      existsSync(runtime.config.paths.sessionsDb) ? (await openAgents()).stored() : undefined,
    feed,
    mcp,
    running,
    logins,
    limits,
    web: options.webFolder === undefined ? WebFiles.ofPackage() : new WebFiles(options.webFolder),
    hooks: options.hooks,
  };
  mountRoutes(app, { services, auth });
  const answer = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => problemResponse(UNREADABLE),
  });
  // Out of file descriptors, for one: the next client may fare better.
  server.on("error", (error) =>
    runtime.log.error(`the server could not take a connection: ${error.message}`),
  );
  let stopped: Promise<void> | undefined;
  const rules = hostRules({
    address,
    host,
    port,
    allowedHosts: options.allowedHosts,
  });
  receive(server, { rules, limits, stopping: () => stopped !== undefined, answer });

  return {
    url: `http://${bracketed(address === "0.0.0.0" || address === "::" ? "127.0.0.1" : host)}:${port}/`,
    port,
    close: (patience = {}) => {
      logins.close();
      stopped ??= stop({
        server,
        feed,
        mcp,
        running,
        sessions,
        closeAgents: async () => {
          await agents.close();
          await (await opened)?.close();
        },
        ...patience,
      });
      return stopped;
    },
  };
}

async function stop(parts: {
  readonly server: Server;
  readonly feed: EventFeed;
  readonly mcp: McpEndpoint;
  readonly running: RunningRequests;
  readonly sessions: SessionPool;
  closeAgents(): Promise<void>;
  readonly finishMs?: number;
  readonly abortMs?: number;
}): Promise<void> {
  const { server, feed, running } = parts;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  feed.close();
  await running.idle(parts.finishMs ?? FINISH_MS);
  running.abortAll();
  await running.idle(parts.abortMs ?? ABORT_MS);
  await parts.mcp.close();
  parts.sessions.close();
  await parts.closeAgents();
  server.closeIdleConnections();
  // Last answers are still on their way out.
  const force = setTimeout(() => server.closeAllConnections(), 250);
  await closed;
  clearTimeout(force);
}

/** Everything passes the gate first; what asks before sending its body hears of a refusal in time. */
function receive(
  server: Server,
  door: {
    readonly rules: HostRules;
    readonly limits: ServerLimits;
    readonly stopping: () => boolean;
    readonly answer: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
  },
): void {
  const enter = (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    setSecurityHeaders(outgoing);
    const problem = door.stopping() ? STOPPING : gate(incoming, door);
    if (problem !== undefined) refuse(incoming, outgoing, problem);
    return problem === undefined;
  };
  server.on("request", (incoming, outgoing) => {
    if (enter(incoming, outgoing)) void door.answer(incoming, outgoing);
  });
  server.on("checkContinue", (incoming, outgoing) => {
    if (!enter(incoming, outgoing)) return;
    outgoing.writeContinue();
    void door.answer(incoming, outgoing);
  });
}

const STOPPING: Problem = {
  status: 503,
  code: "busy",
  message: "The server is stopping.",
  hint: "Try again once it runs again.",
};

const UNREADABLE: Problem = { status: 400, code: "bad_request", message: "The request could not be read." };

/** What is not HTTP, too long, or too slow never becomes a request; it is answered in the same shape. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const problem = brokenRequest(error);
  const body = problemText(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\ncontent-type: ${JSON_TYPE}\r\n${SECURITY_HEADER_LINES}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // Time to read the answer; a client that goes on sending does not keep the connection.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function brokenRequest(error: NodeJS.ErrnoException): Problem {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, code: "too_large", message: "The headers are too long." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "timeout", message: "The request did not come in time." };
    default:
      return { ...UNREADABLE, message: "This is not a valid HTTP request." };
  }
}

/**
 * On every answer, whoever gives it. The page needs nothing from elsewhere and nobody may frame it; `blob:` are
 * pictures and sounds of results, which its own script has made of the answer.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' blob:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

function setSecurityHeaders(outgoing: ServerResponse): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) outgoing.setHeader(name, value);
}

/** For answers written before Node has made a response object. */
const SECURITY_HEADER_LINES = Object.entries(SECURITY_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
