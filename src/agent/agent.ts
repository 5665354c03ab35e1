import type { ApprovalRequest, Approver } from "../call/scope.js";
import { approverFrom, type OpenSessionOptions } from "../runtime/open-session-options.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import type { Content } from "../tool/content.js";
import { failure, HermesError } from "../tool/errors.js";
import type {
  MemoryHost,
  MessagesHost,
  ModelsHost,
  SessionsHost,
  SkillsHost,
} from "../tool/host-capabilities.js";
import { Channel } from "./channel.js";
import { isUnfinished, openCalls, UNKNOWN_OUTCOME } from "./context.js";
import { ContextMeter } from "./context-meter.js";
import { delegation } from "./delegate.js";
import type { AgentEvent } from "./events.js";
import type { Budget } from "./ledger.js";
import { systemPrompt } from "./prompt.js";
import type { Conversation, ConversationStore } from "./sessions/types.js";
import { ConversationTodos } from "./todos.js";
import { type AgentModel, runTurn } from "./turn.js";

const MAX_TURNS = 90;
const MAX_CONCURRENT = 3;

export interface AgentParts extends Omit<OpenSessionOptions, "host" | "model" | "contextTokens"> {
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
  /** What the loop does not bring by itself. */
  readonly memory?: MemoryHost | undefined;
  readonly sessions?: SessionsHost | undefined;
  /** Chats it can write to; those of the runtime when left out. */
  readonly messages?: MessagesHost | undefined;
  readonly skills?: SkillsHost | undefined;
  /** Models for opinions; made for the conversation, which pays. */
  models?(conversation: string): ModelsHost;
  /** In place of the runtime's own way to open a session: for one with less authority. */
  openSession?(options: OpenSessionOptions): Promise<Session>;
}

/** A conversation with a model that has tools. */
export class Agent {
  readonly conversation: string;
  readonly session: Session;
  readonly #parts: AgentParts;
  readonly #todos: ConversationTodos;
  readonly #meter = new ContextMeter();
  readonly #steering: string[] = [];
  #running: { readonly stop: AbortController; readonly over: Promise<void> } | undefined;
  #emit: (event: AgentEvent) => void = () => {};

  /** @internal */
  constructor(
    parts: AgentParts,
    opened: { conversation: string; session: Session; todos: ConversationTodos; emit: Emitter },
  ) {
    this.#parts = parts;
    this.conversation = opened.conversation;
    this.session = opened.session;
    this.#todos = opened.todos;
    opened.emit.to = (event) => this.#emit(event);
  }

