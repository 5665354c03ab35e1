import { isAbsolute } from "node:path";
import type * as acp from "@agentclientprotocol/sdk";
import type { Agents } from "../../agent/agents.js";
import type { AgentResult } from "../../agent/events.js";
import type { Approver } from "../../call/scope.js";
import type { Runtime } from "../../runtime/runtime.js";
import { HermesError } from "../../tool/errors.js";
import { VERSION } from "../../version.js";
import { EditorSession } from "./editor-session.js";
import { FileDiffs } from "./file-diffs.js";
import { editorApprover } from "./permission.js";
import { messageOf, replayOf } from "./prompt.js";

export type Sdk = typeof acp;

const LISTED = 100;

/** The agent as the editors' protocol knows it: sessions are conversations, and whoever opened the editor owns them. */
export class EditorAgent {
  readonly #runtime: Runtime;
  readonly #agents: Agents;
  readonly #sdk: Sdk;
  readonly #sessions = new Map<string, Promise<EditorSession>>();

  constructor(parts: { readonly runtime: Runtime; readonly agents: Agents; readonly sdk: Sdk }) {
    this.#runtime = parts.runtime;
    this.#agents = parts.agents;
    this.#sdk = parts.sdk;
  }

  initialize(): acp.InitializeResponse {
    return {
      protocolVersion: this.#sdk.PROTOCOL_VERSION,
      agentInfo: { name: "hermes-tools", title: "Hermes", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { resume: {}, list: {}, close: {} },
      },
      authMethods: [],
    };
  }

  async create(
    { cwd, mcpServers }: acp.NewSessionRequest,
    client: acp.AgentContext,
  ): Promise<acp.NewSessionResponse> {
    this.#mindServers(mcpServers);
    const session = await this.#open({ cwd, client });
    const sessionId = session.agent.conversation;
    this.#sessions.set(sessionId, Promise.resolve(session));
    return { sessionId };
  }

  /** Tells the conversation from its beginning; a turn that runs in it goes on. */
  async load(params: acp.LoadSessionRequest, client: acp.AgentContext): Promise<acp.LoadSessionResponse> {
    await this.resume(params, client);
    const stored = await (await this.#agents.conversations()).messages(params.sessionId);
    for (const update of replayOf(stored)) await this.#tell(client, params.sessionId, update);
    return {};
  }

  /** The same without telling what was said: the editor still knows it. */
  async resume(
    { sessionId, cwd, mcpServers }: acp.ResumeSessionRequest,
    client: acp.AgentContext,
  ): Promise<acp.ResumeSessionResponse> {
    this.#mindServers(mcpServers ?? []);
    const known = this.#sessions.get(sessionId);
    const opening = known ?? this.#open({ cwd, client, conversation: sessionId });
    this.#sessions.set(sessionId, opening);
    try {
      await opening;
    } catch (error) {
      this.#sessions.delete(sessionId);
      throw error;
    }
    return {};
  }

  async list({ cwd }: acp.ListSessionsRequest): Promise<acp.ListSessionsResponse> {
    const found = await (await this.#agents.conversations()).list({ owner: "", limit: LISTED });
    return {
      sessions: found
        .filter((one) => cwd === undefined || cwd === null || one.cwd === cwd)
        .map(({ id, title, cwd: folder, updatedAt }) => ({
          sessionId: id,
          cwd: folder,
          title,
          updatedAt: new Date(updatedAt).toISOString(),
        })),
    };
  }

  async prompt({ sessionId, prompt }: acp.PromptRequest, signal: AbortSignal): Promise<acp.PromptResponse> {
    const session = await this.#known(sessionId);
    const { result, error } = await session.prompt(messageOf(prompt), signal);
    if (result?.stop === "interrupted") return { stopReason: "cancelled" };
    if (error !== undefined || result === undefined)
      throw this.#failed(error ?? "The turn ended without a result");
    return { stopReason: stopReason(result) };
  }

  async cancel({ sessionId }: acp.CancelNotification): Promise<void> {
    const session = await this.#sessions.get(sessionId)?.catch(() => undefined);
    await session?.agent.stop();
  }

  async close({ sessionId }: acp.CloseSessionRequest): Promise<acp.CloseSessionResponse> {
    const session = await this.#known(sessionId);
    this.#sessions.delete(sessionId);
    await session.close();
    return {};
  }

  async closeAll(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(all.map(async (opening) => (await opening.catch(() => undefined))?.close()));
  }

  async #open(wish: {
    readonly cwd: string;
    readonly client: acp.AgentContext;
    readonly conversation?: string;
  }): Promise<EditorSession> {
    const { cwd, client, conversation } = wish;
    if (!isAbsolute(cwd)) throw this.#sdk.RequestError.invalidParams({ cwd }, "cwd must be an absolute path");
    const opened: { session?: EditorSession } = {};
    try {
      const agent = await this.#agents.open({
        cwd,
        conversation,
        // Whoever has the editor open is the owner of this machine.
        owner: conversation === undefined ? undefined : "",
        source: "acp",
        door: "acp",
        toolsets: toolsetsFor(this.#runtime),
        approver: this.#approver(client, () => opened.session),
      });
      opened.session = new EditorSession({
        agent,
        diffs: new FileDiffs(this.#runtime, agent.session),
        redact: this.#runtime.redact,
        tell: (update) => this.#tell(client, agent.conversation, update),
      });
      return opened.session;
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
      if (error.code === "not_found") throw this.#sdk.RequestError.resourceNotFound(conversation);
      throw this.#failed(error.message);
    }
  }

