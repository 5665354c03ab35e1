import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TodoItem } from "../../../src/tool/host-capabilities.js";
import type { TodoSummary } from "../../../src/tools/agent/todo.js";
import todo from "../../../src/tools/agent/todo.js";
import { testRuntime } from "../../support/runtime.js";
import { makeContext, type TestContext } from "../context.js";

let list: readonly TodoItem[];
let ctx: TestContext;
beforeEach(() => {
  list = [];
  const todos = {
    read: () => list,
    write: (items: readonly TodoItem[]) => {
      list = items;
    },
  };
  ctx = makeContext({ host: { todos } });
});
afterEach(() => ctx.cleanUp());

type Args = Parameters<typeof todo.handler>[0];
function call(args: Partial<Args>): TodoSummary {
  return todo.handler({ merge: false, ...args }, ctx) as TodoSummary;
}
const item = (id: string, content = `do ${id}`, status: TodoItem["status"] = "pending") => ({
  id,
  content,
  status,
});

describe("todo", () => {
  test("takes what a model sends through the whole path: odd words for a status are pending", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const host = { todos: { read: () => list, write: () => undefined } };
    const session = await runtime.openSession({ toolsets: ["todo"], host });
    const todos = [{ id: "a", content: "x", status: "later" }, { content: "y" }];
    const { structured } = await session.call({ name: "todo", arguments: { todos } });
    expect(structured).toMatchObject({ todos: [item("a", "x"), item("?", "y")] });
  });

  test("reads without changing", () => {
    list = [item("a")];
    expect(call({})).toEqual({
      todos: [item("a")],
      summary: { total: 1, pending: 1, in_progress: 0, completed: 0, cancelled: 0 },
    });
  });

  test("replaces the list", () => {
    list = [item("old")];
    const { todos, summary } = call({ todos: [item("a", "x", "completed"), item("b", "y", "in_progress")] });
    expect(todos.map((one) => one.id)).toEqual(["a", "b"]);
    expect(summary).toMatchObject({ total: 2, completed: 1, in_progress: 1 });
    expect(list).toEqual(todos);
    expect(call({ todos: [] }).todos).toEqual([]);
  });

  test("merges by id, keeps what is left out, appends what is new", () => {
    list = [item("a"), item("b")];
    const { todos } = call({ merge: true, todos: [{ id: "b", status: "completed" }, item("c")] });
    expect(todos).toEqual([item("a"), item("b", "do b", "completed"), item("c")]);
  });

  test("keeps the last of two items with one id", () => {
    const { todos } = call({ todos: [item("a", "first"), item("b"), item("a", "second")] });
    expect(todos).toEqual([item("b"), item("a", "second")]);
  });

  test("gives an item without id a question mark and one without status pending", () => {
    expect(call({ todos: [{ content: "x" }] }).todos).toEqual([item("?", "x")]);
  });

  test("refuses an item without content and changes nothing", () => {
    list = [item("a")];
    expect(() => call({ todos: [item("b"), { id: "c", content: "  " }] })).toThrow(/"c" has no content/);
    expect(list).toEqual([item("a")]);
  });

  test("cuts long contents with a mark and refuses more than 256 items", () => {
    const { todos } = call({ todos: [item("a", "x".repeat(5_000))] });
    expect(todos[0]?.content).toBe(`${"x".repeat(4_000)} [cut]`);
    const many = Array.from({ length: 257 }, (_, index) => item(String(index)));
    expect(() => call({ todos: many })).toThrow(/257 items, the limit is 256/);
    expect(call({ todos: many.slice(1) }).summary.total).toBe(256);
  });

  test("ids are unique and counts add up after any calls", () => {
    const some = fc.array(
      fc.record({
        id: fc.constantFrom("a", "b", "c", "d"),
        content: fc.constantFrom("x", "y"),
        status: fc.constantFrom<TodoItem["status"]>("pending", "in_progress", "completed", "cancelled"),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(some, fc.boolean()), { maxLength: 5 }), (calls) => {
        list = [];
        for (const [todos, merge] of calls) {
          const { todos: after, summary } = call({ todos, merge });
          expect(new Set(after.map((one) => one.id)).size).toBe(after.length);
          const { total, ...counts } = summary;
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total);
          for (const given of todos) {
            const last = todos.findLast((one) => one.id === given.id);
            expect(after).toContainEqual(last);
          }
        }
      }),
    );
  });
});
