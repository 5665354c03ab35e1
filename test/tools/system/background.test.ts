import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/call/scope.js";
import type { CallResult } from "../../../src/index.js";
import { backgroundRefusal } from "../../../src/tools/system/foreground.js";
import type { ProcessReport } from "../../../src/tools/system/process-actions.js";
import type { TerminalOutput } from "../../../src/tools/system/terminal-output.js";
import { living, oddSeconds, until } from "../../processes/support.js";
import { testRuntime } from "../../support/runtime.js";

async function shell(answer: "once" | "deny" = "deny") {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const asked: ApprovalRequest[] = [];
  const session = await runtime.openSession({
    approver: {
      ask: async (request) => {
        asked.push(request);
        return answer;
      },
    },
  });
  const call = (name: string, args: Record<string, unknown>) => session.call({ name, arguments: args });
  const terminal = async (args: Record<string, unknown>) =>
    outOf<TerminalOutput>(await call("terminal", { background: true, ...args }));
  const process = async (action: string, args: Record<string, unknown> = {}) =>
    outOf<ProcessReport>(await call("process", { action, ...args }));
  return { runtime, session, cwd, call, terminal, process, asked };
}

function outOf<T>(result: CallResult): T {
  if (result.error !== undefined) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.structured as T;
}

describe("terminal with background: true", () => {
  it("answers at once and names the process", async () => {
    const { terminal, process } = await shell();
    const started = await terminal({ command: "echo up; sleep 30" });
    expect(started).toMatchObject({
      status: "running",
      exit_code: null,
      output: "up\n",
      environment: "local",
    });
    const { session_id } = started;
    expect(await process("poll", { session_id })).toMatchObject({ status: "running", output: "up\n" });
    expect(await process("kill", { session_id })).toMatchObject({ status: "exited", exit_code: -15 });
    expect(await process("kill", { session_id })).toMatchObject({ note: "it had ended before" });
  });

  it("begins where the session stands, with what it has exported", async () => {
    const { call, terminal, process } = await shell();
    await call("terminal", { command: "mkdir sub; cd sub; export COLOUR=blue" });
    const { session_id, cwd } = await terminal({ command: "pwd; echo $COLOUR; sleep 0.3" });
    expect(cwd).toMatch(/\/sub$/);
    const { output } = await process("wait", { session_id });
    expect(output).toMatch(/\/sub\nblue\n$/);
  });

  it("says so when the process died at once", async () => {
    const { terminal } = await shell();
    expect(await terminal({ command: "echo oops >&2; exit 9" })).toMatchObject({
      status: "exited",
      exit_code: 9,
      output: "oops\n",
      error: expect.stringContaining("right after its start"),
    });
  });

  it("waits until it is ready, and says when it is not", async () => {
    const { terminal } = await shell();
    const command = "sleep 0.3; echo serving; sleep 30";
    expect(await terminal({ command, ready: { pattern: "serving" } })).toMatchObject({
      ready: true,
      output: "serving\n",
    });
    expect(await terminal({ command: "sleep 30", ready: { pattern: "x", timeout: 0.3 } })).toMatchObject({
      ready: false,
      status: "running",
      error: expect.stringContaining("not ready"),
    });
  });

  it.each(["sleep 5 &", "cd x && sleep 5 &", "nohup sleep 5", "setsid sleep 5", "(sleep 5 &)"])(
    "%s needs no such thing",
    (command) => {
      expect(backgroundRefusal(command)).toMatchObject({
        code: "invalid_arguments",
        hint: expect.any(String),
      });
    },
  );

  it.each(["a & b & wait", "echo 'x &'", "npm start", "a && b", "cat <<E\n&\nE"])("%s may run", (command) => {
    expect(backgroundRefusal(command)).toBeUndefined();
  });

  it("is judged like any other command", async () => {
    const { call, asked } = await shell("deny");
    const result = await call("terminal", { command: "rm -rf ../important", background: true });
    expect(result.error?.code).toBe("denied");
    expect(asked).toHaveLength(1);
    const alias = await call("process_manager", { action: "start", command: "rm -rf ../important" });
    expect(alias.error?.code).toBe("denied");
    expect(asked).toHaveLength(2);
  });

  it("ends when the session closes, unless it was handed off", async () => {
    const { terminal, process, session } = await shell();
    const [gone, kept] = [oddSeconds(), oddSeconds()];
    await terminal({ command: `sleep ${gone}` });
    const { session_id } = await terminal({ command: `sleep ${kept}` });
    expect((await process("handoff", { session_id })).handed_off).toBe(true);
    session.close();
    await until(() => living(gone).length === 0);
    expect(living(kept).length).toBeGreaterThan(0);
  });
});

