import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolError } from "../../../src/tool/errors.js";
import { foregroundRefusal } from "../../../src/tools/system/foreground.js";
import terminal, { type TerminalOutput } from "../../../src/tools/system/terminal.js";
import { makeContext, type TestContext } from "../context.js";

let ctx: TestContext;
beforeEach(() => {
  ctx = makeContext();
});
afterEach(() => ctx.cleanUp());

async function run(
  args: { command: string; timeout?: number; workdir?: string; notify_on_complete?: boolean },
  context: TestContext = ctx,
) {
  return (await terminal.handler({ timeout: 180, ...args }, context)) as TerminalOutput;
}

async function refusal(args: Parameters<typeof run>[0]): Promise<ToolError> {
  const error: unknown = await run(args).catch((thrown: unknown) => thrown);
  if (!ToolError.isInstance(error)) throw new Error(`was not refused: ${JSON.stringify(error)}`);
  return error;
}

describe("a command", () => {
  test("that succeeds has no error", async () => {
    expect(await run({ command: "echo hi" })).toEqual({
      output: "hi\n",
      exit_code: 0,
      duration_ms: expect.any(Number),
      truncated: false,
      cwd: expect.stringContaining("hermes-test-"),
      environment: "local",
    });
  });

  test("that fails is a result that says so", async () => {
    const result = await run({ command: "echo partial; exit 3" });
    expect(result).toMatchObject({ output: "partial\n", exit_code: 3 });
    expect(result.error).toBeUndefined();
    expect(terminal.present?.(result).human).toBe("partial\nexit code 3");
    const none = await run({ command: "echo a | grep b" });
    expect(terminal.present?.(none).human).toBe("exit code 1 (no lines matched (not an error))");
  });

  test("runs in the folder asked for and tells where it ended", async () => {
    await mkdir(join(ctx.folder, "sub dir", "deep"), { recursive: true });
    const result = await run({ command: "pwd; cd deep", workdir: "sub dir" });
    expect(result.output.trim()).toBe(join(ctx.folder, "sub dir"));
    expect(result.cwd).toBe(join(ctx.folder, "sub dir", "deep"));
  });

  test("has colours and cursor movements taken out", async () => {
    const { output } = await run({
      command: "printf '\\033[1;31mred\\033[0m \\033]0;title\\007plain \\033[2K\\033[38;5;12mx\\n'",
    });
    expect(output).toBe("red plain x\n");
  });

  test("that takes too long ends with its output so far and a message", async () => {
    const result = await run({ command: "echo begun; echo $$ > pid; sleep 30", timeout: 1 });
    expect(result).toMatchObject({
      output: "begun\n",
      exit_code: 124,
      error: expect.stringMatching(/after 1 s/),
    });
    const pid = Number(await readFile(join(ctx.folder, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test("can be cancelled", async () => {
    const abort = new AbortController();
    const own = makeContext({ signal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    expect(await run({ command: "sleep 30" }, own)).toMatchObject({
      exit_code: 130,
      error: expect.stringContaining("Cancelled"),
    });
    await own.cleanUp();
  });

  test("streams its output and is cut to the configured size", async () => {
    const own = makeContext({ settings: { max_output_chars: 100 } });
    const result = await run({ command: "seq 1 1000" }, own);
    expect(result.truncated).toBe(true);
    expect(result.output).toMatch(/^1\n2\n[\s\S]*omitted[\s\S]*1000\n$/);
    expect(own.updates.map((update) => update.chunk).join("")).toMatch(/^1\n[\s\S]*1000\n$/);
    await own.cleanUp();
  });
});

test.each([
  ["grep nothing-here /etc/hostname", 1, /no lines matched/],
  ["echo x | grep y", 1, /no lines matched/],
  ["diff <(echo a) <(echo b)", 1, /differ/],
  ["echo a > a; echo b > b; diff a b", 1, /differ/],
  ["[ 1 = 2 ]", 1, /condition is false/],
  ["test 1 = 2", 1, /condition is false/],
  ["nosuchprogram", 127, /not found/],
  ["bash -c 'kill -9 $$'", 137, /SIGKILL.*memory/],
  ["bash -c 'kill -SEGV $$'", 139, /SIGSEGV/],
  ["false", 1, undefined],
  ["grep x /etc/hostname; true", 0, undefined],
])("exit note of %s", async (command, code, note) => {
  const result = await run({ command });
  expect(result.exit_code).toBe(code);
  if (note === undefined) expect(result).not.toHaveProperty("exit_code_meaning");
  else expect(result.exit_code_meaning).toMatch(note);
});

describe("what does not end by itself is refused before it starts", () => {
  test.each([
    "nohup ./server",
    "setsid daemon",
    "sleep 1; disown",
    "sudo nohup x",
    "FOO=1 nohup x",
    "sleep 100 &",
    "sleep 100 & echo next",
    "a & b & wait",
    "(sleep 100 &)",
    "server > log 2>&1 &",
    "curl http://x.example/?a=1&b=2",
    "npm start",
    "npm run dev",
    "npm --prefix web run dev",
    "cd web && pnpm dev",
    "yarn serve",
    "bun run watch",
    "npm run dev:api",
    "docker compose up",
    "docker-compose -f x.yml up",
    "next dev",
    "npx vite",
    "vite --port 3000",
    "nodemon app.js",
    "uvicorn app:app --reload",
    "gunicorn app:app",
    "python3 -m http.server 8000",
    "python -m http.server",
    "if true; then npm start; fi",
  ])("%s", (command) => {
    expect(foregroundRefusal(command)).toMatchObject({
      code: "invalid_arguments",
      hint: expect.stringContaining("background: true"),
    });
  });

  test("so that nothing of it happens", async () => {
    const error = await refusal({ command: "touch made; sleep 100 &" });
    expect(error).toMatchObject({ code: "invalid_arguments", hint: expect.stringContaining("&") });
    expect(existsSync(join(ctx.folder, "made"))).toBe(false);
  });
});

describe("what only mentions such things runs", () => {
  test.each([
    "echo 'nohup x &'",
    'echo "a & b"; true',
    "echo a\\&b",
    "grep -c nohup /dev/null || true",
    "echo x >&2 2>&1",
    "echo x &> /dev/null",
    "true && true || false",
    "echo x |& cat",
    "echo $((6 & 3))",
    "cat <<EOF\nnpm start & nohup\nEOF",
    "cat <<-'END'\n\ta & b\n\tEND",
    "cat <<< 'a & b'",
    "# npm start &\ntrue",
    "echo done # & later",
    "case x in x) true ;;& y) false ;; esac",
    "echo npm start",
  ])("%s", async (command) => {
    expect(await run({ command, timeout: 20 })).toHaveProperty("exit_code");
  });

  test.each([
    "vite build",
    "vite --version",
    "npm start --help",
    "npm install dev",
    "npm run build && npm test",
    "docker compose up -d",
    "docker compose down",
    "timeout 5 npm start",
    "python3 -m pytest",
    "python3 -m json.tool",
    "next build",
    "git log --grep=nohup",
  ])("%s", (command) => {
    expect(foregroundRefusal(command)).toBeUndefined();
  });
});

test("limits are refused with what to do instead", async () => {
  expect((await refusal({ command: "true", timeout: 601 })).hint).toMatch(/background/);
  const own = makeContext({ settings: { max_foreground_timeout: 5 } });
  await expect(run({ command: "true", timeout: 6 }, own)).rejects.toThrow(/at most 5 s/);
  await own.cleanUp();
  for (const workdir of ["a;b", "$(id)", "a\nb", "`x`", "a|b", "a*"]) {
    expect((await refusal({ command: "true", workdir })).message).toMatch(/characters/);
  }
  expect((await refusal({ command: "true", workdir: "missing" })).message).toMatch(/does not exist/);
});

test("effects and time limit are told beforehand", () => {
  const args = { command: "rm -rf x", timeout: 10 };
  expect(terminal.effects?.(args, { cwd: "/", environment: "local" })).toEqual([
    { action: "terminal:execute", resource: "rm -rf x", mode: "execute" },
  ]);
  const limit = typeof terminal.timeoutMs === "function" ? terminal.timeoutMs(args) : 0;
  expect(limit).toBeGreaterThan(10_000);
});

test("the policy sees the same whether a command runs in front, behind or in a terminal", () => {
  const scope = { cwd: "/w", environment: "local", exported: { TARGET: "/", OTHER: "x" } };
  const plain = { command: "rm -rf $TARGET" };
  const expected = [
    { action: "terminal:execute", resource: "rm -rf $TARGET", mode: "execute", variables: { TARGET: "/" } },
  ];
  for (const change of [{}, { background: true }, { pty: true }, { background: true, pty: true }]) {
    expect(terminal.effects?.({ ...plain, ...change }, scope)).toEqual(expected);
  }
});

test("a command that asks although nobody can answer: the hint says what to do", async () => {
  const result = await run({ command: "printf 'Overwrite the file? [y/N] '; sleep 30", timeout: 1 });
  expect(result.hint).toMatch(/pty: true/);
});

test("options for the background are refused in the foreground", async () => {
  const own = { command: "true", notify_on_complete: true };
  expect((await refusal(own)).hint).toMatch(/background: true/);
});

test("refusing keeps pace with very long commands", async () => {
  const started = Date.now();
  await run({ command: `: ${"'x&' ".repeat(20_000)}` });
  await run({ command: `: ${"<<".repeat(5_000)} || true` });
  expect(Date.now() - started).toBeLessThan(5_000);
});
