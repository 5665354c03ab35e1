import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mergeTodos, replaceTodos, summarise } from "./todo-list.js";

export default defineTool({
  name: "todo",
  toolset: "todo",
  emoji: "📋",
  description:
    "Keep the task list of this conversation. Without `todos` it returns the list. With `todos` it replaces " +
    "the list, or with merge=true updates items by id and adds new ones. Keep at most one item in_progress " +
    "and mark items completed as soon as they are done. Always returns the whole list.",
  parameters: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        description: "Items to store, in order of priority. Leave out to read the list.",
        items: {
          type: "object",
          properties: {
            id: { type: "string", description: "Stable name of the item." },
            content: { type: "string", description: "What is to be done." },
            status: {
              type: "string",
              enum: ["pending", "in_progress", "completed", "cancelled"],
              description: "State of the item.",
            },
          },
        },
      },
      merge: {
        type: "boolean",
        default: false,
        description: "true: change and add the given items. false: the given items become the list.",
      },
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
