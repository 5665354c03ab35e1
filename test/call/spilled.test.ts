import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineTool, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const rows = Array.from({ length: 4_000 }, (_, index) => ({ id: index, name: `row ${index}` }));
const log = Array.from({ length: 3_000 }, (_, index) => `line ${index} \\ of the "log"`).join("\n");

/** More digits than a JavaScript number can hold. */
const LONG_ID = "1290000000000000001";

const large = defineTool({
  name: "large",
  toolset: "mine",
  description: "Gives a large result",
  parameters: { type: "object", properties: { what: { type: "string" } } },
  handler: ({ what }) =>
    what === "ids"
      ? JSON.stringify({ rows, text: 'a "quoted" 12345678901234567890' }).replace(
          '"id":7,',
          `"id":${LONG_ID},`,
        )
      : what === "rows"
        ? { rows }
        : what === "log"
          ? { log }
          : what === "line"
            ? "x".repeat(200_000)
            : "y".repeat(900),
}) as AnyTool;

async function session(flags: Record<string, unknown> = {}, toolsets?: readonly string[]) {
  const { runtime } = await testRuntime([large], {
    builtins: true,
    flags: { "tool_budget.result_size_chars": 20_000, ...flags },
  });
  return runtime.openSession(toolsets === undefined ? {} : { toolsets });
}

describe("a result that was too large can be read back", () => {
  it.each(["rows", "log", "line"])("%s: no line is longer than a page shows", async (what) => {
    const opened = await session();
    const result = await opened.call({ name: "large", arguments: { what } });
    const path = result.spilled_to ?? "";
    const lines = readFileSync(path, "utf8").split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(1_500);
    expect(lines.length).toBeGreaterThan(100);
    const read = await opened.call({ name: "read_file", arguments: { path, offset: 100, limit: 3 } });
    expect(read.structured).toMatchObject({ content: expect.stringContaining(`100|${lines[99]}`) });
  });

  it("an object stays JSON where its texts are short, and its texts keep their lines where they are long", async () => {
    const opened = await session();
    const asRows = await opened.call({ name: "large", arguments: { what: "rows" } });
    expect(JSON.parse(readFileSync(asRows.spilled_to ?? "", "utf8"))).toEqual({ rows });
    const asLog = await opened.call({ name: "large", arguments: { what: "log" } });
    expect(readFileSync(asLog.spilled_to ?? "", "utf8")).toContain('\nline 1234 \\\\ of the \\"log\\"\n');
  });

  it("long ids are written as they were", async () => {
    const opened = await session();
    const result = await opened.call({ name: "large", arguments: { what: "ids" } });
    const written = readFileSync(result.spilled_to ?? "", "utf8");
    expect(written).toContain(`"id": ${LONG_ID},\n`);
    expect(written).toContain('"a \\"quoted\\" 12345678901234567890"');
  });

  it("a text of one line loses nothing but the line", async () => {
    const opened = await session();
    const result = await opened.call({ name: "large", arguments: { what: "line" } });
    expect(readFileSync(result.spilled_to ?? "", "utf8").replaceAll("\n", "")).toBe("x".repeat(200_000));
  });

  it.each([100, 700])("a limit of %d characters is kept", async (limit) => {
    const opened = await session({ "tool_budget.overrides": { large: limit } });
    const result = await opened.call({ name: "large", arguments: {} });
    expect(textOf(result.content).length).toBeLessThanOrEqual(limit);
    expect(readFileSync(result.spilled_to ?? "", "utf8")).toBe("y".repeat(900));
  });
});

describe("hints name the tools of the session", () => {
  it("in its vocabulary, and only where it has them", async () => {
    const told = async (flags: Record<string, unknown>, toolsets?: readonly string[]) => {
      const opened = await session(flags, toolsets);
      return textOf((await opened.call({ name: "large", arguments: { what: "rows" } })).content);
    };
    expect(await told({})).toContain("Read on with read_file:");
    expect(await told({ "tools.vocabulary": "book" })).toContain("Read on with file_read:");
    expect(await told({}, ["mine"])).toMatch(/^<persisted-output>(?![\s\S]*Read on)/);
  });
});
