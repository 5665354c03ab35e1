import { ApiError, address, ask, get, post } from "../../api/client.js";
import { queryClient } from "../../api/queries.js";
import type { AgentEvent, CallsAnswer, ChatTold, SessionAnswer } from "../../api/types.js";
import { serverSentEvents } from "../../lib/sse.js";
import { type Item, itemsOf, type Picture, withEvent } from "./items.js";

export interface Said {
  readonly text: string;
  readonly images: readonly Picture[];
}

export interface ConversationState {
  readonly session?: string;
  readonly title?: string;
  readonly items: readonly Item[];
  /** How many messages stand before the first of them. */
  readonly earlier: number;
  readonly load: "loading" | "ready" | "error";
  readonly loadError?: unknown;
  /** Here: this browser listens to the turn. Elsewhere: another door has it. */
  readonly running: "no" | "here" | "elsewhere";
  readonly stopping: boolean;
  readonly queued: readonly Said[];
  readonly model?: string;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost?: number;
  /** What could not be sent, to be tried once more. */
  readonly failed?: { readonly said: Said; readonly error: Error };
}

const EMPTY: ConversationState = {
  items: [],
  earlier: 0,
  load: "ready",
  running: "no",
  stopping: false,
  queued: [],
  tokens: { input: 0, output: 0 },
};
const POLL_MS = 2_000;
const MOST_MESSAGES = 500;

/** One conversation. It lives as long as the tab, so that a turn goes on while somebody looks at another page. */
export class Conversation {
  #state: ConversationState;
  readonly #listeners = new Set<() => void>();
  #pending: AgentEvent[] = [];
  #polling: ReturnType<typeof setTimeout> | undefined;

  constructor(session?: string) {
    this.#state = session === undefined ? EMPTY : { ...EMPTY, session, load: "loading" };
    if (session !== undefined) void this.load();
  }

  readonly state = (): ConversationState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async load(): Promise<void> {
    const { session } = this.#state;
    clearTimeout(this.#polling);
    if (session === undefined || this.#state.running === "here") return;
    try {
      const [answer, journal] = await Promise.all([
        get<SessionAnswer>(
          address(`/v1/sessions/${encodeURIComponent(session)}`, { last: 1, limit: MOST_MESSAGES }),
        ),
        // Who may read the conversation may not always read the journal.
        get<CallsAnswer>(
          address("/v1/calls", { brief: 1, conversation: session, limit: MOST_MESSAGES }),
        ).catch(() => undefined),
      ]);
      // A turn may have begun here while the answer was on its way.
      if (this.#now().running === "here") return;
      const isRunning = answer.state === "running";
      const items = itemsOf(answer.messages, journal?.calls ?? []);
      this.#set({
        items,
        earlier: answer.total - answer.messages.length,
        title: answer.title,
        model: answer.model,
        load: "ready",
        running: isRunning ? "elsewhere" : "no",
        ...(answer.cost_usd !== undefined && { cost: answer.cost_usd }),
      });
      if (isRunning) await this.#follow(items);
    } catch (loadError) {
      this.#set({ load: "error", loadError });
    }
  }

  /** Goes on listening to a turn that this server runs; one that another program runs is looked at now and then. */
  async #follow(kept: readonly Item[]): Promise<void> {
    const { session = "" } = this.#state;
    try {
      const answer = await ask(`/v1/chat/${encodeURIComponent(session)}`);
      const said = kept.findLastIndex((item) => item.kind === "user");
      this.#set({ running: "here", items: kept.slice(0, said + 1) });
      for await (const data of serverSentEvents(answer)) this.#hear(data);
      this.#flush();
      this.#set({ running: "no", stopping: false });
      this.#next();
    } catch {
      this.#set({ running: "elsewhere" });
      this.#polling = setTimeout(() => void this.load(), POLL_MS);
    }
  }

