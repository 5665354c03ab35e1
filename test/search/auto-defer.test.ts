import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../../src/index.js";
import { defineTool } from "../../src/tool/define.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { tempDir, testRuntime } from "../support/runtime.js";

const named = (name: string): AnyTool =>
  defineTool({
    name,
    description: `Does ${name}`,
    parameters: { type: "object", properties: {} },
    handler: () => name,
  });

/** Tools of a server, as it would bring them. */
async function runtimeWith(home: string, settings: Readonly<Record<string, unknown>>) {
  const registry = new ToolRegistry();
  for (const name of ["often", "rarely", "never"]) {
    registry.add(named(name), { provenance: { kind: "mcp", source: "server" } });
  }
  registry.add(named("mine"));
  return (await testRuntime([], { home, registry, journal: true, flags: settings })).runtime;
}

const ON = { "tools.tool_search.auto_defer": "true" };

async function used(home: string, calls: Readonly<Record<string, number>>): Promise<void> {
  const runtime = await runtimeWith(home, {});
  const session = await runtime.openSession();
  for (const [name, times] of Object.entries(calls)) {
    for (let time = 0; time < times; time += 1) await session.call({ name });
  }
  await runtime.close();
}

const told = async (runtime: Awaited<ReturnType<typeof runtimeWith>>) =>
  (await (await runtime.openSession()).definitions()).map(({ function: { name } }) => name);

describe("tools that are hardly ever used", () => {
  it("are hidden when asked to, found by the search, and the others stay listed", async () => {
    const home = tempDir();
    await used(home, { often: 110, rarely: 2 });
    expect(await told(await runtimeWith(home, {}))).toEqual(["mine", "never", "often", "rarely"]);

    const runtime = await runtimeWith(home, ON);
    const session = await runtime.openSession();
    expect((await session.definitions()).map(({ function: { name } }) => name)).toEqual([
      "mine",
      "often",
      "tool_call",
      "tool_describe",
      "tool_search",
    ]);
    const found = await session.call({ name: "tool_search", arguments: { query: "does never" } });
    expect(JSON.stringify(found.structured)).toContain('"total_available":2');
    const called = await session.call({ name: "tool_call", arguments: { name: "never", arguments: {} } });
    expect(called).toMatchObject({ ok: true, name: "never" });
    const listed = await session.call({ name: "tool_call", arguments: { name: "often", arguments: {} } });
    expect(listed.error?.message).toContain("often is not behind the tool search");
  });

  it("what a session was told stays, whatever is used meanwhile; the next one is told anew", async () => {
    const home = tempDir();
    await used(home, { often: 110 });
    const runtime = await runtimeWith(home, ON);
    const session = await runtime.openSession();
    const before = JSON.stringify(await session.definitions());
    for (let time = 0; time < 5; time += 1) await session.call({ name: "never" });
    expect(JSON.stringify(await session.definitions())).toBe(before);
    await runtime.close();
    expect(await told(await runtimeWith(home, ON))).toContain("never");
  });

  it("nothing is hidden before there is enough on record, or where the search is off", async () => {
    const home = tempDir();
    await used(home, { often: 50 });
    expect(await told(await runtimeWith(home, ON))).toEqual(["mine", "never", "often", "rarely"]);
    await used(home, { often: 60 });
    const off = { ...ON, "tools.tool_search.enabled": "off" };
    expect(await told(await runtimeWith(home, off))).toEqual(["mine", "never", "often", "rarely"]);
  });

  it("what is left may still be too much: then everything is hidden as before", async () => {
    const home = tempDir();
    await used(home, { often: 110 });
    const tight = { ...ON, "tools.tool_search.context_tokens": "100" };
    expect(await told(await runtimeWith(home, tight))).toEqual([
      "mine",
      "tool_call",
      "tool_describe",
      "tool_search",
    ]);
  });
});
