import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findClipboard } from "../../../src/tools/system/clipboard/find-clipboard.js";
import clipboard from "../../../src/tools/system/clipboard.js";
import { notInstalled } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";
import { makeContext, type TestContext } from "../context.js";

const use = async (ctx: TestContext, args: Parameters<typeof clipboard.handler>[0]) =>
  (await clipboard.handler(args, ctx)) as unknown as Record<string, unknown>;

describe("clipboards of a session", () => {
  test("pass text from one call to the next, by name, and end with the session", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession({});
    const call = (args: object) => session.call({ name: "clipboard", arguments: args });
    const text = "zwei\nZeilen ✓";
    expect((await call({ action: "write", name: "a", text })).structured).toMatchObject({
      length: text.length,
      backend: "session",
    });
    expect((await call({ action: "read", name: "a" })).structured).toMatchObject({ text });
    expect((await call({ action: "read", name: "b" })).error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("a"),
    });
    await call({ action: "clear", name: "a" });
    expect((await call({ action: "read", name: "a" })).error?.code).toBe("not_found");
    await call({ action: "write", name: "a", text });
    const other = await runtime.openSession({});
    const elsewhere = await other.call({ name: "clipboard", arguments: { action: "read", name: "a" } });
    expect(elsewhere.error?.code).toBe("not_found");
  });

  test("stand in where there is no desktop, and say so", async () => {
    vi.stubEnv("DISPLAY", "");
    vi.stubEnv("WAYLAND_DISPLAY", "");
    vi.stubEnv("WSL_DISTRO_NAME", "");
    const ctx = makeContext();
    try {
      expect(await use(ctx, { action: "write", text: "x" })).toMatchObject({
        backend: "session",
        note: expect.stringContaining("no desktop"),
      });
      expect(await use(ctx, { action: "read" })).toMatchObject({ text: "x", backend: "session" });
    } finally {
      vi.unstubAllEnvs();
      await ctx.cleanUp();
    }
  });

  test("what is too much is refused", async () => {
    const ctx = makeContext();
    const text = "x".repeat(9_000_000);
    await use(ctx, { action: "write", name: "a", text });
    await expect(use(ctx, { action: "write", name: "b", text })).rejects.toMatchObject({
      code: "over_budget",
    });
    await use(ctx, { action: "write", name: "a", text: "y" });
    await use(ctx, { action: "write", name: "b", text });
    await ctx.cleanUp();
  });
});

test("no text ever stands in a command line", () => {
  const text = "'; rm -rf / #";
  for (const platform of ["darwin", "win32", "linux"] as const) {
    const found = findClipboard({ platform, env: { DISPLAY: ":0", PATH: process.env.PATH } });
    const program = found?.write(text);
    if (program !== undefined) expect(program).toMatchObject({ stdin: text });
    expect(program?.argv.join(" ") ?? "").not.toContain("rm -rf");
  }
});

const missing = notInstalled("Xvfb", "xclip", "xsel");

describe("a real X clipboard", () => {
  let server: ChildProcess | undefined;
  let display = "";

  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
  });

  beforeAll(async () => {
    if (missing !== undefined) return;
    const started = spawn(
      "Xvfb",
      ["-displayfd", "3", "-noreset", "-nolisten", "tcp", "-screen", "0", "64x64x8"],
      {
        stdio: ["ignore", "ignore", "ignore", "pipe"],
      },
    );
    server = started;
    display = await new Promise<string>((resolve, reject) => {
      started.stdio[3]?.once("data", (bytes: Buffer) => resolve(`:${bytes.toString().trim()}`));
      started.once("exit", () => reject(new Error("Xvfb did not start")));
    });
  });
  afterAll(async () => {
    if (server === undefined) return;
    const ended = once(server, "exit");
    server.kill();
    await ended;
  });

  test.each(["xclip", "xsel"])("%s carries text both ways and clears", async (program) => {
    const ctx = makeContext();
    vi.stubEnv("DISPLAY", display);
    vi.stubEnv("WAYLAND_DISPLAY", "");
    // A PATH on which only this one is found.
    const path = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim();
    symlinkSync(path, `${ctx.folder}/${program}`);
    vi.stubEnv("PATH", ctx.folder);
    try {
      const text = "--not an option\n$(id) ünï ✓\n\n";
      expect(await use(ctx, { action: "write", text })).toMatchObject({
        backend: program,
        length: text.length,
      });
      expect(await use(ctx, { action: "read" })).toMatchObject({ text, backend: program });
      const large = "0123456789".repeat(program === "xsel" ? 300 : 60_000);
      await use(ctx, { action: "write", text: large });
      expect((await use(ctx, { action: "read" })).text === large).toBe(true);
      await use(ctx, { action: "clear" });
      expect(await use(ctx, { action: "read" })).toMatchObject({ text: "", backend: program });
    } finally {
      vi.unstubAllEnvs();
      await ctx.cleanUp();
    }
  });

  test("a display that does not answer leaves the text with the session", async () => {
    const ctx = makeContext();
    vi.stubEnv("DISPLAY", ":9999");
    vi.stubEnv("WAYLAND_DISPLAY", "");
    try {
      expect(await use(ctx, { action: "write", text: "kept" })).toMatchObject({
        backend: "session",
        note: expect.stringContaining("did not answer"),
      });
      expect(await use(ctx, { action: "read" })).toMatchObject({ text: "kept", backend: "session" });
    } finally {
      vi.unstubAllEnvs();
      await ctx.cleanUp();
    }
  });
});
