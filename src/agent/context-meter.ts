import type { ModelUsage } from "../model/model-client.js";
import type { StoredMessage } from "./sessions/types.js";

const CHARS_PER_TOKEN = 4;

/** How much of a model's window a conversation takes: the server's own count, and an estimate for what has come since. */
export class ContextMeter {
  #counted: { readonly tokens: number; readonly messages: number } = { tokens: 0, messages: 0 };

  tokens(messages: readonly StoredMessage[]): number {
    const { tokens, messages: known } = this.#counted;
    // After a summary there are fewer than were counted.
    return messages.length < known
      ? estimatedTokens(messages)
      : tokens + estimatedTokens(messages.slice(known));
  }

  /** What the server has counted for these messages and its answer to them. */
  counted(messages: readonly StoredMessage[], { inputTokens, outputTokens }: ModelUsage): void {
    this.#counted = { tokens: inputTokens + outputTokens, messages: messages.length + 1 };
  }
}

export function estimatedTokens(messages: readonly StoredMessage[]): number {
  return messages.reduce(
    (sum, { content, toolCalls }) =>
      sum +
      Math.ceil((JSON.stringify(content).length + JSON.stringify(toolCalls ?? "").length) / CHARS_PER_TOKEN),
    0,
  );
}
