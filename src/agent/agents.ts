import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Agent } from "./agent.js";
import { configuredModel } from "./configured-model.js";
import { memoryOf } from "./memory/memory-files.js";
import { memorySnapshot } from "./memory/snapshot.js";
import { modelsForOpinions } from "./mixture.js";
import { type AgentParts, type AgentSurroundings, openAgent } from "./open-agent.js";
import { configuredBudget } from "./raise-budget.js";
import { openConversations, SqliteConversationStore } from "./sessions/conversation-store.js";
import { earlierConversations } from "./sessions/sessions-host.js";
import type { ConversationStore } from "./sessions/types.js";
import { skillsOf } from "./skills/prompt-text.js";
import type { AgentModel } from "./turn.js";

/** What an agent is opened with where the settings say the rest. */
export interface OpenAgentOptions
  extends Omit<AgentParts, "runtime" | "store" | "model" | "memoryText" | "skillsText" | "surroundings"> {
  /** `[PROVIDER:]NAME` or a model that is open already; the one of the settings when left out. */
  readonly model?: string | AgentModel | undefined;
  /** True for somebody else than the person whose machine it is: what is remembered of that person is neither told nor changed. */
  readonly isGuest?: boolean | undefined;
}

/**
 * Opens the agents of one program: every door gets the same ones. Conversations are opened once; the model, its limits,
 * memory, skills and earlier conversations are those of the settings.
 */
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

  /** Those on the disk of this home, for whoever looks through them. */
  stored(): Promise<SqliteConversationStore> {
    return this.#ownConversations();
  }

  #ownConversations(): Promise<SqliteConversationStore> {
    this.#opened ??= openConversations(this.#runtime.config.paths, { log: this.#runtime.sharedLog }).then(
      (store) => {
        for (const notice of store.notices) this.#runtime.log.warn(notice);
        return store;
      },
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  /** Throws a HermesError where no model can be asked; it says the shortest ways to one. */
  async open({ isGuest = false, ...options }: OpenAgentOptions): Promise<Agent> {
    const told: { agent?: Agent } = {};
    const model = await this.#model(options.model, (message) => {
      if (told.agent === undefined) this.#runtime.log.warn(message);
      else told.agent.notice(message);
    });
    const { config } = this.#runtime;
    const budget = options.budget ?? (() => configuredBudget(this.#runtime.config));
    const store = await this.conversations();
    const { skills, skillsText } = await skillsOf(config);
    const agent = await openAgent({
      ...options,
      model,
      runtime: this.#runtime,
      store,
      budget,
      maxTurns: options.maxTurns ?? config.values.agent.max_turns,
      maxConcurrent: options.maxConcurrent ?? config.values.delegation.max_concurrent,
      skillsText,
      // Whatever a guest says is the word of somebody else.
      heard: [...(isGuest ? [options.owner ?? "a guest"] : []), ...(options.heard ?? [])],
      memoryText: isGuest ? "" : await memorySnapshot(memoryOf(config, "")),
      surroundings: (conversation): AgentSurroundings => ({
        memory: isGuest ? undefined : memoryOf(config, conversation),
        sessions:
          store instanceof SqliteConversationStore
            ? earlierConversations({ store, current: conversation, owner: options.owner ?? "" })
            : undefined,
        skills,
        models: modelsForOpinions({ config, model, store, payer: conversation, budget }),
      }),
    });
    told.agent = agent;
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
