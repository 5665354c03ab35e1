import { randomUUID } from "node:crypto";
import { TAG } from "./context.js";
import { eventually, holds, matches, same, within, withoutNotice } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/** Beyond the time limit itself: a gentle signal, a pause, a hard one, and looking whether all are gone. */
const ENDING_MS = 8_000;

export const endingCases: readonly ConformanceCase[] = [
  conformanceCase("a command that takes too long ends with 124 and what it printed", async (context) => {
    const task = await context.task();
    const limit = context.startMs + 300;
    const result = await within(
      limit + ENDING_MS,
      "a timed-out command",
      task.run("echo part; echo of it >&2; sleep 60; echo never", { timeoutMs: limit }),
    );
    same(
      [withoutNotice(result.output), result.exitCode, result.timedOut, result.cancelled],
      ["part\nof it\n", 124, true, false],
      "output, exit code, timedOut, cancelled",
    );
    holds(result.durationMs >= limit - 50, `durationMs is at least ${limit}`, result.durationMs);
  }),

  conformanceCase("a cancelled command ends with 130 and what it printed", async (context) => {
    const task = await context.task();
    const abort = new AbortController();
    const result = await within(
      20_000,
      "a cancelled command",
      task.run("echo part; sleep 60; echo never", {
        signal: abort.signal,
        onChunk: () => abort.abort(),
      }),
    );
    same(
      [withoutNotice(result.output), result.exitCode, result.timedOut, result.cancelled],
      ["part\n", 130, false, true],
      "output, exit code, timedOut, cancelled",
    );
  }),

  conformanceCase("a call that was cancelled before starts nothing", async (context) => {
    const task = await context.task();
    const result = await task.run("touch ran", { signal: AbortSignal.abort() });
    same([result.exitCode, result.cancelled], [130, true], "exit code and cancelled");
    same((await task.run("ls")).output, "", "files");
  }),

  conformanceCase("cancelling right after the start leaves nothing running", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    for (const waitMs of [0, 1, 5, 20, 60]) {
      const result = await within(
        20_000,
        `a command cancelled after ${waitMs} ms`,
        task.run("sleep 60", { signal: AbortSignal.timeout(waitMs), env: { [TAG]: tag } }),
      );
      same([result.exitCode, result.cancelled], [130, true], `after ${waitMs} ms: exit code, cancelled`);
    }
    same(await context.running(tag), [], "what still runs");
  }),

  conformanceCase("a signal that comes after the end changes nothing", async (context) => {
    const task = await context.task();
    const abort = new AbortController();
    const result = await task.run("echo done", { signal: abort.signal });
    abort.abort();
    same([result.output, result.exitCode, result.cancelled], ["done\n", 0, false], "the result");
    same((await task.run("echo next")).output, "next\n", "the next command");
  }),

  conformanceCase("a program may clean up when it is ended", async (context) => {
    const task = await context.task();
    const clean = "trap 'echo cleaned > cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    const result = await task.run(clean, { timeoutMs: context.startMs + 300 });
    same(result.exitCode, 124, "exit code");
    same(
      (await task.run("cat cleaned")).output,
      "cleaned\n",
      "what the program did when it was asked to end",
    );
  }),

  conformanceCase(
    { name: "a grandchild that holds the output does not hold the call", alone: true },
    async (context) => {
      const task = await context.task();
      const tag = randomUUID();
      const started = performance.now();
      const result = await task.run("echo begun; sleep 45 & exit 3", { env: { [TAG]: tag } });
      const elapsed = performance.now() - started;
      same([result.output, result.exitCode, result.timedOut], ["begun\n", 3, false], "the result");
      holds(elapsed < 2_000 + context.startMs, "it returns within 2 s of the shell's end", `${elapsed} ms`);
      await endTagged(task, tag);
    },
  ),

  conformanceCase(
    { name: "a double-forked daemon that holds the output does not hold the call", alone: true },
    async (context) => {
      const task = await context.task();
      const tag = randomUUID();
      const started = performance.now();
      const result = await task.run("(setsid sh -c 'sleep 45' &); echo begun", { env: { [TAG]: tag } });
      const elapsed = performance.now() - started;
      same([result.output, result.exitCode], ["begun\n", 0], "the result");
      holds(elapsed < 2_000 + context.startMs, "it returns within 2 s of the shell's end", `${elapsed} ms`);
      await endTagged(task, tag);
    },
  ),

  conformanceCase(
    {
      name: "what a command leaves in the background goes on, and its late output disturbs nobody",
      needs: ["background"],
    },
    async (context) => {
      const task = await context.task();
      const tag = randomUUID();
      const first = await task.run(
        "(for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo late > wrote; echo late; done) & echo now",
        { env: { [TAG]: tag } },
      );
      matches(first.output, /^now\n(?:late\n)*$/, "output of the call");
      const second = await task.run("echo second");
      same(second.output, "second\n", "output of the next call");
      await eventually("the background job goes on", async () => {
        return (await task.environment.files.stat(`${task.folder}/wrote`)) !== undefined;
      });
      await eventually("the background job ends", async () => (await context.running(tag)).length === 0);
    },
  ),

  conformanceCase("a flood of output is cancelled as quickly as silence", async (context) => {
    const task = await context.task();
    const tag = randomUUID();
    const result = await within(
      context.startMs + ENDING_MS,
      "cancelling yes",
      task.run("yes", { signal: AbortSignal.timeout(context.startMs), env: { [TAG]: tag } }),
    );
    same([result.exitCode, result.cancelled], [130, true], "exit code, cancelled");
    matches(result.output.slice(0, 20), /^(?:y\n)+$/, "output");
    same(await context.running(tag), [], "what still runs");
  }),
];

async function endTagged(task: { run(command: string): Promise<unknown> }, tag: string): Promise<void> {
  await task.run(
    `for p in $(grep -lsaF '${TAG}=${tag}' /proc/[0-9]*/environ | tr -dc '0-9\\n'); do [ $p = $$ ] || kill -9 $p; done 2>/dev/null; true`,
  );
}
