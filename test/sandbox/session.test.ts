// @needs bwrap
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ApprovalRequest } from "../../src/call/scope.js";
import { tempDir, testRuntime } from "../support/runtime.js";

/** A session whose configuration asks for the sandbox. */
async function sandboxed(mode = "required") {
  const home = tempDir();
  const cwd = tempDir();
  const outside = tempDir();
  writeFileSync(
    join(home, "config.yaml"),
    `terminal:\n  sandbox: ${mode}\n  sandbox_writable: [${outside}/open]\n`,
  );
  mkdirSync(join(outside, "open"));
  const { runtime } = await testRuntime([], { builtins: true, home, cwd });
  const asked: ApprovalRequest[] = [];
  const session = await runtime.openSession({
    approver: {
      async ask(request) {
        asked.push(request);
        return "once";
      },
    },
  });
  const run = (command: string, widen?: readonly string[]) =>
    session.call({ name: "terminal", arguments: { command, ...(widen && { widen }) } });
  return { run, asked, cwd, outside, home, runtime, session };
}

it("a session's commands change its own folder and nothing else", async () => {
  const { run, cwd, outside, home } = await sandboxed();
  await run(
    `echo in > inside; echo out > ${outside}/file; echo open > ${outside}/open/file; echo h > ${home}/evil`,
  );
  expect(readFileSync(join(cwd, "inside"), "utf8")).toBe("in\n");
  expect(existsSync(join(outside, "file"))).toBe(false);
  expect(existsSync(join(outside, "open/file"))).toBe(true);
  expect(existsSync(join(home, "evil"))).toBe(false);
});

it("the folder is the session's, not the runtime's", async () => {
  const { runtime, cwd, outside } = await sandboxed();
  const other = await runtime.openSession({ cwd: outside });
  await other.call({ name: "terminal", arguments: { command: `echo x > mine; echo x > ${cwd}/theirs` } });
  expect(existsSync(join(outside, "mine"))).toBe(true);
  expect(existsSync(join(cwd, "theirs"))).toBe(false);
});

it("leaving the sandbox for one call asks the person, once for each call", async () => {
  const { run, asked, outside } = await sandboxed();
  mkdirSync(join(outside, "tree"));
  const command = `echo x >> ${outside}/tree/file`;
  expect(JSON.stringify(await run(command))).toContain("a /tmp of its own");
  expect(asked).toEqual([]);
  await run(command, [`write:${outside}/tree`]);
  await run(command, [`write:${outside}/tree`]);
  expect(asked).toHaveLength(2);
  expect(asked[0]?.effects).toContainEqual({
    action: "sandbox:widen",
    resource: `write:${outside}/tree`,
    mode: "execute",
    detail: expect.stringContaining("echo"),
  });
  expect(readFileSync(join(outside, "tree/file"), "utf8")).toBe("x\nx\n");
});

it("nobody to ask means that nothing is opened", async () => {
  const { runtime, outside } = await sandboxed();
  const session = await runtime.openSession({});
  const result = await session.call({
    name: "terminal",
    arguments: { command: `echo x > ${outside}/file`, widen: ["off"] },
  });
  expect(result.error?.code).toBe("denied");
  expect(existsSync(join(outside, "file"))).toBe(false);
});

it("the other tools go on working", async () => {
  const { session, cwd } = await sandboxed();
  writeFileSync(join(cwd, "a.txt"), "needle\n");
  const found = await session.call({ name: "search_files", arguments: { pattern: "needle" } });
  expect(JSON.stringify(found)).toContain("a.txt");
  const written = await session.call({
    name: "write_file",
    arguments: { path: "b.mjs", content: "export {};\n" },
  });
  expect(written.ok).toBe(true);
});

it("a command that a person lets out starts with the environment's own variables, and is shown by its path", async () => {
  const { run, asked, cwd, session } = await sandboxed("guard");
  mkdirSync(join(cwd, "evil"));
  writeFileSync(join(cwd, "evil/git"), "#!/bin/sh\necho evil\n", { mode: 0o755 });
  await run("export PATH=$PWD/evil:$PATH KEPT=1 GIT_EXEC_PATH=$PWD/evil LD_LIBRARY_PATH=$PWD/evil");
  expect(JSON.stringify(await run("git --version"))).toContain("evil");
  const out = JSON.stringify(await run("git --version; printenv KEPT GIT_EXEC_PATH || echo gone", ["off"]));
  expect(out).toContain("git version");
  expect(out).toContain("gone");
  expect(asked.at(-1)?.reason).toMatch(/off; runs \/\S*\/git/);
  // Its own exports stay its own, and those of before are still there.
  await run("export FROM_OUTSIDE=1", ["off"]);
  expect(JSON.stringify(await run("printenv KEPT; printenv FROM_OUTSIDE || echo gone"))).toContain(
    "1\\ngone",
  );
  const started = await session.call({
    name: "terminal",
    arguments: {
      command: "git --version; printenv KEPT || echo gone",
      background: true,
      widen: ["off"],
      ready: { alive_seconds: 30, timeout: 5 },
    },
  });
  expect(JSON.stringify(started)).toMatch(/git version[^"]*gone/);
});

it.each(["guard", "required"])(
  "%s: a session's commands read its own spilled results and no others",
  async (mode) => {
    const { session, runtime, home } = await sandboxed(mode);
    const other = await runtime.openSession({});
    const spill = async (by: typeof session) => {
      await by.call({ name: "terminal", arguments: { command: "echo before" } });
      const { path } = by.scope.services.spill.write("call_1", `of ${by.id}`);
      return path;
    };
    const [own, foreign] = [await spill(session), await spill(other)];
    const command = `cat ${own} ${foreign} 2>&1; ls ${home}/cache/spillover`;
    const result = JSON.stringify(await session.call({ name: "terminal", arguments: { command } }));
    expect(result).toContain(`of ${session.id}`);
    expect(result).not.toContain(`of ${other.id}`);
  },
);

it.each(["guard", "auto"] as const)(
  "where nothing can hold commands, the first result of a session says so, with what to do (%s)",
  async (mode) => {
    const { createLocalEnvironment } = await import("../../src/env/local/local.js");
    const local = createLocalEnvironment({ launcher: false, sandbox: { mode, program: "/no/bwrap" } });
    const request = { cwd: "/", timeoutMs: 20_000, signal: new AbortController().signal };
    const { output, unguarded } = await local.exec({ command: "echo ran", ...request });
    expect(output).toBe("ran\n");
    expect(unguarded).toMatch(/^⚠ Nothing keeps commands from credentials.*needs Perl.*package perl/);
    expect((await local.describe()).facts.isolation).toContain("needs Perl");
    await local.close();
  },
);
