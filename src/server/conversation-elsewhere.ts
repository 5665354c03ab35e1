import { ConversationTodos } from "../agent/todos.js";
import type { SessionOptions } from "../runtime/session.js";

/**
 * What a session has whose model is asked by somebody else, on the other side of a protocol: a task list for as long
 * as the session lasts, and an eye on calls that lead nowhere.
 */
export function conversationElsewhere(): Pick<SessionOptions, "host" | "guardrails" | "turnsUnseen"> {
  return { host: { todos: new ConversationTodos() }, guardrails: "warn", turnsUnseen: true };
}
