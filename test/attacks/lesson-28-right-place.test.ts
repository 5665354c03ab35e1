import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";

describe("lesson 28: a file tool says where it wrote, and shares the terminal's folder", () => {
  it("path, environment and a check after writing are in the result; the shell sees the same file", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession();
    const [written, seen] = await session.callAll([
      { name: "write_file", arguments: { path: "deep/er/note.txt", content: "hello\n" } },
      { name: "terminal", arguments: { command: "cat deep/er/note.txt; pwd -P" } },
    ]);
    expect(written?.structured).toMatchObject({
      path: join(cwd, "deep/er/note.txt"),
      environment: "local",
      verified: "inode",
      created: true,
    });
    expect(written?.environment).toBe("local");
    expect(seen?.structured).toMatchObject({ output: `hello\n${cwd}\n` });
  });

  it("two sessions in two folders never meet", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const folders = [tempDir(), tempDir()];
    const sessions = await Promise.all(folders.map((cwd) => runtime.openSession({ cwd })));
    await Promise.all(
      sessions.flatMap((session, index) => [
        session.call({ name: "write_file", arguments: { path: "who.txt", content: `session ${index}` } }),
        session.call({ name: "terminal", arguments: { command: `pwd -P > where.txt` } }),
      ]),
    );
    for (const [index, folder] of folders.entries()) {
      expect(readFileSync(join(folder, "who.txt"), "utf8")).toBe(`session ${index}`);
      expect(readFileSync(join(folder, "where.txt"), "utf8")).toBe(`${folder}\n`);
    }
  });

  it("a folder that is gone is an error, never another folder", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession({ cwd: join(tempDir(), "gone") });
    const result = await session.call({ name: "terminal", arguments: { command: "touch here" } });
    expect(result.ok).toBe(false);
    expect(result.error?.message).toContain("does not exist");
  });

  it("what cannot be written is no success, whoever tries", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    writeFileSync(join(cwd, "file"), "old");
    const session = await runtime.openSession();
    // A file where a folder would have to be stops even the superuser.
    const result = await session.call({ name: "write_file", arguments: { path: "file/a", content: "x" } });
    expect(result.ok).toBe(false);
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("old");
  });

  it("a full disk is no success and leaves the old file whole", async () => {
    if (!existsSync("/dev/full")) return;
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    symlinkSync("/dev/full", join(cwd, "full"));
    writeFileSync(join(cwd, "keep"), "old");
    const session = await runtime.openSession();
    const result = await session.call({
      name: "write_file",
      arguments: { path: "full", content: "x".repeat(9_000) },
    });
    expect(result.ok).toBe(false);
  });

  it("an environment that is not there is an error, never the local one", async () => {
    const { runtime } = await testRuntime([], {
      builtins: true,
      env: { PATH: process.env.PATH, HOME: tempDir(), DOCKER_HOST: "unix:///nowhere/docker.sock" },
    });
    for (const environment of ["docker", "ssh", "singularity", "modal", "daytona"]) {
      await expect(runtime.openSession({ environment })).rejects.toMatchObject({ code: "unavailable" });
    }
    for (const environment of ["Local", "local ", ""]) {
      await expect(runtime.openSession({ environment })).rejects.toMatchObject({ code: "not_found" });
    }
  });
});
