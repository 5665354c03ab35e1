import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Guardrails } from "../../src/call/guardrails.js";
import { serve, WAYS } from "./mcp/support.js";
import { startServer } from "./support.js";

const LIST = [{ id: "1", content: "paint the fence", status: "pending" }];

/** MCP clients of 2026 share a session unless they name one. */
const OWN_WAYS = WAYS.filter(([carrier, revision]) => carrier === "stdio" || revision === "2025-11-25");

describe.each(OWN_WAYS)("a model behind MCP over %s, %s", (carrier, revision) => {
  it("has a task list, and is told when it repeats itself", async () => {
    const { connect } = await serve([carrier, revision], { tools: [], runtime: { builtins: true } });
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("todo");
    await client.callTool({ name: "todo", arguments: { todos: LIST } });
    const read = await client.callTool({ name: "todo", arguments: {} });
    expect(JSON.stringify(read.content)).toContain("paint the fence");
    const miss = () => client.callTool({ name: "read_file", arguments: { path: "nothing.txt" } });
    await miss();
    expect(JSON.stringify((await miss()).content)).toContain("has failed 2 times");
  });
});

describe("a model behind /v1/tool_calls", () => {
  const named = { "x-hermes-session": "one" };
  const call = (name: string, args: unknown) => ({
    tool_calls: [{ id: "c", function: { name, arguments: args } }],
  });

  it("has a task list in a session that it names, and none without", async () => {
    const { calls } = await startServer([], { runtime: { builtins: true } });
    await calls(call("todo", { todos: LIST }), { headers: named });
    expect(await (await calls(call("todo", {}), { headers: named })).text()).toContain("paint the fence");
    const other = await calls(call("todo", {}), { headers: { "x-hermes-session": "two" } });
    expect(await other.text()).not.toContain("paint the fence");
    expect(await (await calls(call("todo", { todos: LIST }))).text()).toContain("error");
  });

  it("is told when it repeats itself, and gets the same file whole as often as it asks", async () => {
    const { calls, cwd } = await startServer([], { runtime: { builtins: true } });
    writeFileSync(join(cwd, "long.txt"), "fox ".repeat(500));
    const read = async () =>
      (await calls(call("read_file", { path: "long.txt" }), { headers: named })).text();
    const first = await read();
    const second = await read();
    expect(first).toContain("fox fox");
    expect(second).toContain("fox fox");
    expect(second).toContain("gave the same answer 2 times");
  });
});

describe("guardrails where turns are not seen", () => {
  afterEach(() => void vi.useRealTimers());

  it("take a pause for a turn", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const guardrails = new Guardrails("stop", { turnsUnseen: true });
    const made = { tool: "x", args: {}, idempotent: false, tolerant: false };
    const fail = () => {
      const refused = guardrails.before(made);
      if (refused === undefined) guardrails.after({ ...made, callId: "c", ok: false, text: "no" });
      return refused?.code;
    };
    expect(Array.from({ length: 6 }, fail).at(-1)).toBe("over_budget");
    vi.setSystemTime(Date.now() + 61_000);
    expect(fail()).toBeUndefined();
  });
});
