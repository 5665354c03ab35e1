/** `domain:verb`, e.g. "file:write", "network:fetch", "mcp:github". */
export type Permission = `${string}:${string}`;

/** What one call touches, told before it runs. Six readers share this list: see docs/architecture.md. */
export interface Effect {
  readonly action: Permission;
  /** An absolute path, a URL, a command line, a host … whatever the action is about. */
  readonly resource: string;
  readonly mode: "read" | "write" | "execute";
  /** Where a command runs, when that is not the session's own folder. */
  readonly cwd?: string | undefined;
  /** Values that variables of a command line are known to have, exported by commands before it. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The command line of the running program that gets this text typed in, when it is not run itself. */
  readonly typedInto?: string | undefined;
  /** What was typed into it before, which this text is read after. */
  readonly typedBefore?: string | undefined;
  /** Why a person must be asked whatever the rules allow; a yes is remembered by `key` for the session, if there is one. */
  readonly ask?:
    | {
        readonly reason: string;
        /** What the model is told in place of the reason, where that quotes somebody whom it is not to hear. */
        readonly told?: string;
        readonly key?: string;
        /** A rule that names this very permission or tool, not just everything, is a yes beforehand. */
        readonly unlessNamed?: boolean;
      }
    | undefined;
  /** More for a person who is asked: what it really means here. */
  readonly detail?: string | undefined;
  /** Whether the result can show what the place holds. Unsaid: what is read is shown, what is written is not. */
  readonly shown?: boolean | undefined;
  /** The call says itself that it means the folder of another profile. */
  readonly crossProfile?: boolean | undefined;
  /** What is held while it runs, when that is not the resource: holders of one name wait for each other unless all share it. */
  readonly lock?: { readonly name: string; readonly shared: boolean } | undefined;
  /** True when undoing is cheap; the approval text says so when it is false. */
  readonly reversible?: boolean | undefined;
}

/** What `effects` may look at: where relative names point to. */
export interface EffectScope {
  readonly cwd: string;
  readonly environment: string;
  /** Names what belongs to one session, so that sessions do not wait for each other's. */
  readonly session?: string;
  /** What `~` means there; this machine's home when left out. */
  readonly home?: string;
  /** What earlier commands of the session have exported. */
  readonly exported?: Readonly<Record<string, string | undefined>>;
  /** Who outside wrote words that the session was given: what is asked for may be their wish. */
  readonly heard?: readonly string[];
  /** What was typed into a background process and not yet sent off with a new line. */
  pendingInput?(process: string): string;
  /** The whole commands that were typed into it before. */
  sentInput?(process: string): string;
  /** What a background process was started with; undefined when there is none of that name. */
  commandOf?(process: string): string | undefined;
}

/**
 * For what outlives a conversation: a document that says "remember this" would rule every later one. Once the words of
 * others have been read, a person is asked whose wish it is.
 */
export function askIfHeard(heard: readonly string[]): Pick<Effect, "ask"> {
  if (heard.length === 0) return {};
  const named = heard.slice(-3).join(", ");
  return {
    ask: { reason: `this conversation has read what others wrote (${named}), and it may be their wish` },
  };
}
