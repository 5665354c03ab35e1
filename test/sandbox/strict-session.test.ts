// @needs bwrap perl

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CallResult } from "../../src/tool/call.js";
import { tempDir, testRuntime } from "../support/runtime.js";

/** Sessions in the strict sandbox, with somebody who answers every question alike. */
async function strict(answer: "once" | "session" = "once") {
  const home = tempDir();
  const cwd = tempDir();
  writeFileSync(join(home, "config.yaml"), "terminal:\n  sandbox: strict\n");
  const { runtime } = await testRuntime([], { builtins: true, home, cwd });
  const asked: string[] = [];
  const open = async () => {
    const session = await runtime.openSession({
      approver: {
        async ask({ reason }) {
          asked.push(reason);
          return answer;
        },
      },
    });
    const call = (name: string, args: object) => session.call({ name, arguments: { ...args } });
    const run = (command: string, more: object = {}) => call("terminal", { command, ...more });
    return { session, call, run };
  };
  return { open, asked, cwd, ...(await open()) };
}

const output = (result: CallResult) => {
  if (result.structured === undefined) throw new Error(JSON.stringify(result));
  return (result.structured as { readonly output: string }).output;
};

it("one /tmp for a session: its commands, its file tools and nobody else see the same", async () => {
  const { run, call, open } = await strict();
  const name = `hermes-strict-${process.pid}.txt`;
  await run(`echo one > /tmp/${name}; mkdir -p /tmp/sub /var/tmp/other`);
  expect(existsSync(join("/tmp", name))).toBe(false);
  expect((await call("read_file", { path: `/tmp/${name}` })).structured).toMatchObject({
    content: expect.stringContaining("one"),
  });
  await call("write_file", { path: "/tmp/sub/made.txt", content: "two\n" });
  expect(existsSync("/tmp/sub/made.txt")).toBe(false);
  expect(output(await run(`cat /tmp/sub/made.txt /tmp/${name}; cd /tmp/sub`))).toBe("two\none\n");
  expect(output(await run("pwd; ls"))).toBe("/tmp/sub\nmade.txt\n");
  const missing = await call("read_file", { path: "/tmp/missing.txt" });
  expect(missing.error?.message).toContain("/tmp/missing.txt");
  const other = await open();
  expect(output(await other.run("ls /tmp"))).not.toContain(name);
});

it("what a session had for itself is gone with it", async () => {
  const { run, session } = await strict();
  const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`hermes-tmp-${process.pid}-`));
  const before = ours();
  await run("echo x > /tmp/file");
  const [made] = ours().filter((name) => !before.includes(name));
  expect(readdirSync(join(tmpdir(), made ?? ""))).toHaveLength(1);
  session.close();
  await expect.poll(() => readdirSync(join(tmpdir(), made ?? ""))).toEqual([]);
});

it("one network for a session: a server of one call is reached by the next, and from nowhere else", async () => {
  const { run, open } = await strict();
  const port = 18_000 + (process.pid % 1_000);
  const serve = `${process.execPath} -e 'require("http").createServer((q, r) => r.end("inside")).listen(${port}, "127.0.0.1")'`;
  const started = await run(serve, { background: true, ready: { port, timeout: 20 } });
  expect(started.structured).toMatchObject({ ready: true, sandboxed: expect.stringContaining("widen") });
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
  expect(output(await run(ask))).toContain("inside");
  const other = await open();
  expect(output(await other.run(ask))).not.toContain("inside");
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  const again = await run(serve, { background: true, ready: { port, timeout: 20 } });
  expect(JSON.stringify(again)).toContain(`Port ${port} is already in use`);
});

it("servers of this machine are out of reach, unless the network is opened", async () => {
  const server = createServer((socket) => socket.end("answer")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const { run } = await strict();
  const command = `cat < /dev/tcp/127.0.0.1/${port}`;
  expect((await run(command)).structured).toMatchObject({ exit_code: 1 });
  expect(output(await run(command, { widen: ["network"] }))).toBe("answer");
});

it("temporary folders that a runtime left behind when it was killed are taken away", async () => {
  const left = mkdtempSync(join(tmpdir(), "hermes-tmp-999999999-"));
  onTestFinished(() => rmSync(left, { recursive: true, force: true }));
  const { run } = await strict();
  await run("true");
  expect(existsSync(left)).toBe(false);
});

it("the network, or one place to write to, can be granted for a session; leaving the sandbox cannot", async () => {
  const { run, asked, open } = await strict("session");
  const outside = tempDir();
  const command = `echo x >> ${outside}/file`;
  for (const widen of [["network"], [`write:${outside}`], ["network", `write:${outside}`]]) {
    await run(command, { widen });
    await run(command, { widen });
  }
  expect(asked).toHaveLength(2);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("x\n".repeat(4));
  await run(command, { widen: ["off"] });
  await run(command, { widen: ["off"] });
  expect(asked).toHaveLength(4);
  await (await open()).run(command, { widen: ["network"] });
  expect(asked).toHaveLength(5);
});

it("every result says that it was sandboxed and how to get out: in pipes, after time-outs, in terminals", async () => {
  const { run } = await strict();
  const unreachable = "exec 3<>/dev/tcp/192.0.2.1/80";
  for (const [command, more] of [
    ["echo fine", {}],
    [`(${unreachable}) 2>&1 | cat`, {}],
    [`${unreachable}; sleep 60`, { timeout: 1 }],
    [unreachable, { pty: true }],
    [`${unreachable}; sleep 60`, { background: true }],
  ] as const) {
    const { structured } = await run(command, more);
    expect(structured, command).toMatchObject({ sandboxed: expect.stringContaining('["network"]') });
    if (command !== "echo fine") {
      expect(structured, command).toMatchObject({ sandbox_note: expect.stringContaining("no network") });
    }
  }
});

it("git's harmless settings are written unasked, what it would run is not", async () => {
  const { run, cwd } = await strict();
  execFileSync("git", ["init", "-q"], { cwd });
  await run("mkdir evil; printf '#!/bin/sh\\necho fake > .git/config\\n' > evil/git; chmod +x evil/git");
  await run("export PATH=$PWD/evil:$PATH KEPT=1");
  const set = await run("git config user.name 'A B' && git remote add origin https://git.example/a/b.git");
  expect(set.structured).toMatchObject({ exit_code: 0 });
  const settings = () => readFileSync(join(cwd, ".git/config"), "utf8");
  expect(settings()).toMatch(/name = A B[\s\S]*url = https:\/\/git.example\/a\/b.git/);
  const before = settings();
  for (const line of [
    "PATH=/usr/bin:/bin; git config core.fsmonitor ./evil",
    "/usr/bin/git config core.hooksPath evil",
    "git config user.name x; echo fake >> .git/config",
  ]) {
    expect((await run(line)).structured, line).toMatchObject({ exit_code: expect.not.toBeOneOf([0]) });
  }
  expect(settings()).toBe(before);
  expect(output(await run("echo $KEPT"))).toBe("1\n");
});

it("package managers have a cache to write to, and do not try again and again without a network", async () => {
  const { run } = await strict();
  const shown = output(
    await run('touch "$npm_config_cache.x" 2>/dev/null; mkdir -p "$PIP_CACHE_DIR" && env'),
  );
  expect(shown).toContain("npm_config_fetch_retries=0");
  expect(shown).toContain("PIP_CACHE_DIR=/tmp/.cache/");
  // They are the sandbox's own: nothing of them is carried to a command outside.
  expect(output(await run("env", { widen: ["off"] }))).not.toContain("/tmp/.cache/");
});
