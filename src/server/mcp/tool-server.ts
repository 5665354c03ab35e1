import type {
  CallToolRequestParams,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { Approver } from "../../call/scope.js";
import { mcpResult } from "../../protocol/index.js";
import { isForeign } from "../../registry/entry.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Session } from "../../runtime/session.js";
import { onceOnly } from "../../runtime/session-pool.js";
import type { CallResult } from "../../tool/call.js";
import { VERSION } from "../../version.js";
import type { CallKey, HeldCalls, HeldWork, Round } from "./held-calls.js";
import type { McpSession } from "./mcp-session.js";
import { advertisedOutput, PromisedOutputs } from "./output-schema.js";
import { ProgressReporter } from "./progress.js";
import { type AskClient, clientApprover, clientAsk } from "./questions.js";
import { entryFor, pageOf } from "./tool-list.js";

export type Sdk = typeof import("@modelcontextprotocol/server");
export type ToolServerMaker = typeof createToolServer;

/** What one client of the MCP door may use. */
export interface McpDoor {
  readonly runtime: Runtime;
  readonly session: McpSession;
  /** False where clients share the session. */
  readonly ownSession: boolean;
  /** Whether the person behind this client may say yes; a token for calls may not. */
  readonly mayApprove: boolean;
  /** Who is asked when the client cannot; nobody when undefined. */
  readonly unattended: Approver;
  readonly held: HeldCalls<CallToolResult>;
  /** Whose answers count for a held call. */
  readonly principal: string;
  /** Runs a call so that the door's owner knows of it and can stop it. */
  run<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

const INSTRUCTIONS =
  "Tools of a Hermes runtime. Each call is judged by the owner's rules: it may run, be refused with the reason, " +
  "or wait for the owner's approval. A refused call stays refused in another spelling.";

const promised = new PromisedOutputs();

/** One server of the SDK: for one connection, or in the 2026 era over HTTP for one request. */
export function createToolServer(
  door: McpDoor,
  { sdk, era }: { readonly sdk: Sdk; readonly era: "legacy" | "modern" },
): Server {
  const server = new sdk.Server(
    { name: "hermes-tools", title: "Hermes Tools", version: VERSION },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", async ({ params }) => {
    const page = pageOf(await door.session.tools(), params?.cursor);
    if (page === undefined) throw invalid(sdk, "Unknown cursor");
    return page;
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const client: Client = { sdk, server, context };
    return era === "modern" ? callInRounds(door, params, client) : callDirectly(door, params, client);
  });
  return server;
}

interface Client {
  readonly sdk: Sdk;
  readonly server: Server;
  readonly context: ServerContext;
}

/** Until 2025-11-25 a server can ask its client while the call runs. */
async function callDirectly(
  door: McpDoor,
  params: CallToolRequestParams,
  client: Client,
): Promise<CallToolResult> {
  const { context, server } = client;
  const askClient: AskClient = (question, signal) => {
    const timeout = approvalTimeoutMs(door) + 1_000;
    return (
      context.mcpReq
        .send({ method: "elicitation/create", params: { ...question } }, { signal, timeout })
        // A client that fails to ask has brought no answer.
        .catch(() => undefined)
    );
  };
  const canAsk = takesForms(server.getClientCapabilities());
  return withProgress(client, (round) =>
    run(door, { params, client, canAsk, work: { ...round, askClient } }),
  );
}

/** Since 2026-07-28 the client takes questions as an answer and sends the request again. */
async function callInRounds(
  door: McpDoor,
  params: CallToolRequestParams,
  client: Client,
): Promise<CallToolResult | InputRequiredResult> {
  const { context, sdk } = client;
  const key: CallKey = { principal: door.principal, name: params.name, args: params.arguments ?? {} };
  const state = context.mcpReq.requestState<string>();
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const canAsk = takesForms(envelope[sdk.CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined);
  const turn = await withProgress(client, (round) =>
    state === undefined
      ? door.held.begin(key, { round, run: (work) => run(door, { params, client, canAsk, work }) })
      : door.held.resume(key, { round, state, answers: context.mcpReq.inputResponses ?? {} }),
  );
  if (turn === undefined)
    throw invalid(sdk, "No call waits for this answer: it has ended or was never asked");
  if ("result" in turn) return turn.result;
  return sdk.inputRequired({
    inputRequests: Object.fromEntries(
      Object.entries(turn.questions).map(([id, question]) => [id, sdk.inputRequired.elicit(question)]),
    ),
    requestState: turn.state,
  });
}

/** Reports go out as long as this request lasts, and none after its answer. */
async function withProgress<Result>(
  { context }: Client,
  work: (round: Round) => Promise<Result>,
): Promise<Result> {
  const { _meta, signal, notify } = context.mcpReq;
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return work({ signal, onProgress: () => undefined });
  const reporter = new ProgressReporter((report) => {
    notify({ method: "notifications/progress", params: { progressToken, ...report } }).catch(() => undefined);
  });
  try {
    return await work({ signal, onProgress: (progress) => reporter.report(progress) });
  } finally {
    reporter.end();
  }
}

interface Work {
  readonly params: CallToolRequestParams;
  readonly client: Client;
  readonly canAsk: boolean;
  readonly work: HeldWork;
}

/** One call through the whole path, whatever the era. Only an unknown tool is an error of the protocol. */
function run(door: McpDoor, { params, client, canAsk, work }: Work): Promise<CallToolResult> {
  return door.run(work.signal, async (signal) => {
    const { name, arguments: args = {} } = params;
    const session = await door.session.current();
    const id = door.session.nextCallId();
    const person = personFor(door, { ...work, signal, canAsk, configured: session.scope.approver });
    const result = await session
      .withPerson(person)
      .call(
        { id, name, arguments: args },
        { signal, onProgress: work.onProgress, traceparent: traceparentOf(client.context) },
      );
    if (isUnknown(session, name)) throw invalid(client.sdk, messageOf(result));
    return encode(session, name, result);
  });
}

/** The message knows better than the request that carries it: a proxy may have begun a span of its own. */
function traceparentOf({ mcpReq, http }: ServerContext): string | undefined {
  const told = mcpReq._meta?.traceparent;
  return typeof told === "string" ? told : (http?.req?.headers.get("traceparent") ?? undefined);
}

interface Asking extends HeldWork {
  readonly canAsk: boolean;
  /** Whom the owner has named in the configuration. */
  readonly configured: Approver | undefined;
}

function personFor(door: McpDoor, asking: Asking): Parameters<Session["withPerson"]>[0] {
  const { askClient, signal, canAsk } = asking;
  const approver = approverFor(door, asking);
  return {
    approver,
    ask:
      canAsk && door.mayApprove
        ? clientAsk({ askClient, signal, timeoutMs: approvalTimeoutMs(door) })
        : undefined,
  };
}

/** An approver the owner has named is asked instead of everybody else, here as at every other door. */
function approverFor(door: McpDoor, asking: Asking): Approver | undefined {
  const { askClient, onProgress, canAsk, configured } = asking;
  const { ownSession, unattended, runtime } = door;
  const inSession = (approver: Approver) => (ownSession ? approver : onceOnly(approver));
  if (configured !== undefined) return inSession(configured);
  if (canAsk && door.mayApprove) return clientApprover({ askClient, redact: runtime.redact, ownSession });
  return reportingWait(inSession(unattended), onProgress);
}

/** A client that reports progress tells its person what the call waits for. */
function reportingWait(approver: Approver, onProgress: HeldWork["onProgress"]): Approver {
  return {
    isThere: () => approver.isThere?.() ?? true,
    ask(request, signal) {
      onProgress({ message: `waits for approval: hermes approvals approve ${request.id}` });
      return approver.ask(request, signal);
    },
  };
}

function approvalTimeoutMs({ runtime }: McpDoor): number {
  return runtime.config.values.approvals.timeout * 1000;
}

/** True when the client has a form to ask with. Before there were kinds, an empty object meant that. */
function takesForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function isUnknown({ scope }: Session, name: string): boolean {
  if (scope.bridge?.find(name) !== undefined) return false;
  const found = scope.view.find(name);
  return "code" in found && (found.code === "not_found" || found.code === "out_of_scope");
}

function messageOf({ error }: CallResult): string {
  const { message = "Unknown tool", hint } = error ?? {};
  return hint === undefined ? message : `${message}. ${hint}`;
}

function encode(session: Session, name: string, result: CallResult): CallToolResult {
  const answer = mcpResult(result) as CallToolResult;
  const entry = entryFor(session, name);
  if (!result.ok || entry?.output === undefined || advertisedOutput(entry.output) === undefined) {
    return answer;
  }
  const structuredContent = promised.objectFor({
    output: entry.output,
    foreign: isForeign(entry.provenance),
    structured: answer.structuredContent as Readonly<Record<string, unknown>> | undefined,
    truncated: result.truncated,
  });
  return { ...answer, structuredContent };
}

function invalid(sdk: Sdk, message: string): Error {
  return new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message);
}
