import type { Agent } from "../agent/agent.js";
import { isUnfinished } from "../agent/context.js";
import type { AgentEvent, AgentResult } from "../agent/events.js";
import type { Budget } from "../agent/ledger.js";
import { budgetCommand } from "../agent/raise-budget.js";
import type { ConversationStore, StoredMessage } from "../agent/sessions/types.js";
import { messageOf } from "../base/errno.js";
import type { Logger } from "../observe/log.js";
import { type Content, textOf } from "../tool/content.js";
import { REPEAT_NOTE } from "./delivery.js";
import type { Gateway } from "./gateway.js";
import type { GatewayStore } from "./gateway-store.js";
import type { InboxRow } from "./inbox.js";
import type { Role } from "./people.js";
import type { Seat } from "./questions.js";
import { splitText } from "./split-text.js";

/** A message whose work was cut off this often is not begun again by itself: perhaps it is what ends the program. */
const MOST_TRIES = 3;
/** A chat nobody talks in gives its session back. */
const IDLE_MS = 600_000;
/** A store that cannot be written is tried again. */
const AFTER_TROUBLE_MS = 5_000;

export interface ChatWorkerParts {
  readonly gateway: Gateway;
  readonly chat: string;
  readonly store: GatewayStore;
  readonly conversations: ConversationStore;
  readonly log: Logger;
  redact(text: string): string;
  role(person: string): Role | undefined;
  /** As it is configured. */
  budget(): Budget;
  /** Opens a conversation, or a new one; a reason for people where there is no model, an empty one where nothing is said. */
  openAgent(options: {
    readonly conversation: string | undefined;
    readonly role: Role;
    readonly owner: string;
    seat(): Seat | undefined;
    turnSignal(): AbortSignal;
  }): Promise<Agent | { readonly reason: string }>;
  told(row: InboxRow, signal: AbortSignal): Promise<string | readonly Content[]>;
  /** There is something in the outbox. */
  wake(): void;
  /** Nobody has written for a while. */
  onIdle(): void;
}

