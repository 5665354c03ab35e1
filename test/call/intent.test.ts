import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Deferred, deferred } from "../../src/base/deferred.js";
import type { Journal } from "../../src/call/journal.js";
import { defineTool } from "../../src/index.js";
import terminal from "../../src/tools/system/terminal.js";
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

async function setUp(changesThroughEnvironment: boolean) {
  const begun = deferred<void>();
  const write = defineTool({
    name: "writes",
    toolset: "test",
    description: "Writes a file.",
    parameters: { type: "object", properties: {} },
    permissions: ["file:write"],
    changesThroughEnvironment,
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
  expect(await result).toMatchObject({
    state: "not_started",
    error: {
      code: "internal",
      message: expect.stringContaining("could not be journaled, so it was not run: no space left"),
      hint: "Check the disk that holds the Hermes home.",
    },
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

const COMMAND = { action: "terminal:execute", resource: "touch a.txt", mode: "execute" } as const;

test("a command is made ready before its intent is on the disk, and started after that", async () => {
  const begun = deferred<void>();
  const runs = defineTool({
    name: "runs",
    toolset: "test",
    description: "Runs a command.",
    parameters: { type: "object", properties: {} },
    permissions: ["terminal:execute"],
    changesThroughEnvironment: true,
    effects: () => [COMMAND],
    async handler(_args, ctx) {
      begun.resolve();
      const { cwd } = ctx.session;
      const { exitCode } = await ctx.environment.exec({
        command: "touch a.txt",
        cwd,
        timeoutMs: 10_000,
        signal: ctx.signal,
      });
      return { exitCode };
    },
  });
  const { runtime, cwd } = await testRuntime([runs], { journal: true, yolo: true });
  const session = await runtime.openSession();
  const disk = heldBack(await runtime.journal());
  const result = session.call({ name: "runs" });
  await begun.promise;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  disk.resolve();
  expect(await result).toMatchObject({ ok: true, structured: { exitCode: 0 } });
  expect(existsSync(join(cwd, "a.txt"))).toBe(true);
});

test("terminal runs nothing when its intent cannot be written down", async () => {
  const { runtime, cwd } = await testRuntime([terminal], { journal: true, yolo: true });
  const session = await runtime.openSession();
  const disk = heldBack(await runtime.journal());
  disk.reject(new Error("no space left"));
  for (const more of [{}, { background: true }, { pty: true }]) {
    const result = await session.call({ name: "terminal", arguments: { command: "touch a.txt", ...more } });
    expect(result).toMatchObject({
      state: "not_started",
      error: {
        code: "internal",
        message: expect.stringContaining("could not be journaled, so it was not run: no space left"),
      },
    });
  }
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
});
