import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";
import { type Agent, type AgentParts, openAgent } from "./agent.js";
import { configuredModel } from "./configured-model.js";
import { openConversations, type SqliteConversationStore } from "./sessions/conversation-store.js";
import { earlierConversations } from "./sessions/sessions-host.js";
import type { ConversationStore } from "./sessions/types.js";
import type { AgentModel } from "./turn.js";

/** What an agent is opened with where the settings say the rest. */
export interface OpenAgentOptions extends Omit<AgentParts, "runtime" | "store" | "model"> {
  /** `[PROVIDER:]NAME` or a model that is open already; the one of the settings when left out. */
  readonly model?: string | AgentModel | undefined;
}

/** Opens the agents of one program: its conversations are opened once, its model and its limits are those of the settings. */
export class Agents {
  readonly #runtime: Runtime;
  readonly #given: ConversationStore | undefined;
  #opened: Promise<SqliteConversationStore> | undefined;

  /** Conversations that are given stay open when this is closed. */
  constructor(runtime: Runtime, options: { readonly store?: ConversationStore | undefined } = {}) {
    this.#runtime = runtime;
    this.#given = options.store;
  }

  async conversations(): Promise<ConversationStore> {
    return this.#given ?? this.#ownConversations();
  }

  #ownConversations(): Promise<SqliteConversationStore> {
    this.#opened ??= openConversations(this.#runtime.config.paths).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Throws a HermesError where no model can be asked; it says the shortest ways to one. */
  async open(options: OpenAgentOptions): Promise<Agent> {
    const told: { agent?: Agent } = {};
    const waiting: string[] = [];
    const model = await this.#model(options.model, (message) => {
      if (told.agent === undefined) waiting.push(message);
      else told.agent.notice(message);
    });
    const { values } = this.#runtime.config;
    const own = this.#given === undefined ? await this.#ownConversations() : undefined;
    const agent = await openAgent({
      ...options,
      model,
      runtime: this.#runtime,
      store: own ?? (await this.conversations()),
      sessions:
        options.sessions ??
        ((current) =>
          own === undefined
            ? undefined
            : earlierConversations({ store: own, current, owner: options.owner ?? "" })),
      budget:
        options.budget ??
        (() => (values.model.budget_usd > 0 ? { sessionUsd: values.model.budget_usd } : {})),
    });
    told.agent = agent;
    for (const message of waiting) this.#runtime.log.warn(message);
    return agent;
  }

  async close(): Promise<void> {
    // One that could not be opened was reported to whoever asked for it.
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  async #model(
    wanted: string | AgentModel | undefined,
    onNotice: (message: string) => void,
  ): Promise<AgentModel> {
    if (typeof wanted === "object") return wanted;
    const found = await configuredModel(this.#runtime.config, { model: wanted, onNotice });
    if (!("fixes" in found)) return found;
    throw new HermesError(failure("unavailable", found.reason, found.fixes.join("\n")));
  }
}
