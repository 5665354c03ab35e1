import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

async function withConfig(yaml: string) {
  const home = tempDir();
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), yaml);
  return testRuntime([], { builtins: true, home });
}

describe("lesson 19: an unknown name is an error with a suggestion, never silence", () => {
  it("in what a caller asks for", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    await expect(runtime.openSession({ toolsets: ["termnal"] })).rejects.toThrow(
      /Unknown toolset: termnal.*terminal/,
    );
    await expect(runtime.openSession({ disabledToolsets: ["fiel"] })).rejects.toThrow(
      /Unknown toolset: fiel/,
    );
    await expect(runtime.openSession({ profile: "readonly_reserch" })).rejects.toThrow(/readonly_research/);
    await expect(runtime.getToolDefinitions({ enabled: ["termnal"] })).rejects.toThrow(/terminal/);
    await expect(runtime.isToolsetAvailable("brwser")).rejects.toThrow(/browser/);
    expect(() => runtime.canonicalName("raed_file")).toThrow(/read_file/);
  });

  it("in the configuration: a name in a disable list that means nothing is not passed over", async () => {
    const { runtime, logged } = await withConfig("agent:\n  disabled_toolsets: [termnal]\n");
    const outcome = await runtime.openSession().then(
      () => logged.join("\n"),
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(/termnal/);
  });

  it("in the configuration: a disabled tool that means nothing is not passed over", async () => {
    const { runtime, logged } = await withConfig("tools:\n  disabled: [terminall]\n");
    const outcome = await runtime.openSession().then(
      () => logged.join("\n"),
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(/terminall/);
  });

  it("in what a model calls", async () => {
    const { runtime } = await testRuntime([tool("web_search", () => "x")]);
    const session = await runtime.openSession();
    const result = await session.call({ name: "web_serch" });
    expect(result.error).toMatchObject({ code: "not_found", hint: expect.stringContaining("web_search") });
  });

  it("a child asked to narrow to a name nobody knows gets nothing, not everything", async () => {
    const { runtime } = await testRuntime([tool("web_search", () => "x")]);
    const child = (await runtime.openSession()).openChild({ tools: ["web_serch"] });
    expect([...child.view.entries.keys()]).toEqual([]);
  });
});
