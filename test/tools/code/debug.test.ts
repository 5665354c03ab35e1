import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import codeDebug from "../../../src/tools/code/code-debug.js";
import type { DebugRun } from "../../../src/tools/code/debug/run.js";
import { testRuntime } from "../../support/runtime.js";
import { makeContext, type TestContext } from "../context.js";

const contexts: TestContext[] = [];
afterEach(async () => {
  for (const ctx of contexts.splice(0)) await ctx.cleanUp();
});
function context(changes: Parameters<typeof makeContext>[0] = {}): TestContext {
  const ctx = makeContext(changes);
  contexts.push(ctx);
  return ctx;
}

type Args = Parameters<typeof codeDebug.handler>[0];
async function debug(
  files: Readonly<Record<string, string>>,
  args: Partial<Args>,
  ctx = context(),
): Promise<DebugRun> {
  for (const [name, source] of Object.entries(files)) writeFileSync(join(ctx.folder, name), source);
  const all: Args = {
    program: Object.keys(files)[0] ?? "",
    language: "auto",
    args: [],
    breakpoints: [],
    evaluate: [],
    stop_on_exceptions: "uncaught",
    max_stops: 10,
    timeout: 60,
    ...args,
  };
  return (await codeDebug.handler(all, ctx)) as DebugRun;
}

async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await delay(50);
  }
  return false;
}

const hasDebugpy = ["python3", "python", "/usr/bin/python3"].some(
  (python) => spawnSync(python, ["-c", "import debugpy"]).status === 0,
);

const SHOP_PY = `import sys
class Cart:
    def __init__(self, items):
        self.items = items
def total(cart, rate):
    result = 0
    for index, price in enumerate(cart.items):
        result += price * rate
    return result
print("total", total(Cart([1, 2, 3]), 2), sys.argv[1:])
raise ValueError("bad news")
`;

describe("Python", () => {
  beforeEach((context) => {
    if (!hasDebugpy) context.skip("needs debugpy: apt-get install python3-debugpy");
  });

  test("a conditional breakpoint shows stack, locals and values, then the uncaught exception", async () => {
    const ctx = context();
    // A file of the project with the name of a module that the debugger needs itself.
    const run = await debug(
      { "shop.py": SHOP_PY, "queue.py": "raise SystemExit('wrong queue')\n" },
      {
        breakpoints: [{ line: 8, condition: "index == 1" }],
        evaluate: ["price * 100", "nowhere", "[i for i in range(3)]"],
        args: ["a b", "$(x)"],
      },
      ctx,
    );
    const shop = join(ctx.folder, "shop.py");
    expect(run).toMatchObject({ ended: "exited", exit_code: 1 });
    expect(run.stops).toHaveLength(2);
    expect(run.stops[0]).toEqual({
      reason: "breakpoint",
      file: shop,
      line: 8,
      function: "total",
      stack: [
        { function: "total", file: shop, line: 8, source: "result += price * rate" },
        {
          function: "<module>",
          file: shop,
          line: 10,
          source: 'print("total", total(Cart([1, 2, 3]), 2), sys.argv[1:])',
        },
      ],
      locals: { cart: "Cart(items=[1, 2, 3])", index: "1", price: "2", rate: "2", result: "2" },
      evaluations: [
        { expression: "price * 100", value: "200" },
        { expression: "nowhere", error: "NameError: name 'nowhere' is not defined" },
        { expression: "[i for i in range(3)]", value: "[0, 1, 2]" },
      ],
    });
    expect(run.stops[1]).toMatchObject({ reason: "exception", line: 11, exception: "ValueError: bad news" });
    expect(run.output).toContain("total 12 ['a b', '$(x)']\nTraceback");
    expect(run.output).not.toContain("debugpy");
  });

  test("a program that hangs shows where, and is ended with what it started", async () => {
    const source =
      "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\n" +
      "open('pid', 'w').write(str(child.pid))\nwhile True:\n    pass\n";
    const ctx = context();
    const run = await debug({ "hang.py": source }, { timeout: 1 }, ctx);
    expect(run).toMatchObject({ ended: "timeout", exit_code: null });
    expect(run.stops.at(-1)).toMatchObject({ reason: "timeout", file: join(ctx.folder, "hang.py") });
    expect([4, 5]).toContain(run.stops.at(-1)?.line);
    expect(await isGone(Number(readFileSync(join(ctx.folder, "pid"), "utf8")))).toBe(true);
  });
});

test("without debugpy it says how to get it", async () => {
  const ctx = context();
  const environment = {
    ...ctx.environment,
    exec: (request: Parameters<typeof ctx.environment.exec>[0]) =>
      ctx.environment.exec({
        ...request,
        command: String(request.command).replaceAll('"debugpy"', '"no_such_module"'),
      }),
  };
  const blind = context({ environment });
  await expect(debug({ "x.py": "pass\n" }, {}, blind)).rejects.toMatchObject({
    code: "unavailable",
    hint: expect.stringContaining("pip install debugpy"),
  });
});

