import { isRecord } from "../base/record.js";
import { textOf } from "../tool/content.js";
import type { TodoHost, TodoItem } from "../tool/host-capabilities.js";
import type { NewMessage } from "./sessions/types.js";

/** The task list of one conversation. It lives in memory: the last answer of `todo` in the conversation holds all of it. */
export class ConversationTodos implements TodoHost {
  #items: readonly TodoItem[];

  constructor(stored: readonly NewMessage[] = []) {
    this.#items = lastListIn(stored);
  }

  read(): readonly TodoItem[] {
    return this.#items;
  }

  /** Takes over what was written on another machine, if anything was. */
  follow(said: readonly NewMessage[]): void {
    if (said.some(({ name }) => name === "todo")) this.#items = lastListIn(said);
  }

  write(items: readonly TodoItem[]): void {
    this.#items = items;
  }
}

function lastListIn(stored: readonly NewMessage[]): readonly TodoItem[] {
  const answer = stored.findLast(
    ({ role, name, isError }) => role === "tool" && name === "todo" && isError !== true,
  );
  if (answer === undefined) return [];
  try {
    const { content } = answer;
    const said: unknown = JSON.parse(typeof content === "string" ? content : textOf(content));
    return isRecord(said) && Array.isArray(said.todos) ? said.todos.filter(isTodo) : [];
  } catch {
    // A list that was cut or replaced by a hook is no list.
    return [];
  }
}

function isTodo(value: unknown): value is TodoItem {
  return (
    isRecord(value) &&
    typeof value.id === "string" &&
    typeof value.content === "string" &&
    typeof value.status === "string"
  );
}
