import type { ModelUsage } from "../model/model-client.js";
import type { StoredMessage } from "./sessions/types.js";

const CHARS_PER_TOKEN = 4;

/** How much of a model's window a conversation takes: the server's own count, and an estimate for what has come since. */
export class ContextMeter {
  #counted: { readonly tokens: number; readonly messages: number } = { tokens: 0, messages: 0 };
  #littleFreedAt: number | undefined;

  /** Whether a server has counted yet: its count holds the tools too, an estimate does not. */
  get hasCount(): boolean {
    return this.#counted.messages > 0;
  }

  /** What the conversation took when a summary last made little room; undefined when the last one made enough. */
  get littleFreedAt(): number | undefined {
    return this.#littleFreedAt;
  }

  tokens(messages: readonly StoredMessage[]): number {
    const { tokens, messages: known } = this.#counted;
    // Fewer than were counted: some were taken back.
    return messages.length < known
      ? estimatedTokens(messages)
      : tokens + estimatedTokens(messages.slice(known));
  }

  /** What the server has counted for these messages and its answer to them. */
  counted(messages: readonly StoredMessage[], { inputTokens, outputTokens }: ModelUsage): void {
    this.#counted = { tokens: inputTokens + outputTokens, messages: messages.length + 1 };
  }

  /** A summary has taken the place of old messages. `least` is the share of it all that is worth a summary. */
  summarised(change: {
    readonly before: readonly StoredMessage[];
    readonly after: readonly StoredMessage[];
    readonly least: number;
  }): void {
    const { before, after, least } = change;
    const used = this.tokens(before);
    const freed = estimatedTokens(before) - estimatedTokens(after);
    const left = Math.max(estimatedTokens(after), used - freed);
    this.#littleFreedAt = freed < used * least ? left : undefined;
    this.#counted = { tokens: left, messages: after.length };
  }
}

export function estimatedTokens(messages: readonly StoredMessage[]): number {
  return messages.reduce(
    (sum, { content, toolCalls }) => sum + tokensOf(content) + tokensOf(toolCalls ?? ""),
    0,
  );
}

/** Of anything that is sent as JSON. */
export function tokensOf(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? "").length / CHARS_PER_TOKEN);
}
