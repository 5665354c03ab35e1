import { describe, expect, it } from "vitest";
import { codeSession, hasPython } from "./execute-support.js";

describe.skipIf(!hasPython)("a Python kernel", () => {
  it("keeps its state, shows the last value and may call tools", async () => {
    const { run } = await codeSession();
    const kernel = true;
    expect(await run({ code: "x = 20\ndef f(): return x + 1", kernel })).toMatchObject({ kernel: "new" });
    expect(await run({ code: "print('seen')\nf()", kernel })).toMatchObject({
      status: "success",
      output: "seen\n",
      result: "21",
      kernel: "kept",
    });
    const tools = "from hermes_tools import terminal\nterminal('echo hi')['output']";
    expect(await run({ code: tools, kernel })).toMatchObject({ result: "'hi\\n'", tool_calls_made: 1 });
    expect(await run({ code: "import sys; sys.stdin.read()", kernel, stdin: "in" })).toMatchObject({
      result: "'in'",
    });
    const failed = await run({ code: "y = 1\nx / 0", kernel });
    expect(failed).toMatchObject({ status: "error", error: "ZeroDivisionError: division by zero" });
    expect(failed.stderr).toContain('File "<cell 5>", line 2');
    expect(await run({ code: "y", kernel })).toMatchObject({ result: "1" });
    const again = await run({ code: "'x' in globals()", kernel, reset: true });
    expect(again).toMatchObject({ result: "False", kernel: "new" });
  });

  it("is interrupted when the time is over, and lives on; one that does not stop is ended", async () => {
    const { run } = await codeSession();
    await run({ code: "n = 0", kernel: true });
    const late = await run({ code: "while True: n += 1", kernel: true, timeout: 0.3 });
    expect(late).toMatchObject({ status: "timeout", kernel: "kept", exit_code: 124 });
    expect(await run({ code: "n > 0", kernel: true })).toMatchObject({ result: "True" });
    const waiting = "from hermes_tools import terminal\nterminal('sleep 30')";
    expect(await run({ code: waiting, kernel: true, timeout: 0.3 })).toMatchObject({
      status: "timeout",
      kernel: "kept",
    });
    const stubborn =
      "import time\nwhile True:\n    try:\n        time.sleep(60)\n    except KeyboardInterrupt: pass";
    expect((await run({ code: stubborn, kernel: true, timeout: 0.3 })).kernel).toMatch(
      /^gone: the time was over/,
    );
    const after = await run({ code: "'n' in globals()", kernel: true });
    expect(after).toMatchObject({ result: "False" });
    expect(after.kernel).toMatch(/^new: the one before is gone, the time was over/);
  });

  it("says when it has died, and ends with its session", async () => {
    const { run, session } = await codeSession();
    const { result: pid } = await run({ code: "import os\nos.getpid()", kernel: true });
    const died = await run({ code: "os._exit(9)", kernel: true });
    expect(died).toMatchObject({ status: "error", error: "The kernel is gone: it ended with exit code 9." });
    expect(() => process.kill(Number(pid), 0)).toThrow();
    const { result: next } = await run({ code: "import os\nos.getpid()", kernel: true });
    expect(() => process.kill(Number(next), 0)).not.toThrow();
    session.close();
    await expect.poll(() => isRunning(Number(next)), { timeout: 5_000 }).toBe(false);
  });

  it("makes room for others, and ends when nobody uses it", async () => {
    const { run, call } = await codeSession({ settings: ["max_kernels: 2", "kernel_idle_seconds: 3"] });
    await run({ code: "x = 1", kernel: true });
    await call("repl", { code: "1", session_id: "a" });
    await call("repl", { code: "2", session_id: "b" });
    expect((await run({ code: "1", kernel: true })).kernel).toMatch(/made room for another one/);
    await new Promise((resolve) => setTimeout(resolve, 3_400));
    expect((await run({ code: "1", kernel: true })).kernel).toBe(
      "new: the one before is gone, nobody used it for 3 s",
    );
  });
});

describe("a Node kernel", () => {
  it("keeps what was declared, takes imports, await and types, and lets names be declared again", async () => {
    const { run } = await codeSession();
    const cell = (code: string, language = "js") => run({ code, language, kernel: true });
    expect(
      await cell("const q = 2; class A { v = q }\nfunction f() { return new A().v }\nf()"),
    ).toMatchObject({ result: "2" });
    const more =
      "import os, { EOL as end } from 'node:os'; const q = 3; const { a, ...rest } = await Promise.resolve({ a: 1, b: 2 });\n[q, rest, typeof os.cpus, end, f()]";
    expect(await cell(more)).toMatchObject({ result: "[ 3, { b: 2 }, 'function', '\\n', 3 ]" });
    expect(await cell("let t: number = q; export const u = t; [rest.b, t]", "ts")).toMatchObject({
      result: "[ 2, 3 ]",
    });
    const tools = "import { terminal } from 'hermes_tools'; (await terminal('echo k')).output";
    expect(await cell(tools)).toMatchObject({ result: "'k\\n'", tool_calls_made: 1 });
    expect(await cell("q +")).toMatchObject({
      status: "error",
      error: "SyntaxError: Unexpected end of input",
    });
    for (const code of ["for (;;);", "await new Promise(() => {})"])
      expect(await run({ code, language: "js", kernel: true, timeout: 0.3 })).toMatchObject({
        status: "timeout",
        kernel: "kept",
      });
    expect(await cell("u")).toMatchObject({ result: "3" });
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