  #approver(client: acp.AgentContext, session: () => EditorSession | undefined): Approver {
    const { redact } = this.#runtime;
    return editorApprover({
      redact,
      idOf: ({ callId }) => session()?.idOf(callId) ?? callId,
      askEditor: async (question, { request, signal }) => {
        const open = session();
        if (open === undefined) return undefined;
        // Calls of agents that work for this one are told with the question itself.
        if (request.session.id === open.agent.session.id) await open.whenAnnounced(request.callId, signal);
        const asking = client
          .request(this.#sdk.methods.client.session.requestPermission, {
            sessionId: open.agent.conversation,
            ...question,
          })
          .then(({ outcome }) => outcome)
          // An editor that fails to ask has brought no answer.
          .catch(() => undefined);
        return Promise.race([asking, aborted(signal)]);
      },
    });
  }

  #tell(client: acp.AgentContext, sessionId: string, update: acp.SessionUpdate): Promise<void> {
    // An editor that has gone is noticed by its connection.
    return client
      .notify(this.#sdk.methods.client.session.update, { sessionId, update })
      .catch(() => undefined);
  }

  async #known(sessionId: string): Promise<EditorSession> {
    const session = await this.#sessions.get(sessionId);
    if (session === undefined) throw this.#sdk.RequestError.resourceNotFound(sessionId);
    return session;
  }

  #failed(message: string): Error {
    return new this.#sdk.RequestError(-32_603, message);
  }

  /** Servers of tools are the affair of `hermes mcp add`: there they are looked at before anything of them runs. */
  #mindServers(servers: readonly acp.McpServer[]): void {
    if (servers.length === 0) return;
    const names = servers.map(({ name }) => name).join(", ");
    this.#runtime.log.warn(`MCP servers of the editor are not started (${names}): use hermes mcp add`);
  }
}

/** What the person chose for editors or for everything; else what suits editors, with the tools the person added. */
function toolsetsFor({ config, registry }: Runtime): readonly string[] | undefined {
  const own = config.values.platform_toolsets.acp;
  if (own !== undefined) return own;
  if (config.origin("toolsets").source !== "default") return undefined;
  const added = [...registry.snapshot().entries.values()]
    .filter(({ provenance }) => provenance.kind !== "builtin")
    .map(({ name }) => name);
  return ["hermes-acp", ...added];
}

function stopReason({ stop }: AgentResult): acp.StopReason {
  return stop === "max_turns" ? "max_turn_requests" : "end_turn";
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
