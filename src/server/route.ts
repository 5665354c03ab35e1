import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { SqliteConversationStore } from "../agent/sessions/conversation-store.js";
import type { Runtime } from "../runtime/runtime.js";
import type { SessionPool } from "../runtime/session-pool.js";
import type { Authenticator } from "./auth.js";
import type { AgentPool } from "./chat/agent-pool.js";
import type { ChatTurns } from "./chat/chat-turns.js";
import type { WebFiles } from "./dashboard/web-files.js";
import type { EventFeed } from "./event-feed.js";
import type { HookDoor } from "./hooks-route.js";
import type { ServerLimits } from "./limits.js";
import type { McpEndpoint } from "./mcp/endpoint.js";
import type { RunningRequests } from "./running-requests.js";
import type { SourceLogins } from "./source-logins.js";

/** What the routes of one server share. */
export interface ServerServices {
  readonly runtime: Runtime;
  readonly auth: Authenticator;
  readonly sessions: SessionPool;
  readonly agents: AgentPool;
  readonly turns: ChatTurns;
  /** What was said before; undefined where nothing has been. */
  conversations(): Promise<SqliteConversationStore | undefined>;
  readonly feed: EventFeed;
  readonly mcp: McpEndpoint;
  readonly running: RunningRequests;
  readonly logins: SourceLogins;
  readonly limits: ServerLimits;
  readonly web: WebFiles;
  /** Absent where no webhook is configured. */
  readonly hooks?: HookDoor | undefined;
}

export type RouteContext = Context<{ Bindings: HttpBindings }>;

/** One address of the API. The list of routes is what is mounted and what `/openapi.json` describes. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** True for what anybody may ask without a token. */
  readonly open?: true;
  /** True for what is signed in place of a token. */
  readonly signed?: true;
  /** True for what only the owner's token may do: approving is a right of its own. */
  readonly approves?: true;
  readonly summary: string;
  readonly query?: readonly QueryParameter[];
  readonly requestSchema?: Readonly<Record<string, unknown>>;
  readonly answer: {
    /** 200 when left out. */
    readonly status?: 202;
    readonly description: string;
    readonly type: string;
    readonly schema?: Readonly<Record<string, unknown>>;
  };
  /** Errors of this address beside those that any may give. */
  readonly problems?: readonly ("BadRequest" | "NotFound" | "Conflict")[];
  handle(context: RouteContext, services: ServerServices): Response | Promise<Response>;
}

export interface QueryParameter {
  /** In the query when left out. */
  readonly in?: "header" | "path";
  readonly required?: true;
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}
