// @needs bwrap
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import type { Widening } from "../../src/env/sandbox/types.js";
import { inTask, TaskState } from "../../src/env/task.js";
import { ToolError } from "../../src/tool/errors.js";
import terminal, { type TerminalOutput } from "../../src/tools/system/terminal.js";
import { makeContext } from "../tools/context.js";
import { type Jail, makeJail } from "./support.js";

let jail: Jail;
beforeEach(() => {
  jail = makeJail();
});
afterEach(() => jail.close());

const wide = (command: string, sandbox: Widening) => jail.run(command, { sandbox });

describe("one call can be opened", () => {
  test("for the network", async () => {
    const server = createServer((socket) => socket.end("answer")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const command = `cat < /dev/tcp/127.0.0.1/${port}`;
    expect((await jail.run(command)).exitCode).not.toBe(0);
    expect(await wide(command, { network: true })).toMatchObject({ output: "answer", exitCode: 0 });
    expect((await jail.run(command)).exitCode).not.toBe(0);
    server.close();
  });

  test("for one path, and no other", async () => {
    const tree = join(jail.outside, "tree");
    const command = "echo new > $OUT/tree/file; echo new > $OUT/file";
    const result = await wide(command, { write: [tree] });
    expect(readFileSync(join(tree, "file"), "utf8")).toBe("new\n");
    expect(existsSync(join(jail.outside, "file"))).toBe(false);
    expect(result.sandbox).toMatchObject({
      active: true,
      level: "strict",
      denied: "write",
      deniedPath: join(jail.outside, "file"),
    });
  });

  test("for a protected name by that very name, not by naming what lies above", async () => {
    const hook = join(jail.workspace, ".git/hooks/pre-commit");
    await wide("echo x > .git/hooks/pre-commit", { write: [jail.workspace] });
    expect(existsSync(hook)).toBe(false);
    await wide("echo x > .git/hooks/pre-commit", { write: [join(jail.workspace, ".git/hooks")] });
    expect(readFileSync(hook, "utf8")).toBe("x\n");
    expect((await wide("git config a.b c", { write: [join(jail.workspace, ".git")] })).exitCode).toBe(0);
    const missing = join(jail.workspace, ".vscode");
    await wide("mkdir .vscode && echo x > .vscode/settings.json", { write: [missing] });
    expect(existsSync(join(missing, "settings.json"))).toBe(true);
  });

  test("to make a repository", async () => {
    const local = jail.environment({ workspace: join(jail.workspace, "conf") });
    const request = { command: "git init -q", cwd: join(jail.workspace, "conf"), timeoutMs: 9_000 };
    const { signal } = new AbortController();
    const refused = await local.exec({ ...request, signal });
    expect(refused.sandbox?.denied).toBe("write");
    const write = [join(jail.workspace, "conf/.git")];
    expect(await local.exec({ ...request, signal, sandbox: { write } })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(jail.workspace, "conf/.git/HEAD"))).toBe(true);
  });

  test("not for everything above the home folder, a link, or what does not exist", async () => {
    symlinkSync(jail.outside, join(jail.workspace, "door"));
    for (const path of ["/", jail.home, jail.base, join(jail.workspace, "door"), "/no/such/place"]) {
      const error = await wide("true", { write: [path] }).catch((thrown: unknown) => thrown);
      expect([path, ToolError.isInstance(error) && error.code]).toEqual([path, "invalid_arguments"]);
    }
  });

  test("to leave the sandbox, unless it is required", async () => {
    await expect(wide("true", { off: true })).rejects.toMatchObject({ code: "denied" });
    const auto = jail.environment({ mode: "auto" });
    const request = { cwd: jail.workspace, timeoutMs: 9_000, signal: new AbortController().signal };
    const command = `echo x > ${jail.outside}/free`;
    expect((await auto.exec({ ...request, command })).exitCode).not.toBe(0);
    const free = await auto.exec({ ...request, command, sandbox: { off: true } });
    expect(free).not.toHaveProperty("sandbox");
    expect(existsSync(join(jail.outside, "free"))).toBe(true);
  });

  test("folders of the configuration are open for every call", async () => {
    mkdirSync(join(jail.home, "cache"));
    const local = jail.environment({ writable: ["~/cache", "/no/such/folder", "~"] });
    const request = { cwd: jail.workspace, timeoutMs: 9_000, signal: new AbortController().signal };
    await local.exec({ ...request, command: "echo x > ~/cache/file; echo x > ~/file" });
    expect(existsSync(join(jail.home, "cache/file"))).toBe(true);
    expect(existsSync(join(jail.home, "file"))).toBe(false);
  });

  test("the workspace is the session's, whatever a request says", async () => {
    const workspace = join(jail.workspace, "conf");
    const session = inTask(jail.environment(), { state: new TaskState(workspace), workspace });
    const request: ExecRequest = {
      command: "echo x > here; echo x > ../above",
      cwd: join(jail.workspace, "conf"),
      workspace: jail.base,
      timeoutMs: 9_000,
      signal: new AbortController().signal,
    };
    await session.exec(request);
    expect(existsSync(join(jail.workspace, "conf/here"))).toBe(true);
    expect(existsSync(join(jail.workspace, "above"))).toBe(false);
  });
});

