// @needs nats-server
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/cluster/place.js";
import { Worker } from "../../src/cluster/worker.js";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { eventually } from "../gateway/support.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { settings, testCluster, useNats } from "./support.js";

useNats();

function named(
  name: string,
  properties: AnyTool["parameters"]["properties"] = {},
  more: Partial<AnyTool> = {},
): AnyTool {
  return defineTool({
    name,
    description: name,
    parameters: { type: "object", properties },
    handler: () => `${name} ran`,
    ...more,
  }) as AnyTool;
}

describe("tools that come and change while a cluster runs", () => {
  it("a worker that gets a tool later runs it for the sessions that are on it already", async () => {
    const { front, place, workers } = await testCluster([named("first")], {
      frontTools: [named("first"), named("second")],
    });
    const session = await front.runtime.openSession();
    const { worker } = await session.call({ name: "first" });
    expect(worker).toBe(workers[0]?.worker.id);
    workers[0]?.at.registry.add(named("second"));
    await eventually(() => expect(place.roster.serves("second")).toBe(true));
    expect(await session.call({ name: "second" })).toMatchObject({ ok: true, human: "second ran", worker });
  });

  it("a call waits for the only worker, which is just being started again", async () => {
    const { name, front } = await testCluster([], {
      workers: [],
      builtins: true,
      front: { "cluster.wait_seconds": 20 },
    });
    const session = await front.runtime.openSession();
    const answered = session.call({ name: "sleep", arguments: { seconds: 0 } });
    const flags = settings(name, { "cluster.drain_seconds": 0 });
    const { runtime } = await testRuntime([], { builtins: true, flags });
    const worker = await Worker.start(runtime);
    onTestEnd(() => worker.drain());
    expect(await answered).toMatchObject({ ok: true, worker: worker.id });
  });

  it("a session that goes on with more tools has them on its worker, and stands where it stood", async () => {
    const { front, place, workers } = await testCluster([named("first")], { builtins: true });
    const before = await front.runtime.openSession({ toolsets: ["first", "terminal"] });
    const { worker } = await before.call({
      name: "terminal",
      arguments: { command: "cd /; export KEPT=yes" },
    });
    for (const registry of [front.registry, ...workers.map(({ at }) => at.registry)])
      registry.add(named("second"));
    await eventually(() => expect(place.roster.serves("second")).toBe(true));
    const session = await front.runtime.openSession({
      toolsets: ["first", "second", "terminal"],
      continues: before,
    });
    expect(await session.call({ name: "second" })).toMatchObject({ ok: true, human: "second ran", worker });
    const where = await session.call({ name: "terminal", arguments: { command: "pwd; echo $KEPT" } });
    expect(where).toMatchObject({ ok: true, human: expect.stringContaining("/\nyes"), worker });
  });

  it("a call goes to a worker that has the very same tool, not to one that has another of that name", async () => {
    const { front, place, workers } = await testCluster([named("same")], { workers: [[], []] });
    const [changed, same] = workers.map(({ worker }) => worker.id);
    const other = named("same", { path: { type: "string" } });
    workers[0]?.at.registry.add(other);
    const own = front.registry.get("same");
    await eventually(() => {
      const hash = place.roster.get(changed ?? "")?.record.tools.same;
      expect(own !== undefined && hash !== undefined && hash !== hashOf(own)).toBe(true);
    });
    for (let count = 0; count < 6; count += 1) {
      const session = await front.runtime.openSession();
      expect((await session.call({ name: "same" })).worker).toBe(same);
    }
  });

  it("a worker that has just lost the tool does not begin the call, which goes to one that has it", async () => {
    const { front, workers } = await testCluster([named("moved")], { workers: [[], []] });
    const session = await front.runtime.openSession();
    const { worker } = await session.call({ name: "moved" });
    const there = workers.find((one) => one.worker.id === worker)?.at.registry;
    const other = workers.find((one) => one.worker.id !== worker);
    there?.deregister("moved");
    const next = await session.call({ name: "moved" });
    expect(next).toMatchObject({ ok: true, human: "moved ran", worker: other?.worker.id });
    other?.at.registry.deregister("moved");
    expect((await session.call({ name: "moved" })).worker).toBeUndefined();
  });

  it("a worker whose tool has just become another does not begin what was approved for the one before", async () => {
    const ran: string[] = [];
    const asks: Partial<AnyTool> = {
      permissions: ["memory:write"],
      effects: () => [{ action: "memory:write", resource: "all", mode: "write", ask: { reason: "sure?" } }],
    };
    const { front, workers } = await testCluster([named("same", {}, asks)], { workers: [[], []] });
    const session = await front.runtime.openSession({ approver: { ask: async () => "once" } });
    const { worker } = await session.call({ name: "same" });
    const there = workers.find((one) => one.worker.id === worker);
    const other = workers.find((one) => one.worker.id !== worker);
    const handler = () => ran.push("another");
    there?.at.registry.add(named("same", { path: { type: "string" } }, { ...asks, handler }));
    expect(await session.call({ name: "same" })).toMatchObject({
      ok: true,
      human: "same ran",
      worker: other?.worker.id,
    });
    expect(ran).toEqual([]);
  });

  it("a worker says which tools it has now, also when it takes long to find out which it had before", async () => {
    const { workers } = await testCluster([named("first")]);
    const [one] = workers;
    if (one === undefined) throw new Error("no worker");
    const { runtime, registry } = one.at;
    const list = runtime.listTools.bind(runtime);
    let late = 1;
    runtime.listTools = async (request) => {
      const listed = await list(request);
      if (late-- > 0) await pause(300);
      return listed;
    };
    const before = one.worker.record?.revision ?? 0;
    registry.add(named("second"));
    await pause(50);
    registry.add(named("third"));
    await eventually(() => expect(one.worker.record?.revision).toBeGreaterThanOrEqual(before + 2));
    expect(Object.keys(one.worker.record?.tools ?? {}).sort()).toEqual(["first", "second", "third"]);
  });
});
