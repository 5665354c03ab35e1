import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { tempDir, testRuntime } from "../support/runtime.js";

it("what changes on purpose reaches availability at once, with an event", async () => {
  let ready = true;
  const checked = {
    ...defineTool({ name: "checked", description: "x", parameters: { type: "object" }, handler: () => "x" }),
    checkFn: () => ready,
  } as AnyTool;
  const { runtime } = await testRuntime([checked]);
  const turned: unknown[] = [];
  runtime.events.on((event) => {
    if (event.type === "tool.availability") turned.push(event);
  });
  const names = async () => (await runtime.getToolDefinitions()).map((each) => each.function.name);
  expect(await names()).toEqual(["checked"]);
  ready = false;
  expect(await names()).toEqual(["checked"]);
  await runtime.invalidate();
  expect(turned).toHaveLength(1);
  expect(await names()).toEqual([]);
  ready = true;
  await runtime.invalidate();
  expect(await names()).toEqual(["checked"]);
});

it("a program that is installed meanwhile is found without waiting for half a minute", async () => {
  const bin = tempDir();
  const needing = {
    ...defineTool({
      name: "needing",
      description: "x",
      parameters: { type: "object" },
      handler: () => "ran",
    }),
    needs: { programs: ["hermes-test-program"] },
  } as AnyTool;
  const { runtime } = await testRuntime([needing], { env: { PATH: bin, HOME: bin } });
  const session = await runtime.openSession();
  expect((await session.call({ name: "needing" })).error?.code).toBe("unavailable");
  writeFileSync(join(bin, "hermes-test-program"), "#!/bin/sh\n");
  chmodSync(join(bin, "hermes-test-program"), 0o755);
  await expect.poll(async () => (await session.call({ name: "needing" })).ok, { timeout: 10_000 }).toBe(true);
});
