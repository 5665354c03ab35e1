import { expect, it } from "vitest";
import { BaseTool, type CallContext, ToolResult } from "../../src/index.js";
import { toolFromBase } from "../../src/tool/base-tool.js";
import { testRuntime } from "../support/runtime.js";

/** The tool of the source documents, with their fields and no others. */
class DatabaseQueryTool extends BaseTool {
  readonly name = "database_query_advanced";
  readonly description = "Execute queries";
  pool: string[] = [];

  override setup() {
    this.pool = ["connection"];
  }

  run(params: Readonly<Record<string, unknown>>, _context: CallContext) {
    return new ToolResult({ success: true, output: { query: params.query, pool: this.pool } });
  }

  override teardown() {
    this.pool = [];
  }
}

it("a BaseTool with name, description, setup, run and teardown is a tool", async () => {
  const { runtime, registry } = await testRuntime();
  registry.add(toolFromBase(new DatabaseQueryTool()));
  const session = await runtime.openSession();
  const result = await session.call({ name: "database_query_advanced", arguments: { query: "select 1" } });
  expect(result.structured).toEqual({ query: "select 1", pool: ["connection"] });
});
