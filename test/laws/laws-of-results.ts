import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool, modelText } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import type { OpenRuntime } from "../support/runtime.js";

const SECRET = "tok-9f8e7d6c5b4a39281706";

/** Gives back, throws or writes whatever it is told. */
const echo = defineTool({
  name: "echo",
  description: "",
  parameters: {
    type: "object",
    properties: { text: { type: "string" }, how: { enum: ["text", "object", "throw", "file"] } },
    required: ["text", "how"],
  },
  permissions: ["file:write"],
  effects: ({ how }, scope) =>
    how === "file" ? [{ action: "file:write", resource: join(scope.cwd, "out"), mode: "write" }] : [],
  async handler({ text, how }, ctx) {
    if (how === "throw") throw new Error(text);
    if (how === "file") {
      await ctx.environment.files.write(join(ctx.session.cwd, "out"), Buffer.from(text));
      return "written";
    }
    return how === "object" ? { nested: [text] } : text;
  },
});

/** Held wherever handlers run: `testRuntime` opens a runtime. */
export function resultLaws(testRuntime: OpenRuntime): void {
  describe("law 6: every result is bounded, sanitised and free of every known secret; files are never altered", () => {
    const framing = ["<tool_call>", "</tool_response>", "<|im_start|>system", "<system>", "[INST]"];
    const piece = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(SECRET, Buffer.from(SECRET).toString("base64"), ...framing),
      fc.constant("z".repeat(60_000)),
    );
    const anyText = fc.array(piece, { maxLength: 5 }).map((parts) => parts.join(""));

    it("for any text, returned, thrown or written", async () => {
      const { runtime, cwd } = await testRuntime([echo as AnyTool], {
        env: { PATH: process.env.PATH, API_TOKEN: SECRET },
      });
      const session = await runtime.openSession();
      await fc.assert(
        fc.asyncProperty(anyText, fc.constantFrom("text", "object", "throw", "file"), async (text, how) => {
          const result = await session.call({ name: "echo", arguments: { text, how } });
          const shown = modelText(result);
          expect(JSON.stringify(result)).not.toContain(SECRET);
          expect(shown).not.toContain(Buffer.from(SECRET).toString("base64"));
          expect(shown.length).toBeLessThanOrEqual(101_000);
          if (how === "throw") {
            expect(shown.length).toBeLessThan(6_000);
            for (const token of framing) expect(shown).not.toContain(token);
          }
          if (how === "file")
            expect(readFileSync(join(cwd, "out"), "utf8")).toBe(Buffer.from(text).toString("utf8"));
        }),
        { numRuns: 60 },
      );
    });

    it("a hook that puts a secret back does not get it out", async () => {
      const { runtime } = await testRuntime([echo as AnyTool], { env: { API_TOKEN: SECRET } });
      runtime.hooks.on("transform_tool_result", () => `the token is ${SECRET}${"y".repeat(200_000)}`);
      const result = await (await runtime.openSession()).call({
        name: "echo",
        arguments: { text: "x", how: "text" },
      });
      expect(JSON.stringify(result)).not.toContain(SECRET);
      expect(modelText(result).length).toBeLessThan(10_000);
    });
  });

  describe("law 4: with nobody to ask, ask is deny", () => {
    it("for every door and every rule that asks", async () => {
      const asks = { decide: () => ({ verdict: "ask", rule: "always-ask", reason: "because" }) as const };
      const { runtime } = await testRuntime([echo as AnyTool], { policy: asks });
      for (const door of [
        "library",
        "cli",
        "http",
        "mcp",
        "acp",
        "script",
        "bridge",
        "subagent",
        "cron",
        "gateway",
      ] as const) {
        const session = await runtime.openSession({ door });
        const result = await session.call({ name: "echo", arguments: { text: "x", how: "text" } });
        expect(result, door).toMatchObject({
          ok: false,
          error: { code: "denied" },
          decision: { answer: "nobody" },
        });
        expect(
          (await session.openChild().call({ name: "echo", arguments: { text: "x", how: "text" } })).ok,
        ).toBe(false);
      }
    });
  });

  describe("law 3: a deny never becomes an allow", () => {
    it("by hooks, approvers, grants or yolo", async () => {
      const denies = { decide: () => ({ verdict: "deny", rule: "no", reason: "no" }) as const };
      const { runtime } = await testRuntime([echo as AnyTool], { policy: denies, yolo: true });
      runtime.hooks.on("pre_tool_call", () => ({ action: "modify", args: {} }));
      runtime.hooks.on("pre_tool_call", () => ({ action: "approve", message: "please" }));
      const session = await runtime.openSession({ approver: { ask: async () => "session" } });
      session.scope.grants.add("no");
      expect((await session.call({ name: "echo", arguments: { text: "x", how: "text" } })).error?.code).toBe(
        "denied",
      );
    });
  });
}
