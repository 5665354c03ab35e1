import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { planStretches } from "../../src/call/batch.js";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const fileTool = (name: string, mode: "read" | "write"): AnyTool =>
  defineTool({
    name,
    description: "",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    permissions: [`file:${mode}`],
    effects: ({ path }, scope) => [{ action: `file:${mode}`, resource: `${scope.cwd}/${path}`, mode }],
    handler: () => "x",
  }) as AnyTool;

const shell = defineTool({
  name: "shell",
  description: "",
  parameters: { type: "object" },
  permissions: ["terminal:execute"],
  effects: () => [{ action: "terminal:execute", resource: "true", mode: "execute" }],
  handler: () => "x",
});
const clarify = defineTool({
  name: "clarify",
  description: "",
  parameters: { type: "object" },
  interactive: true,
  handler: () => "x",
});

async function stretchsOf(...calls: readonly (readonly [string, unknown?])[]) {
  const { runtime } = await testRuntime([
    fileTool("read", "read"),
    fileTool("write", "write"),
    shell as AnyTool,
    clarify as AnyTool,
  ]);
  const session = await runtime.openSession();
  const requests = calls.map(([name, args], index) => ({
    id: `${name}${index}`,
    name,
    arguments: args ?? {},
  }));
  return (await planStretches(requests, session.scope)).map((stretch) =>
    stretch.map((request) => request.id),
  );
}

describe("stretchs", () => {
  it("readers share one, a writer of the same path opens the next", async () => {
    expect(
      await stretchsOf(
        ["read", { path: "a" }],
        ["read", { path: "a" }],
        ["write", { path: "b" }],
        ["write", { path: "a" }],
        ["read", { path: "c" }],
      ),
    ).toEqual([
      ["read0", "read1", "write2"],
      ["write3", "read4"],
    ]);
  });

  it("a path clashes with everything below it", async () => {
    expect(await stretchsOf(["write", { path: "d" }], ["read", { path: "d/e/f" }])).toEqual([
      ["write0"],
      ["read1"],
    ]);
    expect(await stretchsOf(["write", { path: "d" }], ["read", { path: "dd" }])).toEqual([
      ["write0", "read1"],
    ]);
  });

  it("programs, questions to the person and unreadable calls stand alone", async () => {
    expect(await stretchsOf(["read", { path: "a" }], ["shell"], ["read", { path: "a" }])).toEqual([
      ["read0"],
      ["shell1"],
      ["read2"],
    ]);
    expect(await stretchsOf(["read", { path: "a" }], ["clarify"], ["clarify"])).toEqual([
      ["read0"],
      ["clarify1"],
      ["clarify2"],
    ]);
    expect(
      await stretchsOf(["read", { path: "a" }], ["read", "{"], ["nope"], ["read", { path: "b" }]),
    ).toEqual([["read0"], ["read1"], ["nope2"], ["read3"]]);
  });
});

describe("batches", () => {
  it("run at most eight calls at a time", async () => {
    let running = 0;
    let most = 0;
    const slow = defineTool({
      name: "slow",
      description: "",
      parameters: { type: "object" },
      async handler() {
        running += 1;
        most = Math.max(most, running);
        await wait(5);
        running -= 1;
        return "x";
      },
    });
    const { runtime } = await testRuntime([slow as AnyTool]);
    const results = await (await runtime.openSession()).callAll(
      Array.from({ length: 30 }, () => ({ name: "slow" })),
    );
    expect(results.filter((result) => result.ok)).toHaveLength(30);
    expect(most).toBe(8);
  });

  it("an interrupt in the middle answers every id, the rest without running", async () => {
    const ran: string[] = [];
    const controller = new AbortController();
    const step: AnyTool = {
      ...(shell as AnyTool),
      name: "step",
      parameters: { type: "object", properties: { id: { type: "string" } } },
      async handler(args: { id: string }, ctx) {
        ran.push(args.id);
        setTimeout(() => controller.abort(), 20);
        await wait(1_000, undefined, { signal: ctx.signal });
        return "x";
      },
    };
    const { runtime } = await testRuntime([step]);
    const results = await (await runtime.openSession()).callAll(
      ["a", "b", "c"].map((id) => ({ id, name: "step", arguments: { id } })),
      { signal: controller.signal },
    );
    expect(results.map((result) => [result.id, result.error?.code])).toEqual([
      ["a", "cancelled"],
      ["b", "cancelled"],
      ["c", "cancelled"],
    ]);
    expect(ran).toEqual(["a"]);
  });
});

