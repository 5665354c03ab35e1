import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { house, manifest } from "../sources/plugins/support.js";
import { report } from "./figures.js";
import { FULL, startRuntime, tagged } from "./support.js";

const ROUNDS = FULL ? 5 : 1;

interface BadPlugin {
  readonly what: string;
  readonly code: string;
  readonly manifest?: string;
  /** What the log or the answer must say. */
  readonly named: RegExp;
  /** Whether calls of other plugins' tools are answered all the same. */
  readonly blocks?: boolean;
}

const HOOK = "provides_hooks: [pre_tool_call]";
const hold = (ms: number) => `const until = performance.now() + ${ms}; while (performance.now() < until);`;

const BAD: readonly BadPlugin[] = [
  { what: "throws at load", code: "throw new Error('top');", named: /bad.*Error: top/s },
  {
    what: "throws in register",
    code: "export default () => { throw new Error('half'); };",
    named: /bad.*Error: half/s,
  },
  {
    what: "throws in a hook that fails open",
    manifest: HOOK,
    code: "export default (ctx) => ctx.hook('pre_tool_call', () => { throw new Error('hook'); }, { onFailure: 'open' });",
    named: /bad.*hook/s,
  },
  {
    what: "throws in a hook that fails closed",
    manifest: "provides_hooks: [{ name: pre_tool_call, on_failure: closed }]",
    code: "export default (ctx) => ctx.hook('pre_tool_call', () => { throw new Error('hook'); });",
    named: /bad\/pre_tool_call failed: hook/,
    blocks: true,
  },
  {
    what: "throws in a timer",
    code: "export default () => void setTimeout(() => { throw new Error('timer'); }, 20);",
    named: /bad.*timer/s,
  },
  {
    what: "forgets a promise that is rejected",
    code: "export default () => void Promise.reject(new Error('forgotten'));",
    named: /bad.*forgotten/s,
  },
  {
    what: "blocks the loop at load",
    code: `${hold(1_300)} export default () => {};`,
    named: /bad.*blocked the event loop/s,
  },
  {
    what: "blocks the loop in a hook",
    manifest: HOOK,
    code: `export default (ctx) => ctx.hook('pre_tool_call', () => { ${hold(1_300)} });`,
    named: /bad.*blocked the event loop/s,
  },
  {
    what: "blocks the loop in a timer",
    code: `export default () => void setTimeout(() => { ${hold(1_300)} }, 20);`,
    named: /plugin bad: index\.mjs:1 blocked the event loop/,
  },
  {
    what: "blocks the loop after it has waited",
    code: `export default () => void Promise.resolve().then(() => setImmediate(() => { ${hold(1_300)} }));`,
    named: /plugin bad: index\.mjs:1 blocked the event loop/,
  },
];

test(`plugins that throw and block, ${ROUNDS * BAD.length} times: named, and the others go on`, async () => {
  const wrong: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const bad of BAD) {
      const problem = await play(bad).catch((error: unknown) => String(error));
      if (problem !== undefined) wrong.push(`${bad.what}: ${problem}`);
    }
  if (wrong.length > 0) console.error(wrong.join("\n"));
  report({
    id: "N3",
    what: "plugin that throws at load, in a hook, in a timer or a forgotten promise, or blocks the loop at load, in a hook, in a timer, after an await",
    trials: ROUNDS * BAD.length,
    seen: `${wrong.length} not named, or in the way of others`,
    goal: "others load, hooks fail as declared, a blocked loop is named",
    pass: wrong.length === 0,
  });
}, 900_000);

test("a process that was stopped for a while blames no plugin", async () => {
  const home = house();
  home.plugin("idle", {
    "plugin.yaml": manifest("idle", "provides_tools: [fine]"),
    "index.mjs": `setInterval(() => {}, 5).unref();
export default (ctx) => ctx.tool({ name: 'fine', schema: {}, handler: () => 'fine' });`,
  });
  home.config("plugins:\n  enabled: [idle]\n");
  await home.confirm("idle");
  const runtime = await startRuntime(home.home, {
    script: "./children/calls.mjs",
    args: { userTools: true },
  });
  onTestFinished(() => runtime.kill());
  await runtime.answer();
  process.kill(runtime.pid, "SIGSTOP");
  await pause(1_600);
  process.kill(runtime.pid, "SIGCONT");
  await pause(600);
  runtime.send({ name: "fine", args: {} });
  expect(await runtime.answer()).toMatchObject({ ok: true, logged: [] });
  await runtime.close();
}, 60_000);

/** What went otherwise than it should. */
async function play(bad: BadPlugin): Promise<string | undefined> {
  const home = house();
  home.plugin("good", {
    "plugin.yaml": manifest("good", "provides_tools: [fine]"),
    "index.mjs": "export default (ctx) => ctx.tool({ name: 'fine', schema: {}, handler: () => 'fine' });",
  });
  home.plugin("bad", {
    "plugin.yaml": manifest("bad", ...(bad.manifest === undefined ? [] : [bad.manifest])),
    "index.mjs": bad.code,
  });
  home.config("plugins:\n  enabled: [bad, good]\n");
  for (const name of ["good", "bad"]) await home.confirm(name);
  const runtime = await startRuntime(home.home, {
    script: "./children/calls.mjs",
    args: { userTools: true },
  });
  onTestFinished(() => runtime.kill());
  await runtime.answer();
  const call = async () => {
    runtime.send({ name: "fine", args: {} });
    return runtime.answer();
  };
  const answers = [await call()];
  // Time for what goes wrong later; on a busy machine it is told later still.
  for (let tries = 0; tries < 5; tries += 1) {
    await pause(2_000);
    answers.push(await call());
    if (bad.named.test(JSON.stringify(answers))) break;
  }
  await runtime.close();
  const said = JSON.stringify(answers);
  const last = answers.at(-1)?.ok === true;
  if (last === (bad.blocks === true)) return `the call ${last ? "ran" : "failed"}: ${said}`;
  if (!bad.named.test(said)) return `nobody names it: ${said}`;
  if (/plugin good/.test(said)) return `an innocent one is named: ${said}`;
  return tagged(runtime.tag).length > 0 ? "processes are left" : undefined;
}
