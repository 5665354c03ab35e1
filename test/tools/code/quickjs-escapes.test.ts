import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { echo, LIMITS, type Limits, type ScriptSession, scriptSession } from "./quickjs-session.js";

const MB = 1024 * 1024;

const hostile = defineTool({
  name: "hostile",
  description: "Answers with keys that mean something to JavaScript",
  parameters: { type: "object", properties: {} },
  handler: () =>
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"then":1}') as object,
}) as AnyTool;

let scripts: ScriptSession;
beforeAll(async () => {
  scripts = await scriptSession([echo as AnyTool, hostile]);
});
afterAll(() => scripts.close());

/** Whatever a script has tried: the host is as it was, and the next script runs. */
afterEach(async () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(await scripts.run("({}).polluted === undefined && 1 + 1")).toMatchObject({
    status: "success",
    result: 2,
  });
});

/** Nothing of Node, whichever way it is asked for: [what is tried, script, what it must give]. */
const REACHING_OUT: readonly (readonly [string, string, unknown])[] = [
  [
    "globals of Node and of browsers",
    "['process', 'require', 'module', 'Buffer', 'fetch', 'WebAssembly', 'Worker', 'XMLHttpRequest', 'WebSocket', 'Deno', 'Bun', 'global', 'window', 'std', 'os', 'Atomics', 'setImmediate'].filter((name) => name in globalThis)",
    [],
  ],
  ["the Function constructor", "Function('return typeof process')()", "undefined"],
  [
    "the constructor of a function of the prelude",
    "console.log.constructor('return typeof process')()",
    "undefined",
  ],
  ["the constructor of a tool function", "tools.echo.constructor('return typeof require')()", "undefined"],
  [
    "the constructor of async functions",
    "await (async () => {}).constructor('return typeof process')()",
    "undefined",
  ],
  [
    "the constructor of generators",
    "(function* () {}).constructor('yield typeof process')().next().value",
    "undefined",
  ],
  ["indirect eval", "(0, eval)('typeof process')", "undefined"],
  ["import of a module of Node", "await import('node:fs').catch((e) => e.name)", "ReferenceError"],
  ["import of a file", "await import('file:///etc/passwd').catch((e) => e.name)", "ReferenceError"],
  ["import of data", "await import('data:text/javascript,1').catch((e) => e.name)", "ReferenceError"],
  ["import inside of eval", "await eval('import(\"fs\")').catch((e) => e.name)", "ReferenceError"],
  ["the prototypes of a result", "(await tools.echo({ a: { b: [] } })).a.constructor === Object", true],
  [
    "the constructor behind a result",
    "(await tools.echo({ a: [] })).a.constructor.constructor('return typeof process')()",
    "undefined",
  ],
  [
    "the constructor behind an error",
    "await tools.nope().catch((e) => e.constructor.constructor('return typeof process')())",
    "undefined",
  ],
  [
    "the prototypes of an error",
    "await tools.nope().catch((e) => Object.getPrototypeOf(ToolError.prototype) === Error.prototype && e instanceof Error)",
    true,
  ],
  ["the constructor behind a promise of a tool", "tools.echo({}).constructor === Promise", true],
  [
    "callers on the stack",
    "(function f() { try { return typeof f.caller } catch (e) { return 'refused' } })()",
    expect.stringMatching(/refused|undefined|object/),
  ],
  [
    "what the engine hides in stacks",
    "typeof Error.prepareStackTrace + typeof new Error().stack",
    "undefinedstring",
  ],
  [
    "the function that speaks to the host",
    "Object.getOwnPropertyNames(globalThis).filter((name) => /host|send|hermes/i.test(name))",
    [],
  ],
  [
    "members that only objects have",
    "[tools.constructor, tools.__proto__, tools.toString, tools.then, tools[Symbol.iterator]].every((member) => member === undefined)",
    true,
  ],
  [
    "changing the tools",
    "[() => { tools.echo = 1 }, () => delete tools.echo, () => Object.defineProperty(tools, 'a', { value: 1 }), () => Object.setPrototypeOf(tools, {})].map((change) => { try { change(); return 'changed' } catch (e) { return e.name } })",
    ["TypeError", "TypeError", "TypeError", "TypeError"],
  ],
  ["awaiting the tools", "typeof (await tools).echo", "function"],
];

