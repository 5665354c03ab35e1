import type { ApprovalRequest, Approver } from "../call/scope.js";
import { approverFrom, type OpenSessionOptions } from "../runtime/open-session-options.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import { failure, HermesError } from "../tool/errors.js";
import type { HostCapabilities, MessagesHost } from "../tool/host-capabilities.js";
import { Agent } from "./agent.js";
import { delegation } from "./delegate.js";
import type { AgentEvent } from "./events.js";
import { describers, heardIn } from "./heard.js";
import type { Budget } from "./ledger.js";
import { systemPrompt } from "./prompt.js";
import type { Conversation, ConversationStore, NewMessage } from "./sessions/types.js";
import { ConversationTodos } from "./todos.js";
import type { AgentModel } from "./turn.js";

const MAX_CONCURRENT = 3;

/** What outlives a conversation or lies beside it; task list and delegation the agent brings by itself. */
export type AgentSurroundings = Pick<HostCapabilities, "memory" | "sessions" | "skills" | "models">;

export interface AgentParts
  extends Omit<OpenSessionOptions, "host" | "model" | "contextTokens" | "conversation"> {
  readonly runtime: Runtime;
  readonly store: ConversationStore;
  readonly model: AgentModel;
  /** The conversation to go on with; a new one when left out. */
  readonly conversation?: string | undefined;
  readonly source?: string | undefined;
  readonly owner?: string | undefined;
  readonly who?: string | undefined;
  readonly maxTurns?: number | undefined;
  /** How many children work at the same time. */
  readonly maxConcurrent?: number | undefined;
  budget?(): Budget;
  /** Texts for the system prompt of a new conversation. */
  readonly memoryText?: string | undefined;
  readonly skillsText?: string | undefined;
  /** What the client of a door asks of the agent besides. */
  readonly instructions?: string | undefined;
  /** What was said before this conversation was opened here; only for a new one. */
  readonly history?: readonly NewMessage[] | undefined;
  /** Made for the conversation: entries name it, and it pays. */
  surroundings?(conversation: string): AgentSurroundings;
  /** Chats it can write to; those of the runtime when left out. */
  readonly messages?: MessagesHost | undefined;
  /** In place of the runtime's own way to open a session: for one with less authority. */
  openSession?(options: OpenSessionOptions): Promise<Session>;
  /** Ends what was opened for this agent alone. */
  onClose?(): Promise<void>;
}

/** Where the events of a turn go, for what is made before there is an agent. */
export interface Emitter {
  to(event: AgentEvent): void;
}

/** Opens a conversation, new or old, with a session of its own. */
export async function openAgent(parts: AgentParts): Promise<Agent> {
  const { store, model, owner, history = [] } = parts;
  if (parts.conversation !== undefined) {
    const known = await mustExist(parts.conversation, parts);
    const said = await store.messages(known.id);
    return openIn({ ...parts, heardTo: said.at(-1)?.id }, known, said);
  }
  const cwd = parts.cwd ?? parts.runtime.cwd;
  const made = await store.create({ source: parts.source ?? "library", model: model.name, cwd, owner });
  try {
    const agent = await openIn(parts, made, history);
    const { who, instructions, memoryText: memory, skillsText: skills } = parts;
    const { session } = agent;
    const content = await systemPrompt({ session, who, instructions, memory, skills });
    const prompt = { role: "system", content } as const;
    session.scope.task.hear(heardIn([prompt], session));
    await store.append(made.id, [prompt, ...history]);
    return agent;
  } catch (error) {
    // Nothing was said in it yet.
    await store.delete(made.id);
    throw error;
  }
}

async function openIn(
  parts: AgentParts & { readonly heardTo?: string | undefined },
  { id, cwd }: Conversation,
  said: readonly NewMessage[],
): Promise<Agent> {
  const { runtime, store, model, heard = [] } = parts;
  const emit: Emitter = { to: () => {} };
  const todos = new ConversationTodos(said);
  const opened: { session?: Session } = {};
  const delegate = delegation({
    session: () => opened.session,
    conversation: id,
    store,
    model,
    maxConcurrent: parts.maxConcurrent ?? MAX_CONCURRENT,
    budget: () => parts.budget?.() ?? {},
  });
  const session = await (parts.openSession ?? runtime.openSession.bind(runtime))({
    ...sessionOptions(parts),
    conversation: id,
    cwd: parts.cwd ?? cwd,
    approver: approverOf(parts, emit),
    host: {
      todos,
      delegate,
      ...parts.surroundings?.(id),
      ...(parts.messages !== undefined && { messages: parts.messages }),
    },
    model: model.name,
    contextTokens: model.contextTokens,
    guardrails: parts.guardrails ?? "warn",
    heard,
  });
  session.scope.task.hear([...describers(session), ...heardIn(said, session)]);
  opened.session = session;
  return new Agent(parts, { conversation: id, session, todos, emit, heardTo: parts.heardTo });
}

async function mustExist(id: string, { store, owner }: AgentParts): Promise<Conversation> {
  const found = await store.get(id, { owner });
  if (found !== undefined) return found;
  throw new HermesError(
    failure("not_found", `There is no conversation ${id}`, "hermes sessions list shows those there are."),
  );
}

function sessionOptions(parts: AgentParts): Omit<OpenSessionOptions, "approver"> {
  const { toolsets, disabledToolsets, profile, environment, task, workspace, ask, door, continues } = parts;
  return { toolsets, disabledToolsets, profile, environment, task, workspace, ask, door, continues };
}

/** Whoever follows the turn sees the question too. */
function approverOf({ approver: given }: AgentParts, emit: Emitter): Approver | undefined {
  if (given === undefined) return undefined;
  const approver = typeof given === "function" ? approverFrom(given) : given;
  return {
    ...(approver.isThere !== undefined && { isThere: () => approver.isThere?.() ?? true }),
    ask(request: ApprovalRequest, signal: AbortSignal) {
      emit.to({ type: "approval", id: request.callId, name: request.tool, reason: request.reason });
      return approver.ask(request, signal);
    },
  };
}
