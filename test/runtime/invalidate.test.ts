import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { watchForChanges } from "../../src/runtime/reload/watch-for-changes.js";
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

const needing = {
  ...defineTool({ name: "needing", description: "x", parameters: { type: "object" }, handler: () => "ran" }),
  needs: { programs: ["hermes-test-program"] },
} as AnyTool;

function install(bin: string): () => void {
  const program = join(bin, "hermes-test-program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return () => rmSync(program);
}

it("a program that comes or goes is noticed without waiting for half a minute", async () => {
  const bin = tempDir();
  const { runtime } = await testRuntime([needing], { env: { PATH: bin, HOME: bin } });
  const session = await runtime.openSession();
  expect((await session.call({ name: "needing" })).error?.code).toBe("unavailable");
  const called = async () => (await session.call({ name: "needing" })).ok;
  const remove = install(bin);
  await expect.poll(called, { timeout: 10_000 }).toBe(true);
  remove();
  await expect.poll(called, { timeout: 10_000 }).toBe(false);
});

it("where changes are watched, it is told before anybody asks", async () => {
  const bin = tempDir();
  const { runtime } = await testRuntime([needing], { env: { PATH: bin, HOME: bin } });
  await watchForChanges(runtime);
  const turned: boolean[] = [];
  runtime.events.on((event) => {
    if (event.type === "tool.availability") turned.push(event.available);
  });
  expect(await runtime.getToolDefinitions()).toEqual([]);
  const remove = install(bin);
  await expect.poll(() => turned, { timeout: 10_000 }).toEqual([true]);
  remove();
  await expect.poll(() => turned, { timeout: 10_000 }).toEqual([true, false]);
});
