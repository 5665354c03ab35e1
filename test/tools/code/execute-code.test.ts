import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { codeSession, hasPython } from "./execute-support.js";

const echo = defineTool({
  name: "echo",
  description: "gives back what it gets",
  parameters: {
    type: "object",
    properties: {
      value: {},
      times: { type: "integer", default: 1 },
      from: { type: "string" },
      note: { type: ["string", "null"] },
    },
    required: ["value"],
  },
  permissions: [],
  effects: () => [],
  handler: (args) => ({ args }),
}) as AnyTool;
const big = defineTool({
  name: "big",
  description: "a large text",
  parameters: { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
  permissions: [],
  effects: () => [],
  handler: ({ size }) => ({ text: "ä".repeat(size) }),
}) as AnyTool;

const gone = (pid: number) => {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
};

describe.skipIf(!hasPython)("Python scripts", () => {
  it("call tools, print, read their input and end as they like", async () => {
    const { run, cwd } = await codeSession();
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    const code = [
      "import sys, hermes_tools",
      "from hermes_tools import read_file, terminal, file_read, shell_quote, json_parse",
      'print(read_file("a.txt")["total_lines"], file_read(path="a.txt", limit=1)["total_lines"])',
      'print(terminal("echo " + shell_quote("it\'s ünï 😀"))["output"], end="")',
      "print(json_parse('\\ufeff{\"a\": 1}')['a'], sys.stdin.read())",
      'print("aside", file=sys.stderr)',
      "sys.exit(3)",
    ].join("\n");
    const out = await run({ code, stdin: "given" });
    expect(out).toMatchObject({
      success: false,
      status: "error",
      output: "2 2\nit's ünï 😀\n1 given\n",
      stderr: "aside\n",
      exit_code: 3,
      tool_calls_made: 3,
      sandbox: "none (code_execution.sandbox is off)",
    });
  });

  it("tell of their failures with the lines of the script and none of ours", async () => {
    const { run } = await codeSession();
    const code = "def inner():\n    from hermes_tools import read_file\n    read_file('none.txt')\ninner()";
    const out = await run({ code });
    expect(out.stderr).toContain('File "<script>", line 3, in inner');
    expect(out.stderr).toContain("read_file('none.txt')");
    expect(out.stderr).not.toContain("<hermes");
    expect(out.error).toMatch(/^hermes_tools\.ToolError: .*none\.txt does not exist/);
    const broken = await run({ code: "print(1" });
    expect(broken).toMatchObject({ status: "error", error: "SyntaxError: '(' was never closed" });
  });

  it("have functions with the names, order and defaults of the tools", async () => {
    const { run } = await codeSession({ tools: [echo], settings: ["tools: [all]"] });
    const code = [
      "import hermes_tools as h, inspect, pathlib",
      "print(inspect.signature(h.echo))",
      "print('gives back' in h.echo.__doc__, hasattr(h, 'execute_code'), hasattr(h, 'clarify'))",
      "print(h.echo('a', 2)['args'])",
      "print(h.echo(value=pathlib.Path('/x'), note=None, **{'from': 'me'})['args'])",
      "print(h.call_tool('echo', value=[1, None, True, 1.5])['args'])",
    ].join("\n");
    const out = await run({ code });
    expect(out.output.split("\n").slice(0, -1)).toEqual([
      "(value, times=1, note=<left out>, **more)",
      "True False False",
      "{'value': 'a', 'times': 2}",
      "{'from': 'me', 'value': '/x', 'times': 1, 'note': None}",
      "{'value': [1, None, True, 1.5], 'times': 1}",
    ]);
  });

  it("get results whole, whatever their size, and give large arguments", async () => {
    const { run } = await codeSession({ tools: [echo, big], settings: ["tools: [all]"] });
    const code = [
      "from hermes_tools import big, echo",
      "print(len(big(1_500_000)['text']), set(big(300_000)['text']))",
      "print(len(echo('ü' * 400_000)['args']['value']))",
    ].join("\n");
    expect((await run({ code })).output).toBe("1500000 {'ä'}\n400000\n");
  });

  it("may call from many threads at once", async () => {
    const { run } = await codeSession({ tools: [echo], settings: ["tools: [all]", "max_tool_calls: 1000"] });
    const code = [
      "from concurrent.futures import ThreadPoolExecutor",
      "from hermes_tools import echo",
      "with ThreadPoolExecutor(16) as pool:",
      "    got = list(pool.map(lambda n: echo(n)['args']['value'], range(300)))",
      "print(got == list(range(300)))",
    ].join("\n");
    expect(await run({ code })).toMatchObject({ output: "True\n", tool_calls_made: 300 });
  });

  it("make at most as many calls as are allowed", async () => {
    const { run } = await codeSession({ tools: [echo], settings: ["tools: [echo]"] });
    const code = [
      "from hermes_tools import echo, ToolError",
      "for n in range(50): echo(n)",
      "try:\n    echo(51)\nexcept ToolError as error:\n    print(error.code, error.message)",
    ].join("\n");
    expect(await run({ code })).toMatchObject({
      output: "over_budget This script has made 50 tool calls, which is the limit.\n",
      tool_calls_made: 50,
    });
  });

  it("keep the beginning and the end of what they print, and say how much it was", async () => {
    const { run } = await codeSession({ settings: ["max_stdout_bytes: 1000", "max_stderr_bytes: 100"] });
    const code = "import sys\nprint('a' * 5000 + 'b' * 5000, end='')\nsys.stderr.write('c' * 300)";
    const out = await run({ code });
    expect(out.output).toBe(
      `${"a".repeat(400)}\n[... 9000 of 10000 characters omitted ...]\n${"b".repeat(600)}`,
    );
    expect(out.stderr).toBe(`${"c".repeat(40)}\n[... 200 of 300 characters omitted ...]\n${"c".repeat(60)}`);
    expect(out.truncated).toBe(true);
  });

  it("are ended with everything they started when their time is over", async () => {
    const { run } = await codeSession();
    const code = [
      "import subprocess, time",
      "child = subprocess.Popen(['sh', '-c', 'trap : TERM; setsid sleep 60 & echo $!; wait; sleep 60'])",
      "print(child.pid, flush=True)",
      "time.sleep(60)",
    ].join("\n");
    const out = await run({ code, timeout: 1 });
    expect(out).toMatchObject({ status: "timeout", exit_code: 124, success: false });
    const pids = out.output.trim().split("\n").map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.map(gone)).toEqual([true, true]);
  });

  it("leave nothing running when they end by themselves", async () => {
    const { run } = await codeSession();
    const code = "import subprocess\nprint(subprocess.Popen(['setsid', 'sleep', '60']).pid)";
    const out = await run({ code });
    expect(out.status).toBe("success");
    expect(gone(Number(out.output))).toBe(true);
  });

  it("and their children never hold the channel", async () => {
    const { run } = await codeSession();
    const code = [
      "import os, subprocess",
      "print(subprocess.run(['sh', '-c', 'ls /proc/self/fd'], capture_output=True, text=True).stdout.split())",
      "pid = os.fork()",
      "from hermes_tools import terminal, ToolError",
      "if pid == 0:",
      "    try:\n        terminal('echo no')\n    except ToolError as error:\n        print(error.code, flush=True)",
      "    os._exit(0)",
      "os.waitpid(pid, 0)",
      "print(terminal('echo yes')['output'])",
    ].join("\n");
    const out = await run({ code });
    expect(out.output).toBe("['0', '1', '2', '3']\nunavailable\nyes\n\n");
  });

  it("print in order with their children, and cannot be fooled by modules of the folder", async () => {
    const { run, cwd } = await codeSession();
    writeFileSync(join(cwd, "json.py"), "raise RuntimeError('not this one')");
    writeFileSync(join(cwd, "mine.py"), "word = 'mine'");
    const code = "import subprocess, mine\nprint(mine.word)\nsubprocess.run(['echo', 'child'])\nprint('end')";
    expect((await run({ code })).output).toBe("mine\nchild\nend\n");
  });

  it("see no variable whose name speaks of a secret, unless it is let through", async () => {
    const { run, call } = await codeSession({
      env: { OPENED_TOKEN: "yes" },
      session: { approver: { ask: async () => "once" } },
      config: "terminal:\n  env_passthrough: [OPENED_TOKEN]\n",
    });
    await call("terminal", { command: "export MY_API_KEY=k DbPassword=p XPLAIN=fine" });
    const code = [
      "import os",
      "print(sorted(name for name in os.environ if name[0] in 'MDXO' and name[1] in 'YbPX'))",
      "print('_API_' in open('/proc/self/environ').read(), bool(os.environ['TZ']))",
    ].join("\n");
    expect((await run({ code })).output).toBe("['OPENED_TOKEN', 'XPLAIN']\nFalse True\n");
  });

  it("use the virtual environment of the project, and an empty folder in strict mode", async () => {
    const { run, cwd } = await codeSession();
    const { output: real } = await run({ code: "import sys; print(sys.executable, end='')" });
    mkdirSync(join(cwd, ".venv/bin"), { recursive: true });
    symlinkSync(real, join(cwd, ".venv/bin/python"));
    const where = "import sys, os\nprint(sys.executable, os.getcwd(), os.environ.get('VIRTUAL_ENV'), end='')";
    expect((await run({ code: where })).output).toBe(`${cwd}/.venv/bin/python ${cwd} ${cwd}/.venv`);
    const strict = await run({
      code: "import os\nopen('x', 'w')\nprint(os.getcwd(), end='')",
      mode: "strict",
    });
    expect(strict.output.startsWith(join(tmpdir(), "hermes-code-"))).toBe(true);
    expect(existsSync(strict.output)).toBe(false);
    expect(existsSync(join(cwd, "x"))).toBe(false);
  });

  it("a setting of strict cannot be loosened by a call", async () => {
    const { run, cwd } = await codeSession({ settings: ["mode: strict"] });
    const out = await run({ code: "import os\nprint(os.getcwd(), end='')", mode: "project" });
    expect(out.output).not.toBe(cwd);
  });
});