/** Values that do something when they are looked at. */
const TRICKY_VALUES: readonly (readonly [string, string, unknown])[] = [
  [
    "__proto__ among the arguments",
    'const code = await tools.echo(JSON.parse(\'{"__proto__":{"polluted":1}}\')).catch((e) => e.code); [({}).polluted, code]',
    [null, "invalid_arguments"],
  ],
  [
    "constructor among the arguments",
    "await tools.echo({ constructor: { prototype: { polluted: 1 } } }); ({}).polluted",
    undefined,
  ],
  [
    "__proto__ in a result",
    "const r = await tools.hostile(); [({}).polluted, Object.getPrototypeOf(r) === Object.prototype, typeof r.then]",
    [null, true, "number"],
  ],
  ["toJSON of an argument", "await tools.echo({ toJSON: () => ({ a: 1 }) })", { a: 1 }],
  [
    "toJSON of everything",
    "Object.prototype.toJSON = () => 'all the same'; await tools.echo({}).catch((e) => { delete Object.prototype.toJSON; return e.code })",
    "invalid_arguments",
  ],
  [
    "toJSON that changes the tool's name",
    "Object.prototype.toJSON = function () { return this.name === 'echo' ? { name: 7, given: {} } : this }; await tools.echo({}).catch((e) => { delete Object.prototype.toJSON; return e.code })",
    {},
  ],
  [
    "getters that throw",
    "await tools.echo({ get a() { throw new RangeError('no') } }).catch((e) => e.name)",
    "RangeError",
  ],
  [
    "a proxy as arguments",
    "await tools.echo(new Proxy({ a: 1 }, { get: (target, key) => (key === 'a' ? 'proxied' : undefined) }))",
    { a: "proxied" },
  ],
  [
    "a proxy without an end",
    "const endless = new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: (_, key) => (key === 'toJSON' ? undefined : new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: (_, k) => (k === 'toJSON' ? undefined : endless) })) }); await tools.echo(endless).catch((e) => e.name)",
    expect.stringMatching(/^(?:TypeError|InternalError)$/),
  ],
  [
    "arguments that contain themselves",
    "const a = {}; a.a = a; await tools.echo(a).catch((e) => e.name)",
    "TypeError",
  ],
  ["a bigint as argument", "await tools.echo({ n: 1n }).catch((e) => e.name)", "TypeError"],
  ["a function as arguments", "await tools.echo(() => 1).catch((e) => e.name)", "TypeError"],
  [
    "text, numbers and lists as arguments",
    "[await tools.echo('x').catch((e) => e.code), await tools.echo(7).catch((e) => e.code), await tools.echo([]).catch((e) => e.code)]",
    ["invalid_arguments", "invalid_arguments", "invalid_arguments"],
  ],
  [
    "half characters and zero bytes",
    "const r = await tools.echo({ a: '\\ud800', b: 'x\\u0000y' }); [r.a.charCodeAt(0), r.b.length]",
    [0xd800, 3],
  ],
  ["a name with a zero byte", "await tools['echo\\u0000x']({}).catch((e) => e.code)", "not_found"],
  ["a name of many lines", "await tools['echo\\n5 {}']({}).catch((e) => e.code)", "not_found"],
  ["a very long name", "await tools['e'.repeat(100000)]({}).catch((e) => e.code)", "not_found"],
  [
    "arguments nested deep",
    "let a = {}; for (let i = 0; i < 1500; i++) a = { a }; await tools.echo(a).then(() => 'ended', () => 'ended')",
    "ended",
  ],
  ["a thenable of thenables", "({ then(r) { r({ then(r) { r(5) } }) } })", 5],
  [
    "a broken Promise.prototype.then",
    "Promise.prototype.then = function () { throw 1 }; await tools.echo({ a: 1 })",
    { a: 1 },
  ],
  ["a broken JSON", "JSON.stringify = JSON.parse = () => { throw 1 }; await tools.echo({ a: 1 })", { a: 1 }],
  [
    "broken lists",
    "for (const name of ['map', 'join', 'slice', 'push', 'includes']) Array.prototype[name] = () => { throw 1 }; console.log({ a: [1] }); await tools.echo({ a: 1 })",
    { a: 1 },
  ],
  [
    "a script that closes the function around it",
    "return 1; }); globalThis.polluted = typeof process; (async () => {",
    undefined,
  ],
  [
    "names taken away",
    "delete globalThis.tools; delete globalThis.console; delete globalThis.Promise; typeof tools",
    "undefined",
  ],
];

