import type { Agent } from "../../agent/agent.js";
import type { Agents, OpenAgentOptions } from "../../agent/agents.js";
import type { ConversationStore } from "../../agent/sessions/types.js";
import { failure, HermesError } from "../../tool/errors.js";

export interface AgentPoolLimits {
  readonly sessions: number;
  readonly idleMs: number;
}

/** Whose conversation, and which: a new one when none is named. */
export interface PooledWish extends Omit<OpenAgentOptions, "owner" | "onClose"> {
  readonly owner: string;
}

/** An agent while a request uses it. */
export interface Lease {
  readonly agent: Agent;
  release(): void;
}

interface Kept {
  readonly owner: string;
  readonly agent: Agent;
  open: number;
  usedAt: number;
}

/**
 * Agents that last from request to request, so that a conversation finds its folder, its background programs and what
 * was approved for it. One that nobody has used for a while is closed; its conversation stays on disk and is opened
 * anew by the next message.
 */
export class AgentPool {
  readonly #agents: () => Promise<Agents>;
  readonly #limits: AgentPoolLimits;
  readonly #kept = new Map<string, Kept>();
  /** Conversations that are being opened: two requests get one agent. */
  readonly #opening = new Map<string, Promise<Kept>>();
  readonly #sweep: NodeJS.Timeout;
  #coming = 0;

  constructor(agents: () => Promise<Agents>, limits: AgentPoolLimits) {
    this.#agents = agents;
    this.#limits = limits;
    this.#sweep = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000)).unref();
  }

  async conversations(): Promise<ConversationStore> {
    return (await this.#agents()).conversations();
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Throws a HermesError when there is no such conversation of this owner, no room, or no model. */
  async lease(wish: PooledWish): Promise<Lease> {
    const kept = await this.#find(wish);
    kept.open += 1;
    let isHeld = true;
    return {
      agent: kept.agent,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        kept.open -= 1;
        kept.usedAt = Date.now();
      },
    };
  }

  /** The agent of a conversation, while one is open for it. */
  find(conversation: string, owner: string): Agent | undefined {
    const found = this.#kept.get(conversation);
    return found?.owner === owner ? found.agent : undefined;
  }

  /** A conversation is no longer there: neither is its agent. */
  forget(conversation: string): void {
    const found = this.#kept.get(conversation);
    if (found !== undefined) this.#end(found);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(all.map(({ agent }) => agent.close()));
  }

  async #find(wish: PooledWish): Promise<Kept> {
    const { conversation, owner } = wish;
    if (conversation === undefined) return this.#open(wish);
    const found = this.#kept.get(conversation);
    if (found !== undefined) {
      if (found.owner === owner) return found;
      throw noSuchConversation(conversation);
    }
    const key = JSON.stringify([owner, conversation]);
    const opening = this.#opening.get(key) ?? this.#open(wish).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  async #open(wish: PooledWish): Promise<Kept> {
    this.#makeRoom();
    this.#coming += 1;
    try {
      const agent = await (await this.#agents()).open(wish);
      // In use until whoever waits for it has taken it.
      const kept: Kept = { owner: wish.owner, agent, open: 1, usedAt: Date.now() };
      setImmediate(() => {
        kept.open -= 1;
      });
      this.#kept.set(agent.conversation, kept);
      return kept;
    } finally {
      this.#coming -= 1;
    }
  }

  /** The one that was idle longest gives way. */
  #makeRoom(): void {
    if (this.#kept.size + this.#coming < this.#limits.sessions) return;
    const [idlest] = [...this.#kept.values()]
      .filter(({ open }) => open === 0)
      .sort((a, b) => a.usedAt - b.usedAt);
    if (idlest === undefined)
      throw new HermesError(
        failure(
          "unavailable",
          `all ${this.#limits.sessions} agents of this server are at work`,
          "Try again when one has finished.",
        ),
      );
    this.#end(idlest);
  }

  #expire(): void {
    const before = Date.now() - this.#limits.idleMs;
    for (const kept of this.#kept.values()) if (kept.open === 0 && kept.usedAt <= before) this.#end(kept);
  }

  #end({ agent }: Kept): void {
    this.#kept.delete(agent.conversation);
    void agent.close();
  }
}

function noSuchConversation(id: string): HermesError {
  return new HermesError(
    failure("not_found", `There is no conversation ${id}`, "Leave X-Hermes-Session out to begin one."),
  );
}