describe("JavaScript and TypeScript", () => {
  it("are modules that call tools and may import what is there", async () => {
    const { run, cwd } = await codeSession();
    writeFileSync(join(cwd, "mine.mjs"), "export const word: string = 1".replace(": string", ""));
    const code = [
      'import { terminal, ToolError } from "hermes_tools";',
      'import fs from "node:fs";',
      'import { word } from "./mine.mjs";',
      'const { default: path } = await import("node:path");',
      'console.log(word, path.sep, fs.readFileSync(0, "utf8"), require("os").EOL === "\\n");',
      "const got = await Promise.all([hermes.terminal({ command: 'echo ü' }), terminal('echo two')]);",
      "console.log(got.map(({ output }) => output.trim()).join());",
      "try { await tools.read_file({ path: 'none' }) } catch (error) { console.error(error instanceof ToolError, error.code) }",
    ].join("\n");
    expect(await run({ code, language: "js", stdin: "given" })).toMatchObject({
      status: "success",
      output: "1 / given true\nü,two\n",
      stderr: "true failed\n",
      tool_calls_made: 3,
    });
    const typed =
      "interface A { readonly n: number }\nconst a: A = { n: 2 };\nconsole.log(a.n satisfies number);";
    expect(await run({ code: typed, language: "typescript" })).toMatchObject({ output: "2\n", exit_code: 0 });
  });

  it("tell of failures, of waits without end, and of their exit code", async () => {
    const { run } = await codeSession();
    const language = "javascript";
    const failed = await run({ code: "\nthrow new TypeError('why')", language });
    expect(failed).toMatchObject({ status: "error", error: "TypeError: why", exit_code: 1 });
    expect(failed.stderr).toContain("script.mjs:2");
    expect(failed.stderr).not.toContain("hermes:driver");
    const late = await run({ code: "setTimeout(() => { throw new Error('late') }, 1)", language });
    expect(late).toMatchObject({ error: "Error: late", exit_code: 1 });
    expect(await run({ code: "await new Promise(() => {})", language })).toMatchObject({ exit_code: 13 });
    expect(await run({ code: "process.exitCode = 7", language })).toMatchObject({ exit_code: 7 });
    expect(await run({ code: "while (true) {}", language, timeout: 0.5 })).toMatchObject({
      status: "timeout",
    });
  });

  it("give children none of the channel", async () => {
    const { run } = await codeSession();
    const code =
      "console.log(require('child_process').execSync('ls /proc/self/fd').toString().split('\\n').join(' '))";
    expect((await run({ code, language: "js" })).output).toBe("0 1 2 3 \n");
  });

  it("code mode has the same tools under the same limits", async () => {
    const { run } = await codeSession({ tools: [echo], settings: ["tools: [echo]", "max_tool_calls: 2"] });
    const code =
      "let n = 0; try { for (;;) { await tools.echo({ value: n }); n++ } } catch (error) { console.log(error.code) }\nn";
    expect(await run({ code, language: "js", sandbox: "quickjs" })).toMatchObject({
      result: 2,
      tool_calls_made: 2,
      sandbox: "quickjs",
      output: "over_budget\n",
    });
  });
});

