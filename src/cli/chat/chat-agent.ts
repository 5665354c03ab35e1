import type { Agent } from "../../agent/agent.js";
import type { Agents, OpenAgentOptions } from "../../agent/agents.js";
import { configuredModel } from "../../agent/configured-model.js";
import type { AgentEvent, AgentResult } from "../../agent/events.js";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import type { AgentModel } from "../../agent/turn.js";
import type { Approver } from "../../call/scope.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CallContext } from "../../tool/tool.js";
import { commandError } from "../errors.js";
import { PLAN_PROFILE } from "./open.js";
import { keepingBeforeCalls, type UndoneFiles, UndoTurns } from "./undo-turns.js";

const PLAN_ON =
  "[Plan mode is on: look and think, and answer with a plan. Nothing can be changed until the person ends plan mode.]";
const PLAN_OFF = "[Plan mode is over: what was planned may be done.]";

export interface ChatAgentParts {
  readonly runtime: Runtime;
  readonly agents: Agents;
  readonly store: SqliteConversationStore;
  readonly model: AgentModel;
  readonly approver: Approver;
  readonly ask: CallContext["ask"];
  readonly profile: string | undefined;
  readonly plan: boolean;
  readonly maxTurns: number | undefined;
  notice(message: string): void;
}

/** How often the model was asked, tokens, tool calls. */
export interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly calls: number;
}

export interface Undone extends UndoneFiles {
  readonly said: string;
}

/** The agent of a chat: one conversation at a time, with whatever the person changes about it on the way. */
export class ChatAgent {
  readonly #parts: ChatAgentParts;
  #model: AgentModel;
  #profile: string | undefined;
  #plan: boolean;
  /** Said to the model with the next message. */
  #news: string | undefined;
  #agent: Agent;
  #undo: UndoTurns;
  #spent: Spent = { requests: 0, input: 0, output: 0, cached: 0, calls: 0 };

  private constructor(parts: ChatAgentParts, { agent, undo }: Opened) {
    this.#parts = parts;
    this.#model = parts.model;
    this.#profile = parts.profile;
    this.#plan = parts.plan;
    this.#news = parts.plan ? PLAN_ON : undefined;
    this.#agent = agent;
    this.#undo = undo;
  }

  static async open(parts: ChatAgentParts, conversation: string | undefined): Promise<ChatAgent> {
    return new ChatAgent(parts, await openConversation(parts, { ...parts, conversation }));
  }

  get agent(): Agent {
    return this.#agent;
  }

  get model(): AgentModel {
    return this.#model;
  }

  get isPlanning(): boolean {
    return this.#plan;
  }

  /** Of this chat, since it began. */
  get spent(): Spent {
    return this.#spent;
  }

  /** What the person says, and what follows from it. */
  async *send(said: string): AsyncGenerator<AgentEvent> {
    const news = this.#news;
    this.#news = undefined;
    yield* this.#turn(said, () => this.#agent.send(news === undefined ? said : `${said}\n\n${news}`));
  }

  /** Finishes a turn that was cut off. */
  async *resume(): AsyncGenerator<AgentEvent> {
    yield* this.#turn("", () => this.#agent.resume());
  }

  async *#turn(said: string, begin: () => AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    this.#undo.begin({ said, after: await this.#lastMessage() });
    let result: AgentResult | undefined;
    for await (const event of begin()) {
      if (event.type === "result") result = event;
      yield event;
    }
    if (result !== undefined) this.#count(result);
    await this.#undo.end(result);
  }

  /** How the last turn of the conversation ended: by itself, by a person or an error, or with its program. */
  async lastTurn(): Promise<"finished" | "stopped" | "cut_off"> {
    if (await this.#agent.isFinished()) return "finished";
    const conversation = await this.#parts.store.get(this.#agent.conversation);
    return conversation?.state === "cut_off" ? "cut_off" : "stopped";
  }

  /** Takes the last turn back, with what it did to files; undefined when there is none. */
  async undo(): Promise<Undone | undefined> {
    const turn = this.#undo.takeLast();
    if (turn === undefined) return undefined;
    const files = await this.#undo.takeFilesBack(turn);
    await this.#parts.store.removeAfter(this.#agent.conversation, turn.after);
    await this.#reopen();
    return { said: turn.said, ...files };
  }

  async setPlan(plan: boolean): Promise<void> {
    this.#plan = plan;
    this.#news = plan ? PLAN_ON : PLAN_OFF;
    await this.#reopen();
  }

  async setProfile(profile: string): Promise<void> {
    const before = this.#profile;
    this.#profile = profile;
    try {
      await this.#reopen();
    } catch (error) {
      this.#profile = before;
      throw error;
    }
  }

  async setModel(name: string): Promise<void> {
    const { runtime, notice } = this.#parts;
    const model = await configuredModel(runtime.config, { model: name, onNotice: notice });
    if ("fixes" in model) throw commandError("unavailable", model.reason, model.fixes.join("\n"));
    this.#model = model;
    await this.#reopen();
    await this.#parts.store.update(this.#agent.conversation, { model: model.name });
  }

  /** Another conversation: a new one when none is named. */
  async change(conversation: string | undefined): Promise<void> {
    const next = await openConversation(this.#parts, { ...this.#wishes(), conversation });
    await this.close();
    this.#agent = next.agent;
    this.#undo = next.undo;
    if (this.#plan) this.#news = PLAN_ON;
  }

  /** A conversation in which nothing was said is not kept. */
  async close(): Promise<void> {
    const { store } = this.#parts;
    await this.#agent.close();
    const { conversation } = this.#agent;
    const said = await store.messages(conversation, { last: 1 });
    if (said.every(({ role }) => role === "system")) await store.delete(conversation);
  }

  /** The same conversation in the same session, under what holds now. */
  async #reopen(): Promise<void> {
    const { conversation, session } = this.#agent;
    await this.#agent.stop();
    const wishes = { ...this.#wishes(), conversation, continues: session, undo: this.#undo };
    this.#agent = (await openConversation(this.#parts, wishes)).agent;
  }

  #wishes(): Wishes {
    return { model: this.#model, profile: this.#profile, plan: this.#plan };
  }

  async #lastMessage(): Promise<string> {
    const [last] = await this.#parts.store.messages(this.#agent.conversation, { last: 1 });
    return last?.id ?? "0";
  }

  #count({ usage, tool_calls }: AgentResult): void {
    const { requests, input, output, cached, calls } = this.#spent;
    this.#spent = {
      requests: requests + usage.requests,
      input: input + usage.input_tokens,
      output: output + usage.output_tokens,
      cached: cached + usage.cached_tokens,
      calls: calls + tool_calls.length,
    };
  }
}

interface Wishes extends Pick<OpenAgentOptions, "conversation" | "continues" | "profile"> {
  readonly model: AgentModel;
  readonly plan: boolean;
  readonly undo?: UndoTurns | undefined;
}

interface Opened {
  readonly agent: Agent;
  readonly undo: UndoTurns;
}

async function openConversation(parts: ChatAgentParts, wishes: Wishes): Promise<Opened> {
  const { agents, approver, ask, maxTurns } = parts;
  const { plan, model, conversation, continues } = wishes;
  const opened = { undo: wishes.undo };
  const agent = await agents.open({
    approver,
    ask,
    maxTurns,
    conversation,
    continues,
    source: "cli",
    door: "cli",
    profile: plan ? PLAN_PROFILE : wishes.profile,
    model: plan ? model : keepingBeforeCalls(model, async () => opened.undo?.keep()),
  });
  opened.undo ??= new UndoTurns({ ...parts, session: agent.session });
  return { agent, undo: opened.undo };
}
