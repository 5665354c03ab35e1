import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type ConformanceContext, type ConformanceTask, TAG } from "./context.js";
import { eventually, same, within, withoutNotice } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/**
 * Children in the same group, in sessions of their own, forked twice, deaf to signals, stopped, and with an
 * empty environment. Each must be gone when the call is over.
 */
const TREE = [
  "sleep 71 &",
  "setsid sh -c 'sleep 72; :' &",
  "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' >/dev/null 2>&1 &)",
  "sh -c 'trap \"\" TERM; while :; do sleep 1; done' &",
  "(sleep 73 >/dev/null 2>&1 </dev/null & kill -STOP $!)",
  "env -i sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i > beat; sleep 0.1; done' >/dev/null 2>&1 &",
  "echo ready",
  "wait",
  "sleep 75",
].join("\n");
const LEAST_TREE = 6;

export const treeCases: readonly ConformanceCase[] = [
  conformanceCase("a timeout ends the whole tree", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const limit = context.startMs + 1_500;
    let grown: Promise<void> | undefined;
    const pending = task.run(TREE, {
      timeoutMs: limit,
      env: { [TAG]: tag },
      onChunk: () => {
        grown ??= wholeTree(context, { task, tag });
      },
    });
    const result = await within(limit + 10_000, "a timed-out tree", pending);
    await grown;
    same([withoutNotice(result.output), result.exitCode], ["ready\n", 124], "output, exit code");
    same(await context.running(tag), [], "what still runs");
    await beatsNoMore(task);
  }),

  conformanceCase("cancelling ends the whole tree", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const abort = new AbortController();
    let said = false;
    const onChunk = () => {
      said = true;
    };
    const pending = task.run(TREE, { signal: abort.signal, env: { [TAG]: tag }, onChunk });
    await wholeTree(context, { task, tag });
    // All of the tree may be there a moment before its first word is.
    await eventually("its first word", () => said);
    abort.abort();
    const result = await within(10_000, "a cancelled tree", pending);
    same([withoutNotice(result.output), result.exitCode], ["ready\n", 130], "output, exit code");
    same(await context.running(tag), [], "what still runs");
    await beatsNoMore(task);
  }),

  conformanceCase("ending a spawned program ends its whole tree", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const started = await task.start(TREE, { env: { [TAG]: tag } });
    await started.shows("ready");
    await wholeTree(context, { task, tag });
    const survivors = await within(10_000, "end()", started.process.end());
    same(survivors, [], "survivors");
    same(await context.running(tag), [], "what still runs");
    await beatsNoMore(task);
    await started.ended();
  }),

  conformanceCase(
    { name: "ending a program in a terminal ends its whole tree", needs: ["pty"] },
    async (context) => {
      const task = await context.task();
      const tag = randomUUID();
      const started = await task.start(TREE, { env: { [TAG]: tag }, pty: { columns: 80, rows: 24 } });
      await started.shows("ready");
      await wholeTree(context, { task, tag });
      same(await within(10_000, "end()", started.process.end()), [], "survivors");
      same(await context.running(tag), [], "what still runs");
      await started.ended();
    },
  ),

  conformanceCase("children of a program that has ended by itself belong to it still", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const started = await task.start("(setsid sh -c 'sleep 76' >/dev/null 2>&1 </dev/null &); echo off", {
      env: { [TAG]: tag },
    });
    await started.shows("off");
    await started.ended();
    same(await within(10_000, "end()", started.process.end()), [], "survivors");
    // A process that is just becoming another program can be missed by one look.
    for (let look = 0; look < 5; look += 1) {
      same(await context.running(tag), [], "what still runs after end()");
      await delay(50);
    }
  }),

  conformanceCase("ten timeouts at once leave nothing", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const limit = context.startMs + 300;
    const results = await Promise.all(
      Array.from({ length: 10 }, () =>
        task.run("setsid sleep 77 & sleep 78", { timeoutMs: limit, env: { [TAG]: tag } }),
      ),
    );
    same(
      results.map(({ exitCode }) => exitCode),
      results.map(() => 124),
      "exit codes",
    );
    same(await context.running(tag), [], "what still runs");
  }),
];

async function wholeTree(
  context: ConformanceContext,
  { task, tag }: { readonly task: ConformanceTask; readonly tag: string },
): Promise<void> {
  await eventually("the whole tree runs", async () => (await context.running(tag)).length >= LEAST_TREE);
  // Of that without variables its file tells.
  await eventually(
    "its first beat",
    async () => (await task.environment.files.stat(beatOf(task))) !== undefined,
  );
}

function beatOf({ folder }: ConformanceTask): string {
  return `${folder}/beat`;
}

/** The one without variables cannot be found by them; it writes a number again and again while it lives. */
async function beatsNoMore(task: ConformanceTask): Promise<void> {
  const beat = async () => Buffer.from(await task.environment.files.read(beatOf(task))).toString("utf8");
  const before = await beat();
  await delay(300);
  same(await beat(), before, "the last sign of life of the program with an empty environment");
}
