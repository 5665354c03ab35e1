import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { living, oddSeconds } from "../processes/support.js";
import { outOf, shell } from "./shell.js";

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
    expect(result.structured).toMatchObject({ exit_code: 130, error: expect.stringContaining("Cancelled") });
    expect(living(seconds)).toEqual([]);
  });

  it.each(trees)("%s, in the background", async (_what, command) => {
    const { call } = await shell();
    const seconds = oddSeconds();
    const { session_id } = outOf(await call("terminal", { command: command(seconds), background: true }));
    while (living(seconds).length === 0) await wait(20);
    const killed = await call("process", { action: "kill", session_id });
    expect(killed.structured).toMatchObject({ status: "exited", exit_code: -15, survivors: undefined });
    expect(living(seconds)).toEqual([]);
  });

  it("in the background, when the session or the runtime ends", async () => {
    const { call, session, runtime } = await shell();
    const other = await runtime.openSession();
    const [first, second] = [oddSeconds(), oddSeconds()];
    await call("terminal", { command: `sleep ${first}`, background: true });
    await other.call({ name: "terminal", arguments: { command: `sleep ${second}`, background: true } });
    session.close();
    while (living(first).length > 0) await wait(20);
    expect(living(second).length).toBeGreaterThan(0);
    await runtime.close();
    expect(living(second)).toEqual([]);
  });
});