describe("process", () => {
  it("start and stop work under the other name", async () => {
    const { call } = await shell();
    const started = outOf<TerminalOutput>(
      await call("process_manager", { action: "start", command: "sleep 30" }),
    );
    expect(started.status).toBe("running");
    const stopped = await call("process_manager", { action: "stop", session_id: started.session_id });
    expect(outOf<ProcessReport>(stopped)).toMatchObject({ status: "exited", exit_code: -15 });
  });

  it("lists, and shows lines from the end or from the head", async () => {
    const { call, terminal, process } = await shell();
    const { session_id } = await terminal({ command: "seq 1 500", ready: { alive_seconds: 0.1 } });
    await process("wait", { session_id });
    const log = await process("log", { session_id });
    expect(log).toMatchObject({ total_lines: 500, first_line: 300 });
    expect(log.output?.startsWith("301\n")).toBe(true);
    expect((await process("log", { session_id, offset: 0, limit: 2 })).output).toBe("1\n2\n");
    const list = outOf<{ processes: readonly ProcessReport[] }>(await call("process", { action: "list" }));
    expect(list.processes).toEqual([expect.objectContaining({ session_id, status: "exited", exit_code: 0 })]);
  });

  it("wait is no error when the time is over, and is clamped with a note", async () => {
    const { terminal, process } = await shell();
    const { session_id } = await terminal({ command: "sleep 30" });
    expect(await process("wait", { session_id, timeout: 1 })).toMatchObject({
      status: "running",
      timed_out: true,
    });
    const clamped = process("wait", { session_id, timeout: 100_000 });
    await process("kill", { session_id });
    expect(await clamped).toMatchObject({ status: "exited", note: expect.stringContaining("180 s") });
  });

  it("types, and gives end of input", async () => {
    const { terminal, process } = await shell();
    const { session_id } = await terminal({ command: "while read line; do echo got:$line; done; echo over" });
    await process("write", { session_id, data: "he" });
    expect((await process("submit", { session_id, data: "llo" })).output).toContain("got:hello");
    expect(await process("close", { session_id })).toMatchObject({
      status: "exited",
      output: expect.stringContaining("over"),
    });
  });

  it("looking and killing do not wait for a command that runs in front", async () => {
    const { call, terminal, process } = await shell();
    const { session_id } = await terminal({ command: "sleep 30" });
    let done = false;
    const front = call("terminal", { command: "sleep 3" }).finally(() => {
      done = true;
    });
    await process("poll", { session_id });
    await process("kill", { session_id });
    expect(done).toBe(false);
    await front;
  });

  it("unknown and missing ids are answered with what there is", async () => {
    const { call, terminal } = await shell();
    const { session_id } = await terminal({ command: "sleep 30" });
    expect((await call("process", { action: "poll", session_id: "proc_nothing" })).error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining(session_id ?? "?"),
    });
    expect((await call("process", { action: "poll" })).error?.hint).toContain(session_id);
  });
});

describe("typed input is judged", () => {
  it("a dangerous line typed into a shell asks, also when it comes in pieces", async () => {
    const { call, terminal, process, asked } = await shell("deny");
    const { session_id } = await terminal({ command: "bash" });
    const line = await call("process", { action: "submit", session_id, data: "rm -rf ../important" });
    expect(line.error?.code).toBe("denied");
    expect(asked).toHaveLength(1);
    await process("write", { session_id, data: "r" });
    const rest = await call("process", { action: "submit", session_id, data: "m -rf ../important" });
    expect(rest.error?.code).toBe("denied");
    expect(asked.at(-1)?.effects[0]?.resource).toBe("rm -rf ../important");
  });

  it("a line that goes on with a backslash is judged as a whole", async () => {
    const { call, terminal, asked } = await shell("deny");
    const { session_id } = await terminal({ command: "bash" });
    await call("process", { action: "submit", session_id, data: "rm \\" });
    expect(asked).toEqual([]);
    const rest = await call("process", { action: "submit", session_id, data: "-rf ../important" });
    expect(rest.error?.code).toBe("denied");
    expect(asked.length).toBeGreaterThan(0);
  });

  it("what can never be allowed is refused without asking", async () => {
    const { call, terminal, asked } = await shell("once");
    const { session_id } = await terminal({ command: "bash" });
    expect((await call("process", { action: "submit", session_id, data: "rm -rf /" })).error?.code).toBe(
      "denied",
    );
    expect(asked).toEqual([]);
  });

  it("keys that edit the line ask, because nobody can tell what they send off", async () => {
    const { call, terminal, asked } = await shell("deny");
    const { session_id } = await terminal({ command: "bash", pty: true });
    for (const data of ["<up>", "ls<tab>", "x<backspace>", "<ctrl-r>"]) {
      expect((await call("process", { action: "write", session_id, data })).error?.code).toBe("denied");
    }
    expect(asked).toHaveLength(4);
    expect((await call("process", { action: "write", session_id, data: "<ctrl-c>" })).ok).toBe(true);
  });

  it("harmless lines and answers pass", async () => {
    const { terminal, process, asked } = await shell("deny");
    const { session_id } = await terminal({ command: "bash" });
    expect((await process("submit", { session_id, data: "echo fine-$((1+1))" })).output).toContain("fine-2");
    expect(asked).toEqual([]);
  });
});

describe("what is typed into a running program", () => {
  it.each([
    ["bash", ["x=rm", "y='-rf data'"], "$x $y"],
    ["bash", ["f() { rm -rf data; }"], "f"],
    ["python3 -i", ["from shutil import rmtree as gone"], 'gone("data")'],
  ])("counts together with what was typed before: %s", async (command, harmless, last) => {
    const { call, asked } = await shell();
    const started = await call("terminal", { background: true, command });
    const { session_id } = started.structured as TerminalOutput;
    for (const data of harmless) await call("process", { action: "submit", session_id, data });
    const before = asked.length;
    const typed = await call("process", { action: "submit", session_id, data: last });
    expect([typed.error?.code, asked.length - before]).toEqual(["denied", 1]);
    await call("process", { action: "kill", session_id });
  });

  it("stays unasked while both together are harmless", async () => {
    const { terminal, call, asked } = await shell();
    const { session_id } = await terminal({ command: "bash" });
    for (const data of ["x=src", "echo $x", "y=$x/lib", "echo $y"])
      expect((await call("process", { action: "submit", session_id, data })).error).toBeUndefined();
    expect(asked).toEqual([]);
    await call("process", { action: "kill", session_id });
  });
});
