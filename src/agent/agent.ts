import type { Session } from "../runtime/session.js";
import type { Content } from "../tool/content.js";
import type { TodoItem } from "../tool/host-capabilities.js";
import { Channel } from "./channel.js";
import { isUnfinished, openCalls, UNKNOWN_OUTCOME } from "./context.js";
import { ContextMeter } from "./context-meter.js";
import type { AgentEvent } from "./events.js";
import { heardIn } from "./heard.js";
import type { AgentParts, Emitter } from "./open-agent.js";
import type { NewMessage } from "./sessions/types.js";
import type { ConversationTodos } from "./todos.js";
import { runTurn } from "./turn.js";

const MAX_TURNS = 90;
/** The last answer of the model is mostly among this many messages. */
const TAIL = 20;

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** The span that the turn belongs to, as W3C Trace Context writes it. */
  readonly traceparent?: string | undefined;
}

/** A conversation with a model that has tools. */
export class Agent {
  readonly conversation: string;
  readonly session: Session;
  readonly #parts: AgentParts;
  readonly #todos: ConversationTodos;
  readonly #meter = new ContextMeter();
  readonly #steering: string[] = [];
  /** The end of the last turn, which waits for those before it. */
  #running: Promise<void> | undefined;
  readonly #stops = new Set<AbortController>();
  #emit: (event: AgentEvent) => void = () => {};
  /** The last message that this agent knows of; undefined before the first turn of a new conversation. */
  #heardTo: string | undefined;
  #closed = false;

  /** @internal */
  constructor(
    parts: AgentParts,
    opened: {
      readonly conversation: string;
      readonly session: Session;
      readonly todos: ConversationTodos;
      readonly emit: Emitter;
      readonly heardTo: string | undefined;
    },
  ) {
    this.#parts = parts;
    this.conversation = opened.conversation;
    this.session = opened.session;
    this.#todos = opened.todos;
    this.#heardTo = opened.heardTo;
    opened.emit.to = (event) => this.#emit(event);
  }

  /** The task list of the conversation, as the model keeps it. */
  get todos(): readonly TodoItem[] {
    return this.#todos.read();
  }

  /** What the person says, and all that follows from it. While a turn runs, it waits for its end. */
  send(message: string | readonly Content[], options: SendOptions = {}): AsyncIterable<AgentEvent> {
    return this.#turn(options, [{ role: "user", content: message }]);
  }

  /** Finishes a turn that was cut off. Calls that were running then are told as unknown, and are not made again. */
  resume(options: SendOptions = {}): AsyncIterable<AgentEvent> {
    return this.#turn(options, []);
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

  /** What was said to a turn that ended before it could be heard. */
  takeUnheard(): readonly string[] {
    return this.#steering.splice(0);
  }

  /** Ends the running turn, and those that wait for its end; every call that was made gets its answer. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop.abort(new Error("the person stopped it"));
    await this.#running;
  }

  /** Told to whoever follows the turn. */
  notice(message: string): void {
    this.#emit({ type: "notice", message });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.stop();
    this.session.close();
    await this.#parts.onClose?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Nothing said: what was cut off is finished. */
  #turn({ signal, traceparent }: SendOptions, said: readonly NewMessage[]): AsyncIterable<AgentEvent> {
    const events = new Channel<AgentEvent>();
    const before = this.#running;
    const stop = new AbortController();
    const over = (before ?? Promise.resolve())
      .then(() =>
        this.#run({
          events,
          said,
          traceparent,
          signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
        }),
      )
      // Conversations that cannot be written, for one. The next turn may fare better.
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        events.push({ type: "error", code: "internal", message });
      })
      .finally(() => {
        events.close();
        this.#stops.delete(stop);
        if (this.#running === over) this.#running = undefined;
      });
    this.#running = over;
    this.#stops.add(stop);
    return events;
  }

  async #run(turn: {
    events: Channel<AgentEvent>;
    signal: AbortSignal;
    traceparent: string | undefined;
    said: readonly NewMessage[];
  }): Promise<void> {
    const { store, model } = this.#parts;
    const { events, signal, said, traceparent } = turn;
    const emit = (event: AgentEvent) => events.push(event);
    this.#emit = emit;
    const begun = await store.begin(this.conversation);
    if (begun !== true) {
      const hint = "Wait until it is done, or begin a new conversation.";
      const who = begun === false ? "Another program" : `Another machine, ${begun.by},`;
      emit({ type: "error", code: "busy", message: `${who} works on this conversation.`, hint });
      return;
    }
    try {
      await this.#hearOthers();
      await this.#answerWhatIsOpen();
      if (said.length > 0) await store.append(this.conversation, said);
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
          traceparent,
          emit,
          onlyUnfinished: said.length === 0,
          takeSteering: () => this.#steering.splice(0),
        }),
      );
    } finally {
      this.#heardTo = (await store.messages(this.conversation, { last: 1 }))[0]?.id;
      await store.end(this.conversation);
    }
  }

  /** Another program, or another machine, may have gone on with the conversation since its last turn here. */
  async #hearOthers(): Promise<void> {
    if (this.#heardTo === undefined) return;
    const news = await this.#parts.store.messages(this.conversation, { after: this.#heardTo });
    if (news.length === 0) return;
    this.session.scope.task.hear(heardIn(news, this.session));
    this.#todos.follow(news);
  }

  /** Calls of a turn that was cut off: their outcome is not known, and everything after needs their answers. */
  async #answerWhatIsOpen(): Promise<void> {
    const { store } = this.#parts;
    const tail = await store.messages(this.conversation, { last: TAIL });
    const hasAnswer = tail.length < TAIL || tail.some(({ role }) => role === "assistant");
    const open = openCalls(hasAnswer ? tail : await store.messages(this.conversation));
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