  /** What the person says, and all that follows from it. While a turn runs, it waits for its end. */
  send(
    message: string | readonly Content[],
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterable<AgentEvent> {
    return this.#turn(options.signal, async () => {
      await this.#parts.store.append(this.conversation, [{ role: "user", content: message }]);
    });
  }

  /** Finishes a turn that was cut off. Calls that were running then are told as unknown, and are not made again. */
  resume(options: { readonly signal?: AbortSignal | undefined } = {}): AsyncIterable<AgentEvent> {
    return this.#turn(options.signal, async () => {});
  }

  /** Whether the last turn of the conversation came to its end. */
  async isFinished(): Promise<boolean> {
    return !isUnfinished(await this.#parts.store.messages(this.conversation));
  }

  /** Heard before the model is asked the next time; false when no turn runs. */
  steer(message: string): boolean {
    if (this.#running === undefined) return false;
    this.#steering.push(message);
    return true;
  }

  /** Ends the running turn; every call that was made gets its answer. */
  async stop(): Promise<void> {
    this.#running?.stop.abort(new Error("the person stopped it"));
    await this.#running?.over;
  }

  async close(): Promise<void> {
    await this.stop();
    this.session.close();
  }

  #turn(signal: AbortSignal | undefined, begin: () => Promise<void>): AsyncIterable<AgentEvent> {
    const events = new Channel<AgentEvent>();
    const before = this.#running?.over;
    const stop = new AbortController();
    const over = (before ?? Promise.resolve())
      .then(() =>
        this.#run({
          events,
          begin,
          signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
        }),
      )
      .finally(() => {
        events.close();
        if (this.#running?.over === over) this.#running = undefined;
      });
    // Told in the events; nobody else waits for it.
    over.catch(() => {});
    this.#running = { stop, over };
    return events;
  }

  async #run(turn: {
    events: Channel<AgentEvent>;
    signal: AbortSignal;
    begin(): Promise<void>;
  }): Promise<void> {
    const { store, model } = this.#parts;
    const { events, signal } = turn;
    const emit = (event: AgentEvent) => events.push(event);
    this.#emit = emit;
    if (!(await store.begin(this.conversation))) {
      const hint = "Wait until it is done, or begin a new conversation.";
      emit({ type: "error", code: "busy", message: "Another program works on this conversation.", hint });
      return;
    }
    try {
      await this.#answerWhatIsOpen();
      await turn.begin();
      this.session.beginTurn();
      const { maxTurns = MAX_TURNS } = this.#parts;
      emit(
        await runTurn({
          conversation: this.conversation,
          store,
          session: this.session,
          model,
          todos: this.#todos,
          meter: this.#meter,
          maxTurns,
          budget: () => this.#parts.budget?.() ?? {},
          signal,
          emit,
          takeSteering: () => this.#steering.splice(0),
        }),
      );
    } finally {
      await store.end(this.conversation);
    }
  }

  /** Calls of a turn that was cut off: their outcome is not known, and everything after needs their answers. */
  async #answerWhatIsOpen(): Promise<void> {
    const { store } = this.#parts;
    const open = openCalls(await store.messages(this.conversation));
    if (open.length === 0) return;
    await store.append(
      this.conversation,
      open.map(({ id, name }) => ({
        role: "tool",
        toolCallId: id,
        name,
        content: UNKNOWN_OUTCOME,
        isError: true,
      })),
    );
  }
}

interface Emitter {
  to(event: AgentEvent): void;
}

/** Opens a conversation, new or old, with a session of its own. */
export async function openAgent(parts: AgentParts): Promise<Agent> {
  const { runtime, store, model, approver, owner } = parts;
  const emit: Emitter = { to: () => {} };
  const cwd = parts.cwd ?? runtime.cwd;
  const known = parts.conversation === undefined ? undefined : await mustExist(parts.conversation, parts);
  const { id, cwd: folder } =
    known ?? (await store.create({ source: parts.source ?? "library", model: model.name, cwd, owner }));
  const todos = new ConversationTodos(known === undefined ? [] : await store.messages(id));
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
    cwd: parts.cwd ?? folder,
    approver:
      approver === undefined
        ? undefined
        : telling(typeof approver === "function" ? approverFrom(approver) : approver, emit),
    host: {
      todos,
      delegate,
      memory: parts.memory,
      sessions: parts.sessions,
      messages: parts.messages ?? runtime.messages,
      skills: parts.skills,
      models: parts.models?.(id),
    },
    model: model.name,
    contextTokens: model.contextTokens,
    guardrails: parts.guardrails ?? "warn",
  });
  opened.session = session;
  if (known === undefined) {
    const { who, memoryText, skillsText } = parts;
    const content = await systemPrompt({ session, who, memory: memoryText, skills: skillsText });
    await store.append(id, [{ role: "system", content }]);
  }
  return new Agent(parts, { conversation: id, session, todos, emit });
}

async function mustExist(id: string, { store, owner }: AgentParts): Promise<Conversation> {
  const found = await store.get(id, { owner });
  if (found !== undefined) return found;
  throw new HermesError(
    failure("not_found", `There is no conversation ${id}`, "hermes sessions list shows those there are."),
  );
}

function sessionOptions(parts: AgentParts): Omit<OpenSessionOptions, "approver"> {
  const { toolsets, disabledToolsets, profile, environment, task, workspace, ask, door, heard } = parts;
  return { toolsets, disabledToolsets, profile, environment, task, workspace, ask, door, heard };
}

/** Whoever follows the turn sees the question too. */
function telling(approver: Approver, emit: Emitter): Approver {
  return {
    ...(approver.isThere !== undefined && { isThere: () => approver.isThere?.() ?? true }),
    ask(request: ApprovalRequest, signal: AbortSignal) {
      emit.to({ type: "approval", id: request.callId, name: request.tool, reason: request.reason });
      return approver.ask(request, signal);
    },
  };
}
