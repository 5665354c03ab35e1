import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { TodoItem } from "../../tool/host-capabilities.js";

export default defineTool({
  name: "todo",
  toolset: "todo",
  emoji: "📋",
  description:
    "Keep the task list of this conversation; the answer is the whole list. Without todos it is only read. Keep at " +
    "most one item in_progress and mark items completed once they are done.",
  parameters: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        description: "In order of priority. Replaces the list unless merge.",
        items: {
          type: "object",
          properties: {
            id: { type: "string" },
            content: { type: "string" },
            // What else a model writes here is pending: a list with one odd word is better than none.
            status: { type: "string", description: "pending, in_progress, completed or cancelled" },
          },
        },
      },
      merge: { type: "boolean", default: false, description: "Update items by id and add new ones." },
    },
    additionalProperties: false,
  },
  examples: [
    {
      title: "Plan two steps and begin with the first",
      arguments: {
        todos: [
          { id: "1", content: "Read the failing test", status: "in_progress" },
          { id: "2", content: "Mend the parser", status: "pending" },
        ],
      },
      result: { summary: { total: 2, pending: 1, in_progress: 1 } },
    },
  ],
  permissions: [],
  effects: () => [],
  host: "todos",

  handler({ todos, merge }, ctx) {
    const store = ctx.host.todos;
    if (store === undefined) {
      throw new ToolError("todo needs an agent loop that keeps the list.", { code: "unavailable" });
    }
    if (todos === undefined) return summarise(store.read());
    const items = merge ? mergeTodos(store.read(), todos) : replaceTodos(todos);
    store.write(items);
    return summarise(items);
  },
});

const MAX_TODOS = 256;
const MAX_TODO_CHARS = 4_000;
const CUT_MARK = " [cut]";
const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;

/** An item as a model sends it: anything may be missing. */
interface GivenTodo {
  readonly id?: string | undefined;
  readonly content?: string | undefined;
  readonly status?: string | undefined;
}

export interface TodoSummary {
  readonly todos: readonly TodoItem[];
  readonly summary: Readonly<Record<"total" | TodoItem["status"], number>>;
}

/** The given items as a whole new list; of two with one id the later counts. */
function replaceTodos(given: readonly GivenTodo[]): readonly TodoItem[] {
  return bounded(lastOfEachId(given.map((item) => complete(item, undefined))));
}

/** Changes the items whose ids are known and appends the others. Fields left out keep their value. */
function mergeTodos(current: readonly TodoItem[], given: readonly GivenTodo[]): readonly TodoItem[] {
  const items = new Map(current.map((item) => [item.id, item]));
  for (const item of given) {
    const id = idOf(item);
    items.set(id, complete(item, items.get(id)));
  }
  return bounded([...items.values()]);
}

function summarise(todos: readonly TodoItem[]): TodoSummary {
  const summary = { total: todos.length, pending: 0, in_progress: 0, completed: 0, cancelled: 0 };
  for (const item of todos) summary[item.status] += 1;
  return { todos, summary };
}

function complete(given: GivenTodo, before: TodoItem | undefined): TodoItem {
  const content = given.content?.trim() || before?.content;
  if (content === undefined) {
    throw new ToolError(`The item ${JSON.stringify(idOf(given))} has no content; nothing was changed.`, {
      code: "invalid_arguments",
      hint: "Give every new item a content that says what is to be done.",
    });
  }
  return { id: idOf(given), content: cut(content), status: statusOf(given.status, before) };
}

function idOf(given: GivenTodo): string {
  return given.id?.trim() || "?";
}

function statusOf(given: string | undefined, before: TodoItem | undefined): TodoItem["status"] {
  if (given === undefined && before !== undefined) return before.status;
  return STATUSES.find((status) => status === given) ?? "pending";
}

function cut(content: string): string {
  if (content.length <= MAX_TODO_CHARS) return content;
  return content.slice(0, MAX_TODO_CHARS).replace(/[\ud800-\udbff]$/, "") + CUT_MARK;
}

/** Keeps the place of the last one, as if the earlier had never been sent. */
function lastOfEachId(items: readonly TodoItem[]): readonly TodoItem[] {
  const last = new Map(items.map((item, index) => [item.id, index]));
  return items.filter((item, index) => last.get(item.id) === index);
}

function bounded(items: readonly TodoItem[]): readonly TodoItem[] {
  if (items.length <= MAX_TODOS) return items;
  throw new ToolError(
    `The list would hold ${items.length} items, the limit is ${MAX_TODOS}; nothing was changed.`,
    {
      code: "invalid_arguments",
      hint: "Drop completed items, or group small steps into one.",
    },
  );
}
