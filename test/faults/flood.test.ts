import { expect, onTestFinished, test } from "vitest";
import { childrenOf, FULL, faultHome, residentBytes, startRuntime, tagged } from "./support.js";

const COUNT = FULL ? 500 : 50;
const SECONDS = FULL ? 60 : 3;
/** The figure is meant for a machine that does nothing else; beside other tests only a stall counts. */
const ANSWER_P99_MS = FULL ? 100 : 1_500;
const MOST_MEMORY = 768 * 1024 * 1024;

/** Milliseconds of the calls that were made meanwhile. */
interface Seen {
  readonly calls: number;
  readonly list: { readonly median: number; readonly p99: number };
  readonly poll: { readonly median: number; readonly p99: number };
  readonly running: number;
}

test(`${COUNT} processes that write 1 MB a second each: memory is bounded and answers stay quick`, async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const runtime = await startRuntime(home, {
    script: "./children/flood.mjs",
    args: { count: COUNT, seconds: SECONDS },
  });
  onTestFinished(() => {
    for (const pid of tagged(runtime.tag)) process.kill(pid, "SIGKILL");
  });
  expect(await runtime.answer()).toEqual({ started: COUNT });
  let most = 0;
  const watch = setInterval(() => {
    // The runtime and what it starts programs with; the programs themselves are not its memory.
    const helpers = childrenOf(runtime.pid).filter(({ command }) => !command.includes("syswrite"));
    const total = [runtime.pid, ...helpers.map(({ pid }) => pid)].reduce(
      (sum, pid) => sum + residentBytes(pid),
      0,
    );
    most = Math.max(most, total);
  }, 250);
  const { calls, list, poll, running } = (await runtime.answer()) as unknown as Seen;
  clearInterval(watch);
  console.log(`memory at most ${Math.round(most / 1e6)} MB; ${JSON.stringify({ calls, list, poll })}`);
  expect(running).toBe(COUNT);
  expect(most).toBeLessThan(MOST_MEMORY);
  expect(list.p99).toBeLessThanOrEqual(ANSWER_P99_MS);
  expect(poll.p99).toBeLessThanOrEqual(ANSWER_P99_MS);
  await runtime.close();
  expect(tagged(runtime.tag)).toEqual([]);
}, 240_000);
