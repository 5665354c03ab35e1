import { expect, it } from "vitest";
import { defineTool, type RuntimeEvent } from "../../src/index.js";
import { EventBus } from "../../src/observe/events.js";
import { testRuntime } from "../support/runtime.js";

const changed: RuntimeEvent = { type: "tools.changed", generation: 1 };

it("wants what somebody listens to, and no longer once they have stopped", () => {
  const bus = new EventBus();
  const wanted = () => [bus.wants("tools.changed"), bus.wants("call.started")];
  expect(wanted()).toEqual([false, false]);
  const stopOne = bus.onType("tools.changed", () => undefined);
  const stopOther = bus.onType("tools.changed", () => undefined);
  expect(wanted()).toEqual([true, false]);
  const stopAll = bus.on(() => undefined);
  expect(wanted()).toEqual([true, true]);
  stopAll();
  stopOne();
  expect(wanted()).toEqual([true, false]);
  stopOther();
  stopOther();
  expect(wanted()).toEqual([false, false]);
});

it("tells a listener of one type of nothing else, and the others also when one of them throws", () => {
  const bus = new EventBus();
  const heard: string[] = [];
  bus.onType("tools.changed", () => {
    throw new Error("broken");
  });
  bus.onType("tools.changed", ({ generation }) => heard.push(`changed ${generation}`));
  bus.onType("call.started", () => heard.push("started"));
  bus.on(({ type }) => heard.push(type));
  bus.emit(changed);
  expect(heard).toEqual(["changed 1", "tools.changed"]);
});

it("tells of a call that nobody could be asked about where nobody listens to calls", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks",
    parameters: {},
    effects: () => [],
    handler: () => "",
  });
  const policy = { decide: () => ({ verdict: "ask", rule: "always-ask" }) as const };
  const { runtime } = await testRuntime([look], { policy });
  const unasked: RuntimeEvent[] = [];
  runtime.events.onType("approval.unasked", (event) => unasked.push(event));
  const asked = await runtime.openSession({ approver: { ask: async () => "once" } });
  await asked.call({ name: "look" });
  const session = await runtime.openSession({ door: "cli" });
  await session.call({ id: "c1", name: "look", arguments: { at: "x" } });
  expect(runtime.events.wants("call.finished")).toBe(false);
  expect(unasked).toMatchObject([
    {
      id: "c1",
      tool: "look",
      preview: '{"at":"x"}',
      reason: "rule always-ask",
      session: session.id,
      door: "cli",
    },
  ]);
});
