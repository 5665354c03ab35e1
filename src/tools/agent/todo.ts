import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mergeTodos, replaceTodos, summarise } from "./todo-list.js";

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
            status: { type: "string", enum: ["pending", "in_progress", "completed", "cancelled"] },
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
