import { describe, expect, it } from "vitest";
import type { CallResult } from "../../../src/index.js";
import type { ProcessReport } from "../../../src/tools/system/process-actions.js";
import type { TerminalOutput } from "../../../src/tools/system/terminal-output.js";
import { living, oddSeconds } from "../../processes/support.js";
import { needs } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";

async function shell() {
  const { runtime } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  const call = (name: string, args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call({ name, arguments: args }, signal === undefined ? {} : { signal });
  return {
    call,
    run: async (command: string, more: Record<string, unknown> = {}) =>
      outOf<TerminalOutput>(await call("terminal", { command, pty: true, ...more })),
    process: async (action: string, args: Record<string, unknown>) =>
      outOf<ProcessReport>(await call("process", { action, ...args })),
  };
}

function outOf<T>(result: CallResult): T {
  if (result.error !== undefined) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.structured as T;
}

describe("a command in a terminal", () => {
  it("sees one, and its end is the answer", async () => {
    const { run } = await shell();
    const result = await run("test -t 0 && test -t 1 && echo yes; tput cols; exit 4");
    expect(result).toMatchObject({ exit_code: 4, output: "yes\n120\n" });
    expect(result).not.toHaveProperty("session_id");
  });

  it("that asks for a password comes back as needs_input, and goes on from there", async () => {
    const { run, process } = await shell();
    const asking = await run(
      "read -s -p 'Password: ' word; echo; echo length $(printf %s \"$word\" | wc -c)",
    );
    expect(asking).toMatchObject({
      status: "needs_input",
      exit_code: null,
      wanted_input: "password",
      output: expect.stringContaining("Password:"),
      session_id: expect.stringMatching(/^proc_/),
    });
    const done = await process("submit", { session_id: asking.session_id, data: "12345" });
    expect(done.screen).toContain("length 5");
    expect(done.status).toBe("exited");
  });

  it("that shows a pager or an editor brings the screen", async (context) => {
    needs(context, "less");
    const { run, process } = await shell();
    const paged = await run("seq 1 200 | PAGER= less");
    expect(paged.status).toBe("needs_input");
    expect(paged.screen ?? paged.output).toContain("39");
    const next = await process("write", { session_id: paged.session_id, data: "q" });
    expect(next.status).toBe("exited");
  });

  it("that only works is not taken for one that waits", async () => {
    const { run } = await shell();
    expect(await run("printf 'Continue? '; sleep 1; echo done")).toMatchObject({
      exit_code: 0,
      output: "Continue? done\n",
    });
  });

  it("ends at its time limit with everything it started", async () => {
    const { run } = await shell();
    const seconds = oddSeconds();
    expect(await run(`echo begun; sleep ${seconds}`, { timeout: 1 })).toMatchObject({
      exit_code: 124,
      output: "begun\n",
      error: expect.stringContaining("after 1 s"),
    });
    expect(living(seconds)).toEqual([]);
  });

  it("can be interrupted", async () => {
    const { call } = await shell();
    const seconds = oddSeconds();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 600);
    const result = await call("terminal", { command: `sleep ${seconds}`, pty: true }, stop.signal);
    expect(result.error?.code).toBe("cancelled");
    expect(living(seconds)).toEqual([]);
  });

  it("can be resized and shows colours as text", async () => {
    const { call, process } = await shell();
    const started = outOf<TerminalOutput>(
      await call("terminal", { command: "bash --norc -i", pty: true, background: true }),
    );
    const { session_id } = started;
    await process("resize", { session_id, columns: 77, rows: 20 });
    const { screen } = await process("submit", {
      session_id,
      data: "tput cols; printf '\\033[31mred\\033[0m\\n'",
    });
    expect(screen).toMatch(/^77$/m);
    expect(screen).toMatch(/^red$/m);
  });
});