describe("where no sandbox works", () => {
  const request = { command: "echo ran", timeoutMs: 9_000, signal: new AbortController().signal };
  const local = (mode: "auto" | "required" | "off"): Environment =>
    createLocalEnvironment({ sandbox: { mode, program: join(jail.base, "no-bwrap") } });

  test("required runs nothing and says what to do", async () => {
    const environment = local("required");
    const error = await environment.exec({ ...request, cwd: jail.base }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("cannot be run") });
    expect((error as ToolError).hint).toMatch(/install the package bubblewrap/);
    await environment.close();
  });

  test("auto and off run all the same", async () => {
    for (const mode of ["auto", "off"] as const) {
      const environment = local(mode);
      const result = await environment.exec({ ...request, cwd: jail.base });
      expect(result).toMatchObject({ output: "ran\n", exitCode: 0 });
      // What holds `auto` then is a guard, where the kernel can make one.
      expect([undefined, "guard"]).toContain(result.sandbox?.level);
      await environment.close();
    }
  });
});

test("caches of package managers can be written, the rest of the home cannot", async () => {
  mkdirSync(join(jail.home, ".npm"));
  mkdirSync(join(jail.home, ".cache/uv"), { recursive: true });
  const { output } = await jail.run(
    "touch ~/.npm/x ~/.cache/uv/x && echo cached; touch ~/.cache/other ~/y || echo closed",
  );
  expect(output).toMatch(/^cached\n[\s\S]*closed\n$/);
});

describe("the terminal tool", () => {
  const call = async (args: { command: string; widen?: string[]; timeout?: number }) => {
    const ctx = makeContext({
      environment: jail.environment(),
      session: { id: "s", profile: "default", cwd: jail.workspace, workspace: jail.workspace },
    });
    return (await terminal.handler({ timeout: 20, ...args }, ctx)) as TerminalOutput;
  };

  test("says what the sandbox refused and how to ask for it", async () => {
    const write = await call({ command: `touch ${jail.outside}/x` });
    expect(write.sandbox_note).toContain(`widen: ["write:${jail.outside}/x"]`);
    const network = await call({ command: "echo > /dev/udp/192.0.2.1/9" });
    expect(network.sandbox_note).toContain('widen: ["network"]');
    expect((await call({ command: "unshare -m true" })).sandbox_note).toContain('widen: ["off"]');
    expect((await call({ command: "exit 3" })).sandbox_note).toBeUndefined();
    for (const command of ["true", "curl -sS http://192.0.2.1 2>&1 | head -c 0", "sleep 20"]) {
      expect((await call({ command, timeout: 1 })).sandboxed).toMatch(
        /^strict: no network.*widen: \["network"\]/,
      );
    }
    expect(terminal.present?.(write).human).toContain("the person is asked");
  });

  test("passes what was asked for on", async () => {
    const { exit_code } = await call({
      command: `touch ${jail.outside}/tree/x`,
      widen: [`write:${jail.outside}/tree`],
    });
    expect(exit_code).toBe(0);
  });

  test("names what ended with the command", async () => {
    const out = await call({ command: "perl -e 'sleep 100 if fork() == 0'" });
    expect(out).toMatchObject({ exit_code: 0, ended_with_command: ["perl"] });
  });

  test("declares each widening as an effect of its own", () => {
    const scope = { cwd: "/w", environment: "local" };
    const widen = ["network", "write:/opt/x", "network"];
    expect(terminal.effects?.({ command: "ls", widen }, scope)).toEqual([
      { action: "terminal:execute", resource: "ls", mode: "execute" },
      {
        action: "sandbox:widen",
        resource: "network",
        mode: "execute",
        detail: expect.stringMatching(/^runs \/.*\/ls$/),
      },
      {
        action: "sandbox:widen",
        resource: "write:/opt/x",
        mode: "execute",
        detail: expect.stringMatching(/^runs \/.*\/ls$/),
      },
    ]);
  });
});
