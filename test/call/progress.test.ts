import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defineTool, type Progress } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

const count = defineTool({
  name: "count",
  description: "Counts aloud",
  parameters: { type: "object", properties: { who: { type: "string" } } },
  async *handler({ who }) {
    for (let step = 1; step <= 3; step += 1) {
      await pause(1);
      yield { message: `${who} ${step}` };
    }
    yield { done: true };
  },
});

const messages = (updates: readonly Progress[]) => updates.map(({ message }) => message);

describe("progress goes to whoever asked for the call", () => {
  it("and to nobody else, even if ids and sessions are shared", async () => {
    const { runtime } = await testRuntime([count]);
    const session = await runtime.openSession();
    const heard = await Promise.all(
      ["anna", "ben", "carla"].map(async (who) => {
        const updates: Progress[] = [];
        const options = { onProgress: (update: Progress) => void updates.push(update) };
        await session.call({ id: "same", name: "count", arguments: { who } }, options);
        return messages(updates);
      }),
    );
    expect(heard).toEqual(["anna", "ben", "carla"].map((who) => [`${who} 1`, `${who} 2`, `${who} 3`]));
  });

  it("named by call where several are made at once", async () => {
    const { runtime } = await testRuntime([count]);
    const session = await runtime.openSession();
    const heard: string[] = [];
    await session.callAll(
      ["a", "b"].map((id) => ({ id, name: "count", arguments: { who: id } })),
      { onProgress: ({ message }, id) => void heard.push(`${id}: ${message}`) },
    );
    expect(heard.toSorted()).toEqual(["a: a 1", "a: a 2", "a: a 3", "b: b 1", "b: b 2", "b: b 3"]);
  });

  it("and not to the one who asked for the call around it", async () => {
    const inner: string[] = [];
    const outer = defineTool({
      name: "outer",
      description: "Calls count",
      parameters: { type: "object" },
      async handler(_args, ctx) {
        ctx.progress({ message: "outer" });
        const nested = ctx.openTools();
        const onProgress = ({ message }: Progress) => void inner.push(String(message));
        await nested.call({ name: "count", arguments: { who: "inner" } }, { onProgress });
        nested.close();
        return "done";
      },
    });
    const { runtime } = await testRuntime([count, outer]);
    const session = await runtime.openSession();
    const heard: Progress[] = [];
    await session.call({ name: "outer" }, { onProgress: (update) => void heard.push(update) });
    expect(messages(heard)).toEqual(["outer"]);
    expect(inner).toEqual(["inner 1", "inner 2", "inner 3"]);
  });

  it("with secrets masked, and not after the result", async () => {
    const late = defineTool({
      name: "late",
      description: "Speaks too late",
      parameters: { type: "object" },
      async handler(_args, ctx) {
        ctx.progress({ message: "token swordfish-0123456789" });
        setTimeout(() => ctx.progress({ message: "too late" }), 5);
        return "done";
      },
    });
    const { runtime } = await testRuntime([late]);
    runtime.secrets.add("PASSWORD", "swordfish-0123456789");
    const session = await runtime.openSession();
    const heard: Progress[] = [];
    await session.call({ name: "late" }, { onProgress: (update) => void heard.push(update) });
    await pause(20);
    expect(heard).toHaveLength(1);
    expect(heard[0]?.message).not.toContain("swordfish");
  });

  it("and a listener that throws or rejects harms nothing", async () => {
    const { runtime, logged } = await testRuntime([count]);
    const session = await runtime.openSession();
    const throwing = await session.call(
      { name: "count", arguments: { who: "x" } },
      {
        onProgress: () => {
          throw new Error("listener broke");
        },
      },
    );
    const rejecting = await session.call(
      { name: "count", arguments: { who: "x" } },
      { onProgress: async () => Promise.reject(new Error("later")) },
    );
    expect([throwing.ok, rejecting.ok]).toEqual([true, true]);
    expect(logged.join("\n")).toContain("listener broke");
  });
});
