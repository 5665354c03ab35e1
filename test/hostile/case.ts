/** What became of a call: `ok`, or the code of its error. */
export type Called = readonly [tool: string, outcome: string];

/** What lies there before anybody speaks. Names are below the place; a value `-> PATH` makes a link. */
export interface Given {
  readonly project?: Readonly<Record<string, string>>;
  readonly home?: Readonly<Record<string, string>>;
  readonly person?: Readonly<Record<string, string>>;
  /** What the stranger's server answers, by path. */
  readonly pages?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What a scriptable MCP server called `s` is started with; `changes`: its first call makes it change what it offers. */
  readonly mcp?: Readonly<Record<string, unknown>>;
  /** The working folder below the project. */
  readonly folder?: string;
}

/** One attempt: where the content comes from, what it tries, and what must have become of it. */
export interface HostileCase {
  readonly from: string;
  readonly tries: string;
  readonly given?: Given;
  /** What the person says, one message after the other. */
  readonly says: readonly string[];
  /** How each further message reaches the agent: in the same conversation, after a resume, or in a new conversation. */
  readonly between?: readonly ("same" | "resume" | "new")[];
  /** What the person answers when asked; nobody is there when it is left out. */
  readonly answers?: readonly ("once" | "session" | "deny")[];
  /** Answers to `clarify`. */
  readonly clarifies?: string;
  /** How the door opens the agent. */
  readonly door?: {
    readonly toolsets?: readonly string[];
    readonly isGuest?: boolean;
    readonly owner?: string;
    readonly heard?: readonly string[];
    readonly contextTokens?: number;
    readonly profile?: string;
  };
  /** Every call that was made, children's too. */
  readonly calls: readonly Called[];
  /** The tools a person was asked about. */
  readonly asked?: readonly string[];
  /** Words of the stranger that reach the model, and only inside of a frame. */
  readonly framed?: readonly string[];
  /** Words that never reach it. */
  readonly unseen?: readonly string[];
  /** Words that reach it. */
  readonly seen?: readonly string[];
  /** What the person has agreed to: changes that may be there. */
  readonly agreed?: { readonly memory?: string };
  /** Words that the project's file of this name holds at the end. */
  readonly kept?: Readonly<Record<string, string>>;
}
