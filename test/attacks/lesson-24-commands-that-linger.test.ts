import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CallResult } from "../../src/index.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";

async function shell() {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  const run = (command: string, options: { timeout?: number; signal?: AbortSignal } = {}) =>
    session.call(
      {
        name: "terminal",
        arguments: { command, ...(options.timeout !== undefined && { timeout: options.timeout }) },
      },
      options.signal === undefined ? {} : { signal: options.signal },
    );
  return { runtime, session, cwd, run };
}

interface Out {
  readonly output: string;
  readonly exit_code: number;
  readonly still_running?: readonly string[];
}
const outOf = (result: CallResult): Out => result.structured as Out;

/** Living processes whose command line holds this word. */
function living(word: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const state = /\) (\S)/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))?.[1];
        return state !== "Z" && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(word);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** A duration nobody else on the machine sleeps for. */
let serial = 0;
function oddSeconds(): string {
  serial += 1;
  const seconds = `${1000 + serial}.${process.pid}`;
  onTestEnd(() => {
    for (const pid of living(seconds)) process.kill(pid, "SIGKILL");
  });
  return seconds;
}

describe.runIf(process.platform === "linux")(
  "lesson 24: a command that leaves something behind does not hang the call",
  () => {
    it.each([
      ["&", (s: string) => `sleep ${s} &`],
      ["nohup", (s: string) => `nohup sleep ${s}`],
      ["setsid", (s: string) => `setsid sleep ${s}`],
      ["& in a subshell", (s: string) => `(sleep ${s} &)`],
      ["& before another command", (s: string) => `sleep ${s} & echo started`],
    ])("%s is refused before anything starts", async (_what, command) => {
      const { run } = await shell();
      const seconds = oddSeconds();
      const result = await run(command(seconds));
      expect(result.error?.code).toBe("invalid_arguments");
      expect(living(seconds)).toEqual([]);
    });

    it.each([
      ["hidden in a string", (s: string) => `bash -c 'sleep ${s} &'; echo done`],
      ["hidden in eval", (s: string) => `eval "sleep ${s} &"; echo done`],
      ["a coprocess", (s: string) => `coproc sleep ${s}; echo done`],
      ["given up", (s: string) => `bash -c 'sleep ${s} >/dev/null 2>&1 & disown'; echo done`],
    ])("%s: the answer comes when the shell ends, and names what still runs", async (_what, command) => {
      const { run } = await shell();
      const seconds = oddSeconds();
      const started = performance.now();
      const result = await run(command(seconds), { timeout: 20 });
      expect(performance.now() - started).toBeLessThan(8_000);
      expect(outOf(result).output).toContain("done");
      const left = living(seconds);
      expect(left).toHaveLength(1);
      expect(outOf(result).still_running?.join()).toContain(String(left[0]));
    });

    it("standard input is empty: what waits for it ends at once", async () => {
      const { run } = await shell();
      const result = await run("cat; read line; echo read:$?", { timeout: 10 });
      expect(outOf(result).output).toContain("read:1");
    });

    it("a command that dies says so", async () => {
      const { run } = await shell();
      const result = await run("kill -SEGV $$");
      expect(outOf(result).exit_code).toBe(139);
    });
  },
);

describe.runIf(process.platform === "linux")("lesson 26: stopped means that the whole tree is gone", () => {
  const trees: [string, (s: string) => string][] = [
    ["a plain child", (s) => `sleep ${s}`],
    ["deaf to TERM", (s) => `trap '' TERM HUP INT; while true; do sleep ${s}; done`],
    [
      "a new session",
      (s) =>
        `python3 -c "import os,time; os.setsid(); time.sleep(${s})" || perl -e 'use POSIX; setsid(); sleep ${s}'`,
    ],
    ["a double fork", (s) => `bash -c 'bash -c "sleep ${s} & wait" & wait'`],
    ["stopped by itself", (s) => `bash -c 'kill -STOP $$; sleep ${s}' ; sleep ${s}`],
  ];
  it.each(trees)("%s, at its time limit", async (_what, command) => {
    const { run } = await shell();
    const seconds = oddSeconds();
    const result = await run(command(seconds), { timeout: 1 });
    expect(outOf(result).exit_code).toBe(124);
    expect(living(seconds)).toEqual([]);
  });

  it.each(trees)("%s, by an interrupt", async (_what, command) => {
    const { run } = await shell();
    const seconds = oddSeconds();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 400);
    const result = await run(command(seconds), { signal: controller.signal });
    expect(result.error?.code).toBe("cancelled");
    expect(living(seconds)).toEqual([]);
  });

  it("closing the runtime ends what runs, and the call is still answered", async () => {
    const { run, runtime, cwd } = await shell();
    const seconds = oddSeconds();
    const running = run(`touch started; sleep ${seconds}`);
    while (!existsSync(join(cwd, "started"))) await wait(20);
    await runtime.close();
    const result = await running;
    expect(result.id).toBeTruthy();
    expect(living(seconds)).toEqual([]);
  });
});
