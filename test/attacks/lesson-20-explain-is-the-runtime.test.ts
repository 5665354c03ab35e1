import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

describe("lessons 20 and 21: what is explained is what happens, and what is off cannot be called", () => {
  const names = ["ant", "bee", "cat", "dog"];
  const tools = names.map((name, index) =>
    tool(name, () => "ran", {
      toolset: index < 2 ? "first" : "second",
      aliases: [`${name}_alias`],
      checkFn: () => (name === "cat" ? { ok: false, reason: "no key", fix: "set KEY" } : true),
    }),
  );

  it("for any choice of toolsets, the list, the definitions, explain and a call agree about every tool", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.subarray(["first", "second", "all", "bee"]), { nil: undefined }),
        fc.subarray(["first", "second", "ant"]),
        async (enabled, disabled) => {
          const { runtime } = await testRuntime(tools as AnyTool[]);
          const session = await runtime.openSession({
            ...(enabled !== undefined && { toolsets: enabled }),
            disabledToolsets: disabled,
          });
          const defined = (await session.definitions()).map((each) => each.function.name);
          const listed = await runtime.listTools({
            ...(enabled !== undefined && { enabled }),
            disabled,
          });
          for (const name of names) {
            const row = listed.find((each) => each.name === name);
            const usable = row?.enabled === true && row.available;
            expect([name, defined.includes(name)]).toEqual([name, usable]);
            for (const spelling of [name, `${name}_alias`, `functions.${name}`, name + name]) {
              const result = await session.call({ name: spelling });
              const explained = await session.explainCall({ name: spelling });
              expect([spelling, result.ok]).toEqual([spelling, usable]);
              expect([spelling, explained.ok, explained.error?.code]).toEqual([
                spelling,
                result.ok,
                result.error?.code,
              ]);
              if (row?.enabled !== true) expect(result.error?.code).toBe("not_found");
              else if (!row.available) expect(result.error?.code).toBe("unavailable");
            }
            if (row?.enabled !== true) expect(row?.because).toMatch(/disabled|no enabled toolset/);
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it("a tool that the person disables in the configuration cannot be called by any of its names", async () => {
    const { runtime } = await testRuntime(tools as AnyTool[], { flags: { "tools.disabled": ["ant_alias"] } });
    const session = await runtime.openSession({ toolsets: ["all", "ant"] });
    for (const name of ["ant", "ant_alias", "tools.ant", "ANT"]) {
      expect([name, (await session.call({ name })).error?.code]).toEqual([name, "not_found"]);
    }
  });

  it("dry runs and calls meet the same decision, and a dry run runs nothing and asks nobody", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    let asked = 0;
    const session = await runtime.openSession({
      approver: {
        async ask() {
          asked += 1;
          return "deny";
        },
      },
    });
    const calls = [
      { name: "terminal", arguments: { command: "rm -rf /" } },
      { name: "terminal", arguments: { command: "rm -rf ./x" } },
      { name: "write_file", arguments: { path: "a.txt", content: "x" } },
      { name: "write_file", arguments: { path: `${cwd}/.env`, content: "x" } },
      { name: "read_file", arguments: {} },
      { name: "nope" },
    ];
    for (const call of calls) {
      const explained = await session.explainCall(call);
      expect(asked).toBe(0);
      const result = await session.call(call);
      asked = 0;
      expect(explained.decision?.verdict).toBe(result.decision?.verdict);
      expect(explained.decision?.rule).toBe(result.decision?.rule);
      if (!explained.ok) expect(explained.error?.code).toBe(result.error?.code);
    }
  });
});