/** One chat: answers its messages one after the other. */
export class ChatWorker {
  readonly #parts: ChatWorkerParts;
  readonly #shutdown = new AbortController();
  #agent: Agent | undefined;
  #openedFor: Role | undefined;
  #seat: Seat | undefined;
  #turn: AbortController = new AbortController();
  #running: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: ChatWorkerParts) {
    this.#parts = parts;
  }

  /** There may be something in the inbox. */
  wake(): void {
    if (this.#running !== undefined || this.#shutdown.signal.aborted) return;
    clearTimeout(this.#idle);
    this.#running = this.#run().then(
      () => this.#rest(0),
      (error: unknown) => {
        this.#parts.log.error(`${this.#parts.gateway.name}: ${messageOf(error)}`);
        this.#rest(AFTER_TROUBLE_MS);
      },
    );
  }

  /** Ends the turn that runs; what came after it is answered next. */
  stopTurn(): boolean {
    if (this.#running === undefined) return false;
    this.#turn.abort(new Error("the person stopped it"));
    return true;
  }

  /** The next message begins a new conversation. */
  async startAnew(role: Role): Promise<void> {
    const { store, gateway, chat } = this.#parts;
    this.stopTurn();
    await store.write(() => store.chats.leave({ gateway: gateway.name, chat, role }));
    await this.#running;
    await this.#closeAgent();
  }

  /** What the owner's conversation may cost; with an amount, it is raised. */
  async budget(typed: string): Promise<string> {
    const { store, gateway, chat, conversations } = this.#parts;
    const conversation = store.chats.conversation({ gateway: gateway.name, chat, role: "owner" });
    if (conversation === undefined) return "There is no conversation here yet.";
    const parts = { store: conversations, conversation, budget: this.#parts.budget() };
    const { text, isRaised } = await budgetCommand(parts, typed);
    return `${text}.${isRaised ? " Say so if I should go on." : ""}`;
  }

  /** What is being worked on stays in the inbox and is gone on with by the next process. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#shutdown.abort(new Error("the gateway stops"));
    await this.#running;
    await this.#closeAgent();
  }

  #rest(waitMs: number): void {
    this.#running = undefined;
    if (this.#shutdown.signal.aborted) return;
    if (this.#next() === undefined) this.#idle = setTimeout(() => this.#parts.onIdle(), IDLE_MS).unref();
    else if (waitMs === 0) this.wake();
    else this.#idle = setTimeout(() => this.wake(), waitMs);
  }

  #next(): InboxRow | undefined {
    const { store, gateway, chat } = this.#parts;
    return this.#shutdown.signal.aborted ? undefined : store.inbox.next(gateway.name, chat);
  }

  async #run(): Promise<void> {
    for (let row = this.#next(); row !== undefined; row = this.#next()) {
      const answer = await this.#answer(row).catch((error: unknown) => this.#failed(row, error));
      if (answer === undefined) return;
      await this.#reply(row, answer);
    }
  }

  /** The reply; undefined when the program ends before there is one. */
  async #answer(row: InboxRow): Promise<string | undefined> {
    const { store, gateway, chat, role } = this.#parts;
    const { person, replyTo } = row.message;
    // Somebody may have been shut out since the message came.
    const current = role(person.id);
    if (current === undefined) return "";
    if (row.tries >= MOST_TRIES)
      return "I was interrupted each time I worked on this, so I stopped trying. Send it again if I should.";
    this.#turn = new AbortController();
    const signal = AbortSignal.any([this.#turn.signal, this.#shutdown.signal]);
    this.#seat = { gateway, chat, person, role: current, replyTo };
    try {
      const agent = await this.#agentFor(row, current);
      if ("reason" in agent)
        return current === "owner" || agent.reason === "" ? agent.reason : "I cannot answer at the moment.";
      const events = await this.#begin({ row, agent, signal });
      const turn = typeof events === "string" ? events : await played(events);
      if (typeof turn !== "string" && turn.isElsewhere) {
        await store.write(() => store.inbox.release(row.seq));
        throw new WorkedOnElsewhere(turn.errors.join("\n"));
      }
      const answer = typeof turn === "string" ? turn : replyOf(turn, current === "owner");
      if (!this.#shutdown.signal.aborted) return answer;
      await store.write(() => store.inbox.release(row.seq));
      return undefined;
    } finally {
      this.#seat = undefined;
    }
  }

  /** A new turn, the rest of one that was cut off, or what one said whose answer was not sent any more. */
  async #begin(work: {
    readonly row: InboxRow;
    readonly agent: Agent;
    readonly signal: AbortSignal;
  }): Promise<AsyncIterable<AgentEvent> | string> {
    const { row, agent, signal } = work;
    const { store, conversations } = this.#parts;
    const { conversation } = agent;
    const isResumed = row.state === "working" && row.conversation === conversation;
    const since =
      isResumed && row.begunAfter !== undefined
        ? await messagesSince(conversations, { conversation, after: row.begunAfter })
        : [];
    // Counted: the numbers of messages are others on another machine.
    const after = `#${(await conversations.get(conversation))?.messages ?? 0}`;
    await store.write(() => store.inbox.begin(row.seq, { conversation, after }));
    if (!since.some(({ role }) => role === "user"))
      return agent.send(await this.#parts.told(row, signal), { signal });
    return isUnfinished(since) ? agent.resume({ signal }) : lastAnswer(since);
  }

  async #agentFor(row: InboxRow, role: Role): Promise<Agent | { readonly reason: string }> {
    const { store, gateway, chat, conversations, openAgent } = this.#parts;
    const seat = { gateway: gateway.name, chat, role };
    const wanted = row.conversation ?? store.chats.conversation(seat);
    // What an owner has allowed for the session is not allowed to a guest of the same chat.
    if (this.#agent?.conversation === wanted && this.#openedFor === role && this.#agent !== undefined)
      return this.#agent;
    await this.#closeAgent();
    const owner = role === "owner" ? `${gateway.name}:${chat}` : `${gateway.name}:${chat} (guests)`;
    // One that a person has deleted is gone, one of another role is not theirs; the chat goes on with a new one.
    const isThere = wanted !== undefined && (await conversations.get(wanted, { owner })) !== undefined;
    const agent = await openAgent({
      conversation: isThere ? wanted : undefined,
      role,
      owner,
      seat: () => this.#seat,
      turnSignal: () => AbortSignal.any([this.#turn.signal, this.#shutdown.signal]),
    });
    if ("reason" in agent) return agent;
    this.#agent = agent;
    this.#openedFor = role;
    const { conversation } = agent;
    if (conversation !== wanted || row.conversation === undefined)
      await store.write(() => store.chats.enter(seat, conversation));
    return agent;
  }

  #failed(row: InboxRow, error: unknown): string {
    if (error instanceof WorkedOnElsewhere) throw error;
    const { gateway, log, role } = this.#parts;
    log.error(`${gateway.name}: a message was not answered: ${messageOf(error)}`);
    return failureText(messageOf(error), role(row.message.person.id) === "owner");
  }

  /** The reply and that the message is answered are one step: after a crash it is neither lost nor given twice. */
  async #reply(row: InboxRow, answer: string): Promise<void> {
    const { store, gateway, chat, redact } = this.#parts;
    const pieces = splitText(redact(answer), {
      maxChars: gateway.traits.maxChars - REPEAT_NOTE.length,
      rendered: (text) => gateway.rendered(text),
    });
    const state = row.tries >= MOST_TRIES ? "parked" : "done";
    await store.write(() => {
      for (const text of pieces) store.outbox.add(gateway.name, { chat, text, replyTo: row.message.replyTo });
      store.inbox.settle(row.seq, state);
    });
    this.#parts.wake();
  }

  async #closeAgent(): Promise<void> {
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.close();
  }
}

/** Another machine still has the conversation: the message waits. */
class WorkedOnElsewhere extends Error {
  override readonly name = "WorkedOnElsewhere";
}

interface Played {
  readonly isElsewhere: boolean;
  readonly result: AgentResult | undefined;
  readonly errors: readonly string[];
  readonly notices: readonly string[];
}

async function played(events: AsyncIterable<AgentEvent>): Promise<Played> {
  const errors: string[] = [];
  const notices: string[] = [];
  let result: AgentResult | undefined;
  let isElsewhere = false;
  for await (const event of events) {
    if (event.type === "error") {
      errors.push(event.message);
      isElsewhere = event.code === "busy";
    } else if (event.type === "notice") notices.push(event.message);
    else if (event.type === "result") result = event;
  }
  return { result, errors, notices, isElsewhere: isElsewhere && result === undefined };
}

/** Only an owner is told of what went on inside. */
function replyOf({ result, errors, notices }: Played, isOwner: boolean): string {
  if (result === undefined) return failureText(errors.join("\n"), isOwner);
  const { text, stop } = result;
  // A turn that was ended for going round in circles has no error, only the word that it was.
  const failure = errors.length > 0 ? errors.join("\n") : (notices.at(-1) ?? "");
  const end = { ...ENDS, error: failureText(failure, isOwner) }[stop];
  const why = stop === "budget" && isOwner ? notices.at(-1) : undefined;
  return [text, end, why].filter((each) => each !== undefined && each !== "").join("\n\n") || "(no answer)";
}

const ENDS: Readonly<Record<AgentResult["stop"], string>> = {
  end: "",
  max_turns: "I stopped here: this took more steps than one message may. Say so if I should go on.",
  budget: "I stopped here: the budget is used up.",
  interrupted: "Stopped.",
  error: "",
};

function failureText(why: string, isOwner: boolean): string {
  return isOwner && why !== ""
    ? `That failed: ${why}`
    : "Something went wrong on my side; I could not answer.";
}

async function messagesSince(
  conversations: ConversationStore,
  { conversation, after }: { readonly conversation: string; readonly after: string },
): Promise<readonly StoredMessage[]> {
  if (!after.startsWith("#")) return conversations.messages(conversation, { after });
  return (await conversations.messages(conversation)).slice(Number(after.slice(1)));
}

function lastAnswer(messages: readonly StoredMessage[]): string {
  const content = messages.findLast(({ role }) => role === "assistant")?.content ?? "";
  return typeof content === "string" ? content : textOf(content);
}
