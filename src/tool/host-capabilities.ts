import type { ModelUsage } from "../model/model-client.js";
import type { Progress } from "./tool.js";

/** State owned by an agent loop. A tool that names one in `host` answers with an error where it is absent. */
export interface HostCapabilities {
  readonly todos?: TodoHost | undefined;
  readonly memory?: MemoryHost | undefined;
  readonly sessions?: SessionsHost | undefined;
  readonly delegate?: DelegateHost | undefined;
  readonly messages?: MessagesHost | undefined;
  readonly skills?: SkillsHost | undefined;
  readonly models?: ModelsHost | undefined;
}

export type HostCapability = keyof HostCapabilities;

export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed" | "cancelled";
}

export interface TodoHost {
  read(): readonly TodoItem[];
  write(items: readonly TodoItem[]): void;
}

/** Notes of the agent, or what it knows of the person. */
export type MemoryTarget = "memory" | "user";

export type MemoryOperation =
  | { readonly action: "add"; readonly content: string }
  /** `oldText` is an entry or a part that only one entry holds. */
  | { readonly action: "replace"; readonly oldText: string; readonly content: string }
  | { readonly action: "remove"; readonly oldText: string };

export interface MemoryContent {
  readonly entries: readonly string[];
  readonly usedChars: number;
  readonly maxChars: number;
}

/** What outlives a conversation. */
export interface MemoryHost {
  read(target: MemoryTarget): Promise<MemoryContent>;
  /** All of them or none, judged on the final size; what cannot be done is a ToolError. On disk when it resolves. */
  change(request: {
    readonly target: MemoryTarget;
    readonly operations: readonly MemoryOperation[];
    /** Who outside wrote words that the model had read by then; remembered with what is added. */
    readonly heard?: readonly string[] | undefined;
  }): Promise<MemoryContent>;
}

export type MessageRole = "user" | "assistant" | "tool";

