import { join } from "node:path";
import { type Agent, openAgent } from "../../agent/agent.js";
import { configuredModel } from "../../agent/configured-model.js";
import type { AgentEvent, AgentResult } from "../../agent/events.js";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { type Snapshot, WorkspaceSnapshots } from "../../agent/snapshots.js";
import type { AgentModel } from "../../agent/turn.js";
import type { Approver } from "../../call/scope.js";
import type { Runtime } from "../../runtime/runtime.js";
import { listChanges, undoChanges } from "../../runtime/undo.js";
import type { CallContext } from "../../tool/tool.js";
import { commandError } from "../errors.js";
import { PLAN_PROFILE } from "./open.js";

const PLAN_ON =
  "[Plan mode is on: look and think, and answer with a plan. Nothing can be changed until the person ends plan mode.]";
const PLAN_OFF = "[Plan mode is over: what was planned may be done.]";

export interface ChatAgentParts {
  readonly runtime: Runtime;
  readonly store: SqliteConversationStore;
  readonly model: AgentModel;
  readonly approver: Approver;
  readonly ask: CallContext["ask"];
  readonly profile: string | undefined;
  readonly plan: boolean;
  readonly maxTurns: number | undefined;
  notice(message: string): void;
}

/** What is needed to take a turn back. */
interface Turn {
  readonly said: string;
  /** The last message before it. */
  readonly after: string;
  readonly startedAt: number;
  readonly before?: Snapshot | undefined;
  readonly afterwards?: Snapshot | undefined;
}

/** How often the model was asked, tokens, tool calls. */
export interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly calls: number;
}

export interface Undone {
  readonly said: string;
  readonly restored: readonly string[];
  readonly left: readonly string[];
}

/** The agent of a chat: one conversation at a time, with whatever the person changes about it on the way. */
export class ChatAgent {
  readonly #parts: ChatAgentParts;
  #model: AgentModel;
  #profile: string | undefined;
  #plan: boolean;
  /** Said to the model with the next message. */
  #news: string | undefined;
  #turns: Turn[] = [];
  #told = false;
  #agent: Agent;
  #snapshots: WorkspaceSnapshots | undefined;
  #spent: Spent = { requests: 0, input: 0, output: 0, cached: 0, calls: 0 };

  private constructor(parts: ChatAgentParts, agent: Agent) {
    this.#parts = parts;
    this.#model = parts.model;
    this.#profile = parts.profile;
    this.#plan = parts.plan;
    this.#news = parts.plan ? PLAN_ON : undefined;
    this.#agent = agent;
    this.#snapshots = this.#snapshotsHere();
  }

  static async open(parts: ChatAgentParts, conversation: string | undefined): Promise<ChatAgent> {
    const { model, profile, plan } = parts;
    const agent = await openWith(parts, { conversation, model, profile: plan ? PLAN_PROFILE : profile });
    return new ChatAgent(parts, agent);
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
    yield* this.#turn(said, () => this.#agent.send(news === undefined ? said : `${news}\n\n${said}`));
  }

  /** Finishes a turn that was cut off. */
  async *resume(): AsyncGenerator<AgentEvent> {
    yield* this.#turn("", () => this.#agent.resume());
  }

  async *#turn(said: string, begin: () => AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    const after = await this.#lastMessage();
    const startedAt = Date.now();
    const before = this.#plan ? undefined : await this.#snapshot();
    let result: AgentResult | undefined;
    for await (const event of begin()) {
      if (event.type === "result") result = event;
      yield event;
    }
    if (result !== undefined) this.#count(result);
    const hasActed = (result?.tool_calls.length ?? 1) > 0;
    const afterwards = before !== undefined && hasActed ? await this.#snapshot() : undefined;
    this.#turns.push({ said, after, startedAt, before, afterwards });
  }

  /** Takes the last turn back, with what it did to files; undefined when there is none. */
  async undo(): Promise<Undone | undefined> {
    const turn = this.#turns.pop();
    if (turn === undefined) return undefined;
    const { restored, left } = await this.#undoFiles(turn);
    await this.#parts.store.removeAfter(this.#agent.conversation, turn.after);
    await this.#reopen();
    return { said: turn.said, restored, left };
  }

  /** First as a whole, then what lies outside the folder or is named by .gitignore, as far as tools changed it. */
  async #undoFiles({ before, afterwards, startedAt }: Turn): Promise<Omit<Undone, "said">> {
    const { runtime, notice } = this.#parts;
    const restored: string[] = [];
    const left: string[] = [];
    if (before !== undefined && afterwards !== undefined && this.#snapshots !== undefined) {
      const done = await this.#snapshots.takeBack(before, afterwards);
      if ("reason" in done) notice(`The folder could not be put back as a whole: ${done.reason}.`);
      else {
        restored.push(...done.restored);
        left.push(...done.left);
      }
    }
    const workspace = this.#agent.session.scope.info.workspace;
    const settled = new Set([...restored, ...left].map((path) => join(workspace, path)));
    const rows = await listChanges(runtime, { session: this.#agent.session.id, since: startedAt }).catch(
      () => [],
    );
    const others = rows.filter(({ path, target }) => !settled.has(path) && !settled.has(target ?? path));
    if (others.length === 0) return { restored, left };
    for (const { path, outcome } of await undoChanges(runtime, { rows: others }))
      (outcome === "left" ? left : restored).push(path);
    return { restored, left };
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
    const next = await openWith(this.#parts, { ...this.#wishes(), conversation });
    await this.#agent.close();
    this.#agent = next;
    this.#turns = [];
    this.#snapshots = this.#snapshotsHere();
    if (this.#plan) this.#news = PLAN_ON;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  /** The same conversation in the same session, under what holds now. */
  async #reopen(): Promise<void> {
    const { conversation, session } = this.#agent;
    await this.#agent.stop();
    this.#agent = await openWith(this.#parts, { ...this.#wishes(), conversation, continues: session });
  }

  #wishes() {
    return { model: this.#model, profile: this.#plan ? PLAN_PROFILE : this.#profile };
  }

  async #lastMessage(): Promise<string> {
    const [last] = await this.#parts.store.messages(this.#agent.conversation, { last: 1 });
    return last?.id ?? "0";
  }

  #snapshotsHere(): WorkspaceSnapshots | undefined {
    const { scope } = this.#agent.session;
    if (scope.environment.kind !== "local") return undefined;
    const { home } = this.#parts.runtime.config.paths;
    return new WorkspaceSnapshots({ home, workspace: scope.info.workspace });
  }

  async #snapshot(): Promise<Snapshot | undefined> {
    const taken = await this.#snapshots?.take();
    if (taken === undefined || typeof taken === "string") return taken;
    if (!this.#told)
      this.#parts.notice(
        `/undo will take back what file tools change, but not what commands change: ${taken.reason}.`,
      );
    this.#told = true;
    return undefined;
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

function openWith(
  { runtime, store, approver, ask, maxTurns }: ChatAgentParts,
  wishes: Pick<Parameters<typeof openAgent>[0], "conversation" | "continues" | "model" | "profile">,
): Promise<Agent> {
  const { budget_usd } = runtime.config.values.model;
  return openAgent({
    runtime,
    store,
    approver,
    ask,
    maxTurns,
    source: "cli",
    door: "cli",
    budget: () => (budget_usd > 0 ? { sessionUsd: budget_usd } : {}),
    ...wishes,
  });
}
