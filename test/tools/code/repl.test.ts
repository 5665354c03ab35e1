import { describe, expect, it } from "vitest";
import type { ReplResult } from "../../../src/tools/code/repl/run-line.js";
import { needs } from "../../support/needs.js";
import { codeSession, structured } from "./execute-support.js";

async function replSession() {
  const { call, ...rest } = await codeSession();
  return {
    ...rest,
    call,
    type: async (code: string, more: object = {}): Promise<ReplResult> =>
      structured(await call("repl", { code, ...more })),
  };
}

describe("a repl session", () => {
  it("of Python shows values, output and tracebacks, and awaits", async (context) => {
    needs(context, "python3", "bwrap");
    const { type } = await replSession();
    expect(await type("x = [1, 'ü']\nx")).toMatchObject({
      session_id: "main",
      result: "[1, 'ü']",
      session: "new",
    });
    expect(await type("import sys\nprint('out'); print('err', file=sys.stderr)")).toEqual({
      success: true,
      status: "success",
      session_id: "main",
      output: "out\nerr\n",
      sandbox: "none (code_execution.sandbox is off)",
    });
    expect(await type("import asyncio\nawait asyncio.sleep(0, x)")).toMatchObject({ result: "[1, 'ü']" });
    const failed = await type("def f():\n    return missing\nf()");
    expect(failed.error).toContain('File "<cell 4>", line 2, in f\n    return missing\n');
    expect(await type("_[0]")).toMatchObject({ result: "1" });
    expect(await type("import time\ntime.sleep(30)", { timeout: 0.3 })).toMatchObject({
      status: "timeout",
      success: false,
    });
    expect(await type("x[0]")).toMatchObject({ result: "1" });
  });

  it("of bash keeps its folder, variables and functions, and survives an interrupt", async (context) => {
    needs(context, "bwrap");
    const { type } = await replSession();
    const bash = { language: "bash" };
    expect(await type("cd /; word='it is'; f() { echo \"$word $1\"; return 3; }", bash)).toMatchObject({
      exit_code: 0,
    });
    expect(await type("pwd\nf 'übel'", bash)).toMatchObject({
      output: "/\nit is übel\n",
      exit_code: 3,
      error: "exit status 3",
    });
    expect(await type("echo aside >&2; read line || echo no input", bash)).toMatchObject({
      output: "aside\nno input\n",
    });
    for (const code of ["sleep 30; echo after", "while :; do :; done"]) {
      const late = await type(code, { ...bash, timeout: 0.3 });
      expect(late).toMatchObject({
        status: "timeout",
        error: expect.stringContaining("the session is kept"),
      });
      expect(late.output).not.toContain("after");
    }
    expect(await type("echo $word", bash)).toMatchObject({ output: "it is\n" });
    expect(await type("exit 4", bash)).toMatchObject({
      exit_code: 4,
      session: expect.stringMatching(/^gone: /),
    });
    expect(await type("echo [$word]", bash)).toMatchObject({
      output: "[]\n",
      session: expect.stringMatching(/^new: /),
    });
  });

  it("of Node is another one than that of Python, and there may be several", async () => {
    const { type } = await replSession();
    expect(await type("const n = 1; n + 1", { language: "node" })).toMatchObject({ result: "2" });
    expect(await type("typeof n", { language: "node", session_id: "b" })).toMatchObject({
      result: "'undefined'",
      session_id: "b",
    });
    expect(await type("n", { language: "js" })).toMatchObject({ result: "1" });
    expect(await type("", { language: "node", reset: true })).toMatchObject({ session: "ended" });
    expect(await type("typeof n", { language: "node" })).toMatchObject({
      result: "'undefined'",
      session: "new",
    });
  });

  it("runs nothing that needs a yes, at once or bit by bit", async (context) => {
    needs(context, "bwrap");
    const { call, type } = await replSession();
    const code = async (args: object) => (await call("repl", args)).error?.code;
    expect(await code({ code: "rm -rf src", language: "bash" })).toBe("denied");
    expect(await code({ code: "require('fs').rmSync('src', { recursive: true })", language: "node" })).toBe(
      "denied",
    );
    await type('go() { "$@"; }', { language: "bash" });
    const split = await call("repl", { code: "go rm -rf src", language: "bash" });
    expect(split.error).toMatchObject({ code: "denied" });
    expect(split.error?.message).toMatch(/^Together with earlier code/);
    expect(await code({ code: "" })).toBe("invalid_arguments");
  });
});