describe("Node", () => {
  const SHOP_JS = `const { tax } = require("./tax.js");
class Cart { constructor(items) { this.items = items; this.seen = new Set(["a"]); } }
function total(cart, rate) {
  let result = 0;
  for (const [index, price] of cart.items.entries()) {
    result += price * rate;
  }
  return tax(result);
}
console.log("total", total(new Cart([1, 2, 3]), 2), process.argv.slice(2));
console.error("to stderr");
undefined.missing;
`;

  test("conditional breakpoints, other files, values and the uncaught exception", async () => {
    const ctx = context();
    const run = await debug(
      { "shop.js": SHOP_JS, "tax.js": "exports.tax = (sum) => {\n\n  return sum + 1;\n};\n" },
      {
        breakpoints: [
          { line: 6, condition: "index === 1" },
          { file: "tax.js", line: 2 },
          { file: "never.js", line: 3 },
        ],
        evaluate: ["price * 100", "({ a: [1, { b: 2 }] })"],
        args: ["a b"],
      },
      ctx,
    );
    const shop = join(ctx.folder, "shop.js");
    expect(run).toMatchObject({ ended: "exited", exit_code: 1 });
    expect(run.stops.map(({ reason, line, function: name }) => [reason, line, name])).toEqual([
      ["breakpoint", 6, "total"],
      ["breakpoint", 3, "exports.tax"],
      ["exception", 12, "(anonymous)"],
    ]);
    expect(run.stops[0]).toMatchObject({
      file: shop,
      stack: [
        { function: "total", file: shop, line: 6, source: "result += price * rate;" },
        { function: "(anonymous)", file: shop, line: 10 },
      ],
      locals: {
        index: "1",
        price: "2",
        result: "2",
        rate: "2",
        cart: 'Cart { items: [1, 2, 3], seen: Set(1) { "a" } }',
      },
      evaluations: [
        { expression: "price * 100", value: "200" },
        { expression: "({ a: [1, { b: 2 }] })", value: "{ a: [1, Object] }" },
      ],
    });
    expect(run.stops[1]?.evaluations[0]).toMatchObject({ error: "ReferenceError: price is not defined" });
    expect(run.stops[2]?.exception).toMatch(/^TypeError: Cannot read properties of undefined/);
    expect(run.breakpoints).toMatchObject([
      { line: 6, verified: true },
      { line: 2, verified: true, actual_line: 3 },
      { line: 3, verified: false },
    ]);
    expect(run.output).toMatch(/^total 13 \[ 'a b' \]\nto stderr\n/);
    expect(run.output).not.toContain("Debugger");
  });

  test("an ES module: what its top level throws, but not what it catches", async () => {
    const run = await debug(
      {
        "main.mjs":
          "try {\n  throw new Error('handled');\n} catch {}\nawait 0;\nconst fail = (code) => {\n" +
          "  throw new Error('code ' + code);\n};\nfail(7);\n",
      },
      {},
    );
    expect(run.stops).toMatchObject([
      { reason: "exception", line: 6, function: "fail", exception: "Error: code 7", locals: { code: "7" } },
    ]);
    expect(run.exit_code).toBe(1);
  });

  test("ends at max_stops, with what the program has started", async () => {
    const ctx = context();
    const source =
      'const { spawn } = require("node:child_process");\n' +
      'const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });\n' +
      'require("node:fs").writeFileSync("pid", String(child.pid));\n' +
      "for (let n = 0; ; n++) {\n  n.toString();\n}\n";
    const run = await debug({ "loop.js": source }, { breakpoints: [{ line: 5 }], max_stops: 3 }, ctx);
    expect(run).toMatchObject({ ended: "max_stops", exit_code: null });
    expect(run.stops.map(({ locals }) => locals.n)).toEqual(["0", "1", "2"]);
    expect(await isGone(Number(readFileSync(join(ctx.folder, "pid"), "utf8")))).toBe(true);
  });

  test("a cancelled call ends at once", async () => {
    const abort = new AbortController();
    const ctx = context({ signal: abort.signal });
    const running = debug(
      { "wait.js": 'require("node:fs").writeFileSync("up", "");\nsetInterval(() => {}, 1000);\n' },
      {},
      ctx,
    );
    while (!existsSync(join(ctx.folder, "up"))) await delay(20);
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("what may be debugged", () => {
  test("TypeScript, unknown languages and missing files are refused with what to do", async () => {
    const refused = async (name: string) => debug({ [name]: "" }, {}).catch((error: unknown) => error);
    expect(await refused("a.ts")).toMatchObject({
      code: "invalid_arguments",
      hint: expect.stringContaining("JavaScript"),
    });
    expect(await refused("program")).toMatchObject({
      code: "invalid_arguments",
      hint: expect.stringContaining("language"),
    });
    const missing = debug({ "a.js": "" }, { program: "b.js" });
    await expect(missing).rejects.toMatchObject({ code: "not_found" });
  });

  test("expressions are judged as the code they are", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    writeFileSync(join(cwd, "a.py"), "x = 1\n");
    const session = await runtime.openSession({});
    const decide = async (more: object) =>
      (await session.explainCall({ name: "code_debug", arguments: { program: "a.py", ...more } })).decision;
    expect((await decide({ evaluate: ["len(str(x))"] }))?.verdict).toBe("allow");
    const deletes = '__import__("shutil").rmtree("/srv/data")';
    expect((await decide({ evaluate: [deletes] }))?.verdict).toBe("ask");
    expect((await decide({ breakpoints: [{ line: 1, condition: deletes }] }))?.verdict).toBe("ask");
  });
});