describe.skipIf(!hasPython)("the rules inside a script", () => {
  it("are those outside: what is denied raises, and nothing runs", async () => {
    const { run, cwd } = await codeSession();
    writeFileSync(join(cwd, "kept.txt"), "");
    const code = [
      "from hermes_tools import terminal, ToolError",
      "for command in (bytes([114, 109, 32, 45, 114, 102, 32, 46]), bytes([114, 109, 32, 45, 114, 102, 32, 47])):",
      "    try:\n        terminal(command.decode())\n    except ToolError as error:\n        print(error.code)",
    ].join("\n");
    expect((await run({ code })).output).toBe("denied\ndenied\n");
    expect(readdirSync(cwd)).toEqual(["kept.txt"]);
  });

  it("judge the script itself before it runs", async () => {
    const { call, cwd } = await codeSession();
    mkdirSync(join(cwd, "src"));
    const python = await call("execute_code", { code: "import shutil\nshutil.rmtree('src')" });
    const node = await call("execute_code", {
      code: "require('fs').rmSync('src',{recursive:true})",
      language: "js",
    });
    expect([python.error?.code, node.error?.code]).toEqual(["denied", "denied"]);
    expect(existsSync(join(cwd, "src"))).toBe(true);
  });

  it("stop the clock while a person thinks, and go on after a yes, or raise after a no", async () => {
    const answers = ["once", "deny"] as const;
    let asked = 0;
    const { run, cwd } = await codeSession({
      session: {
        approver: {
          ask: async () => {
            await new Promise((resolve) => setTimeout(resolve, 2_600));
            return answers[asked++] ?? "deny";
          },
        },
      },
    });
    mkdirSync(join(cwd, "one"));
    mkdirSync(join(cwd, "two"));
    const code = [
      "from hermes_tools import terminal, ToolError",
      "print(terminal('rm -rf one')['exit_code'])",
      "try:\n    terminal('rm -rf two')\nexcept ToolError as error:\n    print(error.code)",
    ].join("\n");
    const out = await run({ code, timeout: 5 });
    expect(out).toMatchObject({ status: "success", output: "0\ndenied\n" });
    expect(out.duration_seconds).toBeGreaterThan(5.1);
    expect(readdirSync(cwd)).toEqual(["two"]);
  });

  it("let commands run only in the foreground, under no other spelling either", async () => {
    const { run } = await codeSession();
    const code = [
      "from hermes_tools import terminal, call_tool, ToolError",
      "for tool, args in (('terminal', {'background': True}), ('terminal', {'pty': True}), ('functions.terminal', {'background': True}), ('execute_code', {})):",
      "    try:\n        call_tool(tool, command='echo x', code='1', **args)\n    except ToolError as error:\n        print(error.code)",
    ].join("\n");
    expect((await run({ code })).output).toBe("invalid_arguments\ninvalid_arguments\nnot_found\nnot_found\n");
  });

  it("write every call down, at the latest when the script is answered", async () => {
    const { run, session } = await codeSession({
      tools: [echo],
      settings: ["tools: [echo, terminal]"],
      journal: true,
    });
    const code =
      "from hermes_tools import echo, terminal\nfor n in range(5): echo(n)\nterminal('true')\necho(5)";
    await run({ code });
    const rows = await session.scope.services.journal.recent({ limit: 20 });
    const told = rows.map((row) => `${row.tool} ${row.status}`).sort();
    expect(told).toEqual([
      "echo ok",
      "echo ok",
      "echo ok",
      "echo ok",
      "echo ok",
      "echo ok",
      "execute_code ok",
      "terminal ok",
    ]);
  });

  it("tell a model which functions there are", async () => {
    const { runtime } = await codeSession({ settings: ["tools: [terminal, read_file, web_search]"] });
    const session = await runtime.openSession({ toolsets: ["execute_code", "read_file", "write_file"] });
    const tools = await session.definitions();
    const described = tools.find((tool) => tool.function.name === "execute_code")?.function.description;
    expect(described).toMatch(/the arguments of the tools: read_file\.$/);
  });
});
