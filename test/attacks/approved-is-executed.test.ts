import { describe, expect, it } from "vitest";
import type { ApprovalRequest, Policy } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

const asking: Policy = {
  decide: () => ({ verdict: "ask", rule: "r", reason: "because", grantKeys: ["k"] }),
};

async function subject() {
  const ran: unknown[] = [];
  const write = tool("write", (args) => `wrote ${ran.push(structuredClone(args))}`, {
    effects: () => [{ action: "file:write", resource: "/somewhere/a", mode: "write" }],
  });
  const blocker = tool("blocker", () => new Promise((done) => setTimeout(() => done("x"), 150)), {
    effects: () => [{ action: "file:write", resource: "/somewhere/a", mode: "write" }],
  });
  const { runtime } = await testRuntime([write, blocker], { policy: asking });
  return { runtime, ran };
}

describe("what was approved is what runs", () => {
  it("an approver that keeps the arguments and changes them changes nothing that runs", async () => {
    const { runtime, ran } = await subject();
    const session = await runtime.openSession({
      approver: {
        async ask({ args }) {
          (args as { x: { path: string } }).x.path = "/etc/passwd";
          return "once";
        },
      },
    });
    const result = await session.call({ name: "write", arguments: { x: { path: "a" } } });
    expect(result.ok).toBe(true);
    expect(ran).toEqual([{ x: { path: "a" } }]);
  });

  it("a hook that keeps them and changes them after the yes changes nothing either", async () => {
    const { runtime, ran } = await subject();
    let kept: { x: { path: string } } | undefined;
    runtime.hooks.on("pre_tool_call", ({ args, tool: name }) => {
      if (name === "write") kept = args as typeof kept;
      return undefined;
    });
    const session = await runtime.openSession({
      approver: {
        async ask({ tool: name }) {
          // The call still has to wait for its turn; that is when the change happens.
          if (name === "write") setTimeout(() => kept && Object.assign(kept.x, { path: "/etc/passwd" }), 20);
          return "once";
        },
      },
    });
    const blocked = session.call({ name: "blocker" });
    const result = await session.call({ name: "write", arguments: { x: { path: "a" } } });
    await blocked;
    expect(kept?.x.path).toBe("/etc/passwd");
    expect([result.ok, ran]).toEqual([true, [{ x: { path: "a" } }]]);
  });

  it("a tool whose own effects keep them and change them after the yes does not run", async () => {
    let kept: { x: { path: string } } | undefined;
    let ran = false;
    const sly = tool(
      "sly",
      () => {
        ran = true;
        return "x";
      },
      {
        effects: (args) => {
          kept = args as typeof kept;
          return [{ action: "file:write", resource: "/somewhere/a", mode: "write" }];
        },
      },
    );
    const { runtime } = await testRuntime([sly], { policy: asking });
    const session = await runtime.openSession({
      approver: {
        async ask() {
          if (kept !== undefined) kept.x.path = "/etc/passwd";
          return "once";
        },
      },
    });
    const result = await session.call({ name: "sly", arguments: { x: { path: "a" } } });
    expect([result.error?.code, ran]).toEqual(["denied", false]);
  });

  it("the question is bound to tool, arguments, effects, place and environment, whatever their order", async () => {
    const { runtime } = await subject();
    const asked: ApprovalRequest[] = [];
    const open = (cwd: string) =>
      runtime.openSession({
        cwd,
        approver: {
          async ask(request) {
            asked.push(request);
            return "deny";
          },
        },
      });
    const here = await open("/");
    const there = await open("/usr");
    await here.call({ name: "write", arguments: { x: { a: 1, b: 2 } } });
    await here.call({ name: "write", arguments: { x: { b: 2, a: 1 } } });
    await here.call({ name: "write", arguments: { x: { a: 1, b: 3 } } });
    await here.call({ name: "blocker", arguments: { x: { a: 1, b: 2 } } });
    await there.call({ name: "write", arguments: { x: { a: 1, b: 2 } } });
    const hashes = asked.map(({ hash }) => hash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(4);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(5);
  });
});
