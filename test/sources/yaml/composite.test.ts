import { describe, expect, test } from "vitest";
import { defineTool } from "../../../src/index.js";
import { ToolError } from "../../../src/tool/errors.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { yamlRuntime } from "./setup.js";

const calls: string[] = [];

const search = defineTool({
  name: "search",
  description: "Search",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  handler: ({ query }) => {
    calls.push(`search ${query}`);
    return {
      total: 2,
      hits: [
        { id: 7, name: "first" },
        { id: 8, name: "second" },
      ],
      asked: query,
    };
  },
}) as AnyTool;

const fetchOne = defineTool({
  name: "fetch_one",
  description: "Fetch",
  parameters: {
    type: "object",
    properties: { id: { type: "integer" }, note: { type: "string" } },
    required: ["id"],
  },
  permissions: ["network:fetch"],
  handler: ({ id, note }) => {
    calls.push(`fetch ${id} ${note ?? ""}`.trim());
    if (id === 8) throw new ToolError("eight is broken");
    return { id, text: `page ${id}` };
  },
}) as AnyTool;

function file(lines: string): Record<string, string> {
  const indented = lines
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return {
    "c.yaml": `tools:\n  - name: look\n    description: Look it up\n    type: composite\n${indented}\n`,
  };
}

async function run(lines: string, args: Record<string, unknown> = {}, options = {}) {
  calls.length = 0;
  const { call } = await yamlRuntime(file(lines), { tools: [search, fetchOne], ...options });
  return call("look", args);
}

const PARAMETERS =
  "parameters: [{ name: topic, type: string, required: true }, { name: deep, type: boolean }]";

describe("a composite", () => {
  test("runs its steps in order, each with values of the ones before", async () => {
    const done = await run(
      `${PARAMETERS}
steps:
  - { id: found, tool: search, arguments: { query: "about {{topic}}" } }
  - { id: page, tool: fetch_one, arguments: { id: "{{steps.found.hits[0].id}}", note: "{{steps.found.hits[0].name}}!" } }
result: { title: "{{topic}}", page: "{{steps.page}}", names: "{{steps.found.hits[*].name}}" }`,
      { topic: "cats" },
    );
    expect(calls).toEqual(["search about cats", "fetch 7 first!"]);
    expect(done.structured).toEqual({
      title: "cats",
      page: { id: 7, text: "page 7" },
      names: ["first", "second"],
    });
  });

  test("without a mapping answers with its last step", async () => {
    const done = await run(
      `steps: [{ tool: search, arguments: { query: a } }, { tool: fetch_one, arguments: { id: 7 } }]`,
    );
    expect(done.structured).toEqual({ id: 7, text: "page 7" });
  });

  test("skips a step whose condition does not hold", async () => {
    const lines = `${PARAMETERS}
steps:
  - { id: found, tool: search, arguments: { query: "{{topic}}" } }
  - { tool: fetch_one, if: "{{deep}}", arguments: { id: 1 } }
  - { tool: fetch_one, if: "$.steps.found.total > 1 && $.topic == 'x'", arguments: { id: 2 } }`;
    await run(lines, { topic: "x" });
    expect(calls).toEqual(["search x", "fetch 2"]);
    await run(lines, { topic: "y", deep: true });
    expect(calls).toEqual(["search y", "fetch 1"]);
  });

  test("repeats a step for each item of a list, within a bound", async () => {
    const lines = (more: string) => `steps:
  - { id: found, tool: search, arguments: { query: a } }
  - { id: pages, tool: fetch_one, for_each: "{{steps.found.hits}}", on_error: continue${more}, arguments: { id: "{{item.id}}", note: "{{index}}" } }
result: "{{steps.pages}}"`;
    const done = await run(lines(""));
    expect(JSON.parse((done.content[0] as { text: string }).text)).toEqual([
      { id: 7, text: "page 7" },
      { error: { code: "failed", message: expect.stringContaining("eight is broken") } },
    ]);
    const bounded = await run(lines(", max_items: 1"));
    expect(bounded.error?.message).toContain("2 items; at most 1");
  });

  test("stops at the first step that fails, and says which", async () => {
    const done = await run(`steps:
  - { id: bad, tool: fetch_one, arguments: { id: 8 } }
  - { tool: search, arguments: { query: never } }`);
    expect(done.error?.message).toContain("Step bad (fetch_one) failed");
    expect(calls).toEqual(["fetch 8"]);
  });

  test("has no more authority than the session: a denied step stays denied", async () => {
    const policy = {
      decide: ({ entry }: { entry: { name: string } }) =>
        entry.name === "fetch_one"
          ? { verdict: "deny" as const, rule: "test", reason: "not today" }
          : { verdict: "allow" as const, rule: "test" },
    };
    const done = await run("steps: [{ tool: fetch_one, arguments: { id: 7 } }]", {}, { policy });
    expect(done).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(calls).toEqual([]);
  });

  test("that names a tool which is not there says so when it runs", async () => {
    expect(await run("steps: [{ tool: nowhere }]")).toMatchObject({
      ok: false,
      error: { code: "failed", message: expect.stringContaining("nowhere") },
    });
  });

  test("tells how far it is", async () => {
    const { runtime, call } = await yamlRuntime(
      file("steps: [{ tool: search, arguments: { query: a } }, { tool: fetch_one, arguments: { id: 7 } }]"),
      { tools: [search, fetchOne] },
    );
    const told: unknown[] = [];
    runtime.events.on((event) => event.type === "call.progress" && told.push(event.progress));
    await call("look");
    expect(told).toEqual([
      { message: "step 1 of 2: search", fraction: 0 },
      { message: "step 2 of 2: fetch_one", fraction: 0.5 },
    ]);
  });

  test("that leads back to itself through another file is refused, and the other one stays", async () => {
    const composite = (name: string, tool: string) =>
      `tools: [{ name: ${name}, description: d, type: composite, steps: [{ tool: ${tool} }] }]`;
    const { runtime } = await yamlRuntime({ "a.yaml": composite("a", "b"), "b.yaml": composite("b", "a") });
    const [first, second] = runtime.sources.status();
    expect(first).toMatchObject({ state: "ready", tools: ["a"] });
    expect(second).toMatchObject({ state: "failed", reason: expect.stringContaining("b → a → b") });
  });

  test("cannot be reached from inside of its own steps, whatever they do", async () => {
    const again = defineTool({
      name: "again",
      description: "Calls a tool by its name",
      parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      handler: async ({ name }, ctx) => {
        const tools = ctx.openTools({});
        const done = await tools.call({ name, arguments: {} });
        tools.close();
        return { inner: done.error?.code ?? "it ran" };
      },
    }) as AnyTool;
    const { call } = await yamlRuntime(file("steps: [{ tool: again, arguments: { name: look } }]"), {
      tools: [again],
    });
    expect((await call("again", { name: "look" })).structured).toEqual({ inner: "it ran" });
    expect((await call("look")).structured).toMatchObject({
      inner: expect.stringMatching(/not_found|out_of_scope/),
    });
  });

  test("may call a step by any name", async () => {
    const done = await run(`steps:
  - { id: __proto__, tool: search, arguments: { query: a } }
result: "{{steps.__proto__.total}}"`);
    expect(done).toMatchObject({ ok: true, content: [{ text: "2" }] });
  });
});