describe("guardrails", () => {
  const failing = defineTool({
    name: "failing",
    description: "",
    parameters: { type: "object", properties: { n: {} } },
    handler: () => {
      throw new Error("no");
    },
  });
  const same = defineTool({
    name: "same",
    description: "",
    idempotent: true,
    parameters: { type: "object", properties: { n: {} } },
    handler: () => "s".repeat(600),
  });

  it("warn about the second identical failure and the third failure of a tool; stop mode blocks them later", async () => {
    const { runtime } = await testRuntime([failing as AnyTool]);
    const session = await runtime.openSession({ guardrails: "stop" });
    const codes: (string | undefined)[] = [];
    const notices: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const result = await session.call({ name: "failing", arguments: {} });
      codes.push(result.error?.code);
      notices.push(result.notices?.length ?? 0);
    }
    expect(codes).toEqual([...Array(5).fill("failed"), "over_budget"]);
    expect(notices[0]).toBe(0);
    expect(notices[1]).toBeGreaterThan(0);
    session.beginTurn();
    expect((await session.call({ name: "failing" })).error?.code).toBe("failed");
    for (let n = 0; n < 8; n += 1) await session.call({ name: "failing", arguments: { n } });
    expect((await session.call({ name: "failing", arguments: { n: 99 } })).error?.code).toBe("over_budget");
  });

  it("replace a long result the model already has by a short note", async () => {
    const { runtime } = await testRuntime([same as AnyTool]);
    const session = await runtime.openSession({ guardrails: "warn" });
    const first = await session.call({ id: "one", name: "same" });
    const second = await session.call({ id: "two", name: "same" });
    expect(first.content[0]).toMatchObject({ text: "s".repeat(600) });
    expect(second.content[0]).toMatchObject({ text: "[Same result as call one: 600 characters, unchanged]" });
    expect(second.notices?.join()).toContain("same answer 2 times");
  });

  it("see a cycle of calls", async () => {
    const { runtime } = await testRuntime([same as AnyTool, { ...(same as AnyTool), name: "other" }]);
    const session = await runtime.openSession({ guardrails: "warn" });
    let last: readonly string[] | undefined;
    for (let n = 0; n < 3; n += 1)
      for (const name of ["same", "other"]) last = (await session.call({ name })).notices;
    expect(last?.join()).toContain("cycle of 2");
  });

  it("are off for programs", async () => {
    const { runtime } = await testRuntime([same as AnyTool]);
    const session = await runtime.openSession();
    for (let n = 0; n < 10; n += 1) expect((await session.call({ name: "same" })).notices).toBeUndefined();
  });
});

describe("the guardrails.hard_stop setting", () => {
  const failing = defineTool({
    name: "failing",
    description: "",
    parameters: { type: "object" },
    handler: () => {
      throw new Error("no");
    },
  });
  const sixth = async (setting: string, guardrails?: "warn" | "stop") => {
    const { runtime } = await testRuntime([failing as AnyTool], {
      flags: { "guardrails.hard_stop": setting },
    });
    const session = await runtime.openSession(guardrails === undefined ? {} : { guardrails });
    for (let n = 0; n < 5; n += 1) await session.call({ name: "failing" });
    return (await session.call({ name: "failing" })).error?.code;
  };

  it("makes guarded sessions strict or lenient, and switches none on", async () => {
    expect(await sixth("on", "warn")).toBe("over_budget");
    expect(await sixth("auto", "warn")).toBe("failed");
    expect(await sixth("auto", "stop")).toBe("over_budget");
    expect(await sixth("off", "stop")).toBe("failed");
    expect(await sixth("on")).toBe("failed");
  });
});