  /** Begins a turn, or waits for the one that runs. */
  say(said: Said): void {
    if (this.#state.running === "no") void this.#turn(said);
    else this.#set({ queued: [...this.#state.queued, said] });
  }

  unqueue(at: number): void {
    this.#set({ queued: this.#state.queued.filter((_, index) => index !== at) });
  }

  async stop(): Promise<void> {
    const { session } = this.#state;
    if (session === undefined) return;
    this.#set({ stopping: true, queued: [] });
    await post(`/v1/chat/${encodeURIComponent(session)}/stop`).catch((error: unknown) =>
      this.#trouble(error),
    );
  }

  /** Tells the running turn something; waits like any message when the turn is just over. */
  async steer(text: string): Promise<void> {
    const { session } = this.#state;
    const said: Said = { text, images: [] };
    if (session === undefined) return this.say(said);
    try {
      const told = await post<ChatTold>(`/v1/chat/${encodeURIComponent(session)}/steer`, { text });
      if (!told.running) return this.say(said);
      this.#flush();
      this.#set({ items: [...this.#state.items, { kind: "user", text, images: [], steered: true }] });
    } catch (error) {
      this.#trouble(error);
    }
  }

  retry(): void {
    const { failed } = this.#state;
    if (failed !== undefined) void this.#turn(failed.said);
  }

  /** Read anew after each wait, because others may have changed it. */
  #now(): ConversationState {
    return this.#state;
  }

  async #turn(said: Said): Promise<void> {
    const { failed: _failed, ...rest } = this.#state;
    this.#state = rest;
    const { items, session } = rest;
    const isRetry = _failed !== undefined;
    this.#set({
      running: "here",
      stopping: false,
      items: isRetry ? items : [...items, { kind: "user", ...said }],
    });
    try {
      const answer = await ask("/v1/chat", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ...(session !== undefined && { session }),
          text: said.text,
          ...(said.images.length > 0 && { images: said.images }),
        }),
      });
      for await (const data of serverSentEvents(answer)) this.#hear(data);
      this.#flush();
    } catch (error) {
      this.#flush();
      // A refusal is told; a connection that broke leaves a turn that goes on.
      if (error instanceof ApiError) this.#set({ failed: { said, error } });
      else {
        this.#set({ running: "elsewhere" });
        await this.load();
        return;
      }
    }
    this.#set({ running: "no", stopping: false });
    this.#next();
  }

  #next(): void {
    void queryClient.invalidateQueries({ queryKey: ["sessions"] });
    const [next, ...later] = this.#now().queued;
    if (next === undefined || this.#now().failed !== undefined) return;
    this.#set({ queued: later });
    void this.#turn(next);
  }

  #hear(data: string): void {
    let event: AgentEvent;
    try {
      event = JSON.parse(data) as AgentEvent;
    } catch {
      return;
    }
    if (event.type === "init") {
      this.#set({ session: event.session, model: event.model });
      remember(event.session, this);
      void queryClient.invalidateQueries({ queryKey: ["sessions"] });
    }
    if (event.type === "result") {
      const { tokens, cost = 0 } = this.#state;
      this.#set({
        tokens: {
          input: tokens.input + event.usage.input_tokens,
          output: tokens.output + event.usage.output_tokens,
        },
        ...(event.cost_usd !== null && { cost: cost + event.cost_usd }),
      });
    }
    // Words come faster than frames: many become one change.
    if (this.#pending.length === 0) requestAnimationFrame(() => this.#flush());
    this.#pending.push(event);
  }

  #flush(): void {
    const events = this.#pending;
    this.#pending = [];
    if (events.length > 0) this.#set({ items: events.reduce(withEvent, this.#state.items) });
  }

  #trouble(error: unknown): void {
    const { message } = asError(error);
    const hint = error instanceof ApiError ? error.hint : undefined;
    this.#set({ stopping: false, items: [...this.#state.items, { kind: "error", message, hint }] });
  }

  #set(part: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const KEPT = 12;
const known = new Map<string, Conversation>();
let fresh = new Conversation();

function remember(session: string, conversation: Conversation): void {
  known.set(session, conversation);
  for (const [id, one] of known) {
    if (known.size <= KEPT) return;
    if (one.state().running === "no") known.delete(id);
  }
}

/** The conversation of this name, or the one that has not begun yet. */
export function conversationOf(session: string | undefined): Conversation {
  if (session === undefined) return fresh;
  const found = known.get(session) ?? new Conversation(session);
  if (!known.has(session)) remember(session, found);
  return found;
}

export function newConversation(): void {
  if (fresh.state().items.length > 0) fresh = new Conversation();
}
