import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

it("an end that was seen is not told again", async () => {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession();
  const start = async (command: string) => {
    const args = { command, background: true, notify_on_complete: true };
    const started = await session.call({ name: "terminal", arguments: args });
    return (started.structured as { session_id: string }).session_id;
  };
  const waited = await start("sleep 0.2");
  await session.call({ name: "process", arguments: { action: "wait", session_id: waited } });
  // It ends after its start was told: an end that the start itself tells of has been seen.
  const unseen = await start("until [ -e go ]; do sleep 0.02; done");
  writeFileSync(join(cwd, "go"), "");
  const patience = { timeout: 30_000 };
  await expect.poll(() => session.scope.processes.get(unseen).info.status, patience).toBe("exited");
  const told: string[] = [];
  await expect
    .poll(() => {
      told.push(...session.takeNotices().map((notice) => notice.process));
      return told;
    }, patience)
    .toEqual([unseen]);
});

it("what a server says of its credentials in an error is masked", async () => {
  const failing = defineTool({
    name: "failing",
    description: "Fails like a server",
    parameters: { type: "object" },
    handler: () => {
      throw new Error("401 for Authorization: Bearer 9f8e7d6c5b4a39281706 at /x?token=q1w2e3r4t5y6u7i8");
    },
  }) as AnyTool;
  const { runtime } = await testRuntime([failing]);
  const result = JSON.stringify(await (await runtime.openSession()).call({ name: "failing" }));
  expect(result).not.toMatch(/9f8e7d6c5b4a|q1w2e3r4/);
  expect(result).toContain("401");
});
