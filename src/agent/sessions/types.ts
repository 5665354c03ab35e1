import type { ModelPurpose, ModelUsage, OpaqueAnswer } from "../../model/model-client.js";
import type { IncomingCall } from "../../tool/call.js";
import type { Content } from "../../tool/content.js";

/** `cut_off`: a turn had begun and its process is gone. */
export type ConversationState = "idle" | "running" | "cut_off";

/** One conversation, as lists show it. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  /** The door it came through: `cli`, `http`, `telegram`, `subagent`, `cron`. */
  readonly source: string;
  /** Whose it is: a person of a chat platform, the token of a client; empty for the owner of this machine. */
  readonly owner: string;
  readonly model: string;
  readonly cwd: string;
  /** The conversation that handed this work on. */
  readonly parent: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  readonly state: ConversationState;
}

export interface StoredMessage {
  /** Grows within a conversation. */
  readonly id: string;
  /** `summary` stands for the messages up to `covers`; `system` is the prompt the conversation began with. */
  readonly role: "system" | "user" | "assistant" | "tool" | "summary";
  readonly content: string | readonly Content[];
  readonly toolCalls?: readonly IncomingCall[] | undefined;
  readonly toolCallId?: string | undefined;
  readonly name?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly opaque?: OpaqueAnswer | undefined;
  /** Id of the last message that a summary stands for. */
  readonly covers?: string | undefined;
  readonly at: number;
}

/** What one request cost. */
export interface Bill {
  readonly session: string;
  readonly model: string;
  readonly purpose: ModelPurpose;
  readonly usage: ModelUsage;
  /** Undefined where nobody said what the model costs. */
  readonly costUsd: number | undefined;
  /** What the definitions of the tools took of the input, as an estimate. */
  readonly definitionTokens?: number | undefined;
  readonly at: number;
}

export type NewMessage = Omit<StoredMessage, "id" | "at">;

/** A passage that was found. */
export interface FoundMessage {
  readonly session: string;
  readonly message: string;
  readonly role: StoredMessage["role"];
  readonly snippet: string;
  readonly at: number;
}

/** Who may see what: a conversation of somebody else does not exist for others. */
export interface OwnedBy {
  /** Left out: everybody's, for the person at this machine. */
  readonly owner?: string | undefined;
}

/** Another machine works on it. */
export interface HeldElsewhere {
  readonly by: string;
}

/** One conversation with all it hands on, or all of them on one day (of this machine's clock). */
export type BudgetOf = { readonly session: string } | { readonly dayOf: number };

/**
 * Conversations on disk. What `append` answered survives `kill -9`. The index for searching lies in a file of its own
 * and can be made anew from the messages.
 */
export interface ConversationStore {
  create(about: {
    readonly source: string;
    readonly model: string;
    readonly cwd: string;
    readonly owner?: string | undefined;
    readonly parent?: string | undefined;
    readonly title?: string | undefined;
  }): Promise<Conversation>;
  get(id: string, owned?: OwnedBy): Promise<Conversation | undefined>;
  /** Newest first; without those that belong to another one unless asked for. */
  list(
    query?: OwnedBy & {
      readonly limit?: number;
      readonly source?: string;
      readonly children?: boolean;
      /** Only those that come after this one in the list. */
      readonly before?: Pick<Conversation, "id" | "updatedAt"> | undefined;
    },
  ): Promise<readonly Conversation[]>;
  append(session: string, messages: readonly NewMessage[]): Promise<readonly StoredMessage[]>;
  /** In order; the tail is read without what comes before it. */
  messages(
    session: string,
    range?: { readonly last?: number; readonly after?: string },
  ): Promise<readonly StoredMessage[]>;
  update(session: string, change: { readonly title?: string; readonly model?: string }): Promise<void>;
  /**
   * One worker at a time: false when there is one, in this process or another, and who it is when it is on another
   * machine. Freed by `end` or by the process's death.
   */
  begin(session: string): Promise<boolean | HeldElsewhere>;
  end(session: string): Promise<void>;
  /** Best first. `words` is what a person types, in any script; it is never an expression. */
  search(
    query: OwnedBy & {
      readonly words: string;
      readonly roles?: readonly StoredMessage["role"][] | undefined;
      /** Conversations that are left out, with their children and parents. */
      readonly except?: string | undefined;
      readonly limit: number;
    },
  ): Promise<readonly FoundMessage[]>;
  addBill(bill: Omit<Bill, "at">): Promise<void>;
  /** In US dollars, of what has a price: of one conversation with all it handed on, or of everything since then. */
  spent(query: {
    readonly session?: string | undefined;
    readonly since?: number | undefined;
  }): Promise<number>;
  /** The most that may be spent, in US dollars, as far as a person has raised it here. */
  raisedBudget(of: BudgetOf): Promise<number | undefined>;
  /** Read before each request by every process that works on it. */
  raiseBudget(of: BudgetOf, usd: number): Promise<void>;
  delete(session: string, owned?: OwnedBy): Promise<boolean>;
  close(): Promise<void>;
}