/** Scripts that must end with an error that says why: [what is tried, script, name and message, limits]. */
const FAILING: readonly (readonly [string, string, RegExp, Partial<Limits>?])[] = [
  ["endless recursion", "const f = () => f() + 1; f()", /stack overflow/],
  ["recursion through toString", "const o = { toString: () => '' + o }; '' + o", /stack overflow/],
  ["recursion through a getter", "const o = { get a() { return this.a } }; o.a", /stack overflow/],
  ["JSON nested too deep", "JSON.parse('['.repeat(200000))", /stack overflow/],
  ["code nested too deep", "eval('('.repeat(200000))", /stack overflow/],
  ["buffers without end", "const all = []; for (;;) all.push(new ArrayBuffer(100000))", /out of memory/],
  ["one buffer too large", "new Uint8Array(2 ** 31)", /out of memory|invalid array buffer length/i],
  ["objects without end", "const all = []; for (;;) all.push({ a: all.length })", /out of memory/],
  ["a text that doubles", "let s = 'x'; for (;;) s += s", /out of memory|string too long/],
  ["one text too long", "'x'.repeat(2 ** 29)", /out of memory|string|repeat/],
  ["a list too long", "new Array(2 ** 27).fill(1)", /out of memory/],
  ["a map without end", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)", /out of memory/],
  ["an iterator without end", "[...(function* () { for (;;) yield 1 })()]", /out of memory/],
  ["a bigint too large", "2n ** (2n ** 40n)", /BigInt|out of memory/],
  [
    "promises that never end, by the million",
    "const all = []; for (let i = 0; i < 5e6; i++) all.push(new Promise(() => {}))",
    /out of memory/,
  ],
  [
    "reactions by the million",
    "const p = new Promise(() => {}); for (let i = 0; i < 5e6; i++) p.then(() => i)",
    /out of memory/,
  ],
  [
    "timers by the thousand",
    "for (let i = 0; i < 5000; i++) setTimeout(() => 1, 1000)",
    /RangeError.*1000 timers/,
  ],
  [
    "more calls than allowed",
    "for (let i = 0; i < 30; i++) await tools.echo({})",
    /over_budget.*20 tool calls/,
    { maxToolCalls: 20 },
  ],
  [
    "calls by the million at once",
    "await Promise.all(Array.from({ length: 2000 }, () => tools.echo({})))",
    /over_budget/,
  ],
  ["questions by the thousand", "for (let i = 0; i < 1100; i++) await describeTool('echo')", /over_budget/],
  [
    "arguments larger than the memory",
    "await Promise.all(['a', 'b', 'c', 'd'].map((c) => tools.echo({ a: c.repeat(3e6) })))",
    /over_budget|out of memory/,
    { memoryBytes: 10 * MB },
  ],
  ["a result too large", "'x'.repeat(6e6)", /RangeError.*characters of JSON/, { memoryBytes: 64 * MB }],
  ["an error of megabytes", "throw new Error('x'.repeat(5e6))", /^Error x+…$/],
  ["null thrown", "throw null", /null/],
  [
    "a thrown proxy",
    "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 1 } })",
    /cannot be inspected|Error/,
  ],
  [
    "an error whose fields throw",
    "throw Object.defineProperty(new Error('a'), 'stack', { get() { throw 1 } })",
    /cannot be inspected/,
  ],
  ["a thenable that never answers", "({ then() {} })", /nothing will ever settle/],
];