export interface SessionMessage {
  readonly session: string;
  /** Of the conversation. */
  readonly title: string;
  readonly message: string;
  readonly role: MessageRole;
  readonly content: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Earlier conversations; the current one and those it belongs to are left out. */
export interface SessionsHost {
  /** Best first; the newest where no words are given. `content` is the passage that was found. */
  search(query: {
    readonly words?: string | undefined;
    readonly roles?: readonly MessageRole[] | undefined;
    readonly limit: number;
  }): Promise<readonly SessionMessage[]>;
  /**
   * Messages of one conversation in order: as many on both sides of one of them as `limit` says, else from the
   * beginning or the end. None where there is no such conversation.
   */
  read(request: {
    readonly session: string;
    readonly around?: string | undefined;
    readonly fromEnd?: boolean | undefined;
    readonly limit: number;
  }): Promise<readonly SessionMessage[]>;
}

export interface DelegatedTask {
  readonly goal: string;
  readonly context?: string | undefined;
  /** Never more than the parent has. */
  readonly toolsets?: readonly string[] | undefined;
  readonly maxTurns?: number | undefined;
}

export interface DelegatedResult {
  readonly status: "completed" | "failed" | "interrupted" | "timeout";
  readonly summary: string;
  readonly turns: number;
  readonly durationMs: number;
  readonly tokens?: { readonly input: number; readonly output: number } | undefined;
  /** Why it stopped: `end`, `max_turns`, `budget`, `interrupted`, `error`. */
  readonly exitReason?: string | undefined;
  /** What it called, in order. */
  readonly calls?: readonly { readonly name: string; readonly ok: boolean }[] | undefined;
  /** Who outside wrote words that it was given, and that its summary may repeat. */
  readonly heard?: readonly string[] | undefined;
}

/** Hands work to agents of its own, with a fresh context each and never more authority than the caller's. */
export interface DelegateHost {
  /** One result per task, in their order. Never rejects for a task that failed. */
  run(
    tasks: readonly DelegatedTask[],
    options: {
      /** The call it is done for. */
      readonly insideCall: string;
      readonly signal: AbortSignal;
      onProgress?(progress: Progress, task: number): void;
    },
  ): Promise<readonly DelegatedResult[]>;
}

export interface MessageTarget {
  /** `telegram:42`. */
  readonly target: string;
  readonly about: string;
}

export interface SentMessage {
  readonly reached: readonly string[];
  readonly message_id: string;
  readonly receipt: string;
  readonly note?: string | undefined;
}

/** Chats of the platforms on which people talk to the agent. Only those who may talk to it are reached. */
export interface MessagesHost {
  targets(): Promise<readonly MessageTarget[]>;
  /** Undefined when there is nobody of that target: it is never guessed who else might be meant. */
  send(message: {
    /** `PLATFORM[:CHAT[:THREAD]]`, or `here` for the chat the conversation is in. */
    readonly target: string;
    readonly text: string;
    readonly files: readonly { readonly filename: string; readonly content: Uint8Array }[];
    readonly signal: AbortSignal;
  }): Promise<SentMessage | undefined>;
}

/** A way of working, written down in a folder with a SKILL.md. */
export interface SkillSummary {
  readonly name: string;
  readonly category?: string | undefined;
  readonly description: string;
  /** A draft is used by nobody before a person has accepted it. */
  readonly state: "ready" | "draft";
}

export interface SkillContent extends SkillSummary {
  /** Of SKILL.md, or of the file that was asked for. */
  readonly content: string;
  /** Names below the folder of the skill, without SKILL.md. */
  readonly files: readonly string[];
  /** The folder, for programs that are to run a script in it. */
  readonly path: string;
  /** Variables that it needs and that are not set. */
  readonly missingVariables: readonly string[];
}

export type SkillChange =
  | {
      readonly action: "create";
      readonly name: string;
      readonly category?: string | undefined;
      readonly content: string;
    }
  | { readonly action: "edit"; readonly name: string; readonly content: string }
  | {
      readonly action: "patch";
      readonly name: string;
      /** SKILL.md when left out. */
      readonly file?: string | undefined;
      readonly oldText: string;
      readonly newText: string;
      readonly everywhere?: boolean | undefined;
    }
  | {
      readonly action: "write_file";
      readonly name: string;
      readonly file: string;
      readonly content: string;
    }
  | { readonly action: "remove_file"; readonly name: string; readonly file: string }
  | { readonly action: "delete"; readonly name: string };

export interface ChangedSkill {
  readonly name: string;
  readonly category?: string | undefined;
  readonly state: "draft" | "deleted";
  readonly path: string;
  /** Whether it is to take the place of a skill that is in use. */
  readonly replaces: boolean;
}

/** What cannot be done is a ToolError. */
export interface SkillsHost {
  /** Those that can be read, by name. */
  list(): Promise<readonly SkillSummary[]>;
  /** Counts as a use when it is the skill itself. */
  view(name: string, file?: string): Promise<SkillContent>;
  /** Everything is written into a draft; what a person wrote is never changed. */
  change(change: SkillChange): Promise<ChangedSkill>;
}

export interface AskedModel {
  /** Provider and name. */
  readonly model: string;
  readonly text: string;
  readonly usage?: ModelUsage | undefined;
}

/** What others ask models for on behalf of a conversation. */
export type BilledPurpose = "review" | "sampling" | "vision";

/** Models that can be asked beside the conversation: no tools, no history. Each request is billed to the conversation. */
export interface ModelsHost {
  /** Those that are configured for opinions, the one that is to sum up last. */
  names(): readonly string[];
  /** Rejects with a ToolError. */
  ask(request: {
    /** One of `names`; the agent's own when left out. */
    readonly model?: string | undefined;
    readonly system?: string | undefined;
    readonly prompt: string;
    readonly images?: readonly { readonly data: string; readonly mimeType: string }[] | undefined;
    /** What the bill says it was for: an opinion, unless said. */
    readonly purpose?: "mixture" | "vision" | undefined;
    readonly temperature?: number | undefined;
    readonly maxTokens?: number | undefined;
    readonly json?: boolean | undefined;
    readonly signal: AbortSignal;
  }): Promise<AskedModel>;
  /** Of a request that somebody else made on behalf of the conversation. */
  bill(made: {
    readonly purpose: BilledPurpose;
    readonly usage: ModelUsage;
    readonly model?: string | undefined;
  }): Promise<void>;
}
