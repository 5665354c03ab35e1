import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Deferred, deferred } from "../../src/base/deferred.js";
import type { Journal } from "../../src/call/journal.js";
import { defineTool } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

/** A real journal whose intents reach the disk when the test says so. */
function heldBack(journal: Journal): Deferred<void> {
  const disk = deferred<void>();
  const begin = journal.begin.bind(journal);
  journal.begin = async (intent) => {
    await disk.promise;
    return begin(intent);
  };
  return disk;
}

async function setUp(changesOnlyFiles: boolean) {
  const begun = deferred<void>();
  const write = defineTool({
    name: "writes",
    toolset: "test",
    description: "Writes a file.",
    parameters: { type: "object", properties: {} },
    permissions: ["file:write"],
    changesOnlyFiles,
    effects: (_args, { cwd }) => [{ action: "file:write", resource: join(cwd, "a.txt"), mode: "write" }],
    async handler(_args, ctx) {
      begun.resolve();
      await ctx.environment.files.write(join(ctx.session.cwd, "a.txt"), Buffer.from("written"));
      return "done";
    },
  });
  const { runtime, cwd } = await testRuntime([write], { journal: true });
  const session = await runtime.openSession();
  const disk = heldBack(await runtime.journal());
  return { session, disk, begun, file: join(cwd, "a.txt") };
}

test("a tool that changes only files begins before its intent is on the disk; its first change waits", async () => {
  const { session, disk, begun, file } = await setUp(true);
  const result = session.call({ name: "writes" });
  await begun.promise;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(existsSync(file)).toBe(false);
  disk.resolve();
  expect(await result).toMatchObject({ ok: true });
  expect(readFileSync(file, "utf8")).toBe("written");
});

test("an intent that cannot be written down ends the call before anything is changed", async () => {
  const { session, disk, file } = await setUp(true);
  const result = session.call({ name: "writes" });
  disk.reject(new Error("no space left"));
  expect((await result).error).toMatchObject({
    code: "internal",
    message: expect.stringContaining("could not be journaled, so it was not run: no space left"),
    hint: "Check the disk that holds the Hermes home.",
  });
  expect(existsSync(file)).toBe(false);
});

test("any other tool that changes something does not begin before that", async () => {
  const { session, disk, begun } = await setUp(false);
  let hasBegun = false;
  void begun.promise.then(() => {
    hasBegun = true;
  });
  const result = session.call({ name: "writes" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(hasBegun).toBe(false);
  disk.resolve();
  expect(await result).toMatchObject({ ok: true });
});