/** Scripts without an end of their own; the host stops them. */
const ENDLESS: readonly (readonly [string, string])[] = [
  ["a loop", "for (;;);"],
  ["a loop that catches", "for (;;) { try { for (;;); } catch {} }"],
  ["a loop in finally", "try { for (;;); } finally { for (;;); }"],
  ["promises that follow each other", "const again = () => Promise.resolve().then(again); await again()"],
  [
    "timers that follow each other",
    "const again = () => setTimeout(again, 0); again(); await new Promise(() => {})",
  ],
  ["an async loop", "for (;;) await null"],
  ["a sort that never decides", "[3, 2, 1].sort(() => { for (;;); })"],
  ["a pattern that backtracks", "/(a+)+$/.test('a'.repeat(40) + 'b')"],
  ["a tool called for ever", "for (;;) await tools.echo({}).catch(() => {})"],
];

describe("reaching out of the sandbox", () => {
  it.each(REACHING_OUT)("fails by %s", async (_what, code, expected) => {
    const outcome = await scripts.run(code);
    expect(outcome.error).toBeUndefined();
    expect(outcome.result).toEqual(expected);
  });
});

describe("tricky values", () => {
  it.each(TRICKY_VALUES)("do no harm: %s", async (_what, code, expected) => {
    const outcome = await scripts.run(code);
    expect(outcome.error).toBeUndefined();
    expect(outcome.result).toEqual(expected);
  });
});

describe("wasting", () => {
  it.each(FAILING.map(([what, code, reason, limits]) => ({ what, code, reason, limits })))(
    "ends with a reason: $what",
    async ({ code, reason, limits }) => {
      const { status, error } = await scripts.run(code, {
        timeoutMs: 20_000,
        memoryBytes: 16 * MB,
        ...limits,
      });
      expect(status).toBe("error");
      expect(`${error?.name} ${error?.code ?? ""} ${error?.message}`.replace("  ", " ")).toMatch(reason);
    },
  );

  it.each(ENDLESS)("of time is ended: %s", async (_what, code) => {
    const outcome = await scripts.run(code, { timeoutMs: 100 });
    expect(outcome).toMatchObject({ status: "timeout", error: { name: "Timeout" } });
  });

  it("of time inside of the engine, where it cannot be asked to stop, ends the thread", async () => {
    const outcome = await scripts.run(
      "console.log('said'); await null; [].indexOf.call({ length: 2 ** 40 }, 1)",
      {
        timeoutMs: 150,
      },
    );
    expect(outcome.status).toBe("timeout");
  });

  it.each([
    [
      "many lines",
      "for (let i = 0; i < 20000; i++) console.log('line ' + i)",
      /^line 0\n[\s\S]*omitted[\s\S]*line 19999\n$/,
    ],
    [
      "one line of megabytes",
      "console.log('x'.repeat(3e6))",
      /^x+\n\[\.\.\. \d+ of 3000001 characters omitted \.\.\.\]\nx+\n$/,
    ],
  ])("of output is cut: %s", async (_what, code, expected) => {
    const { status, output } = await scripts.run(code);
    expect(status).toBe("success");
    expect(output).toMatch(expected);
    expect(output.length).toBeLessThan(LIMITS.maxStdoutChars + 100);
  });

  it("of error output is cut", async () => {
    const { stderr } = await scripts.run("for (let i = 0; i < 5000; i++) console.error('line ' + i)");
    expect(stderr.length).toBeLessThan(LIMITS.maxStderrChars + 100);
  });
});

describe("limits hold within a tenth", () => {
  it.each([2, 8, 32, 64])("of memory: %d MB", async (megabytes) => {
    const filled = (share: number) =>
      scripts.run(
        `const all = []; while (all.length * 16384 < ${Math.floor(megabytes * MB * share)}) all.push(new ArrayBuffer(16384)); all.length`,
        { memoryBytes: megabytes * MB },
      );
    expect(await filled(0.9)).toMatchObject({ status: "success" });
    expect(await filled(1.02)).toMatchObject({
      status: "error",
      error: { message: `out of memory: the script may use ${megabytes} MB` },
    });
  });

  it("of time", async () => {
    await scripts.run("1");
    const took: number[] = [];
    // A busy machine may be late once; the limit itself is not.
    while (took.length < 3 && !took.some((ms) => ms < 1_100)) {
      const { durationMs } = await scripts.run("for (;;);", { timeoutMs: 1_000 });
      expect(durationMs).toBeGreaterThanOrEqual(990);
      took.push(durationMs);
    }
    expect(Math.min(...took)).toBeLessThan(1_100);
  });
});
