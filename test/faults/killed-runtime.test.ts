import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { report } from "./figures.js";
import { FULL, faultHome, startRuntime, tagged, zombiesAmong } from "./support.js";

const COUNT = FULL ? 50 : 10;
const TRIALS = FULL ? 5 : 1;
const LOOK_EVERY_MS = 2;

interface Trial {
  readonly processes: number;
  readonly goneAfterMs: number;
  readonly looks: number;
  readonly looksWithZombies: number;
  /** Of any of them, from the first look that saw it to the last. */
  readonly longestZombieMs: number;
}

test(`a runtime killed with ${COUNT} background processes leaves no process and no zombie`, async () => {
  const trials: Trial[] = [];
  for (let at = 0; at < TRIALS; at += 1) trials.push(await killed());
  const slowest = Math.max(...trials.map(({ goneAfterMs }) => goneAfterMs));
  const looks = trials.reduce((sum, trial) => sum + trial.looks, 0);
  const withZombies = trials.reduce((sum, trial) => sum + trial.looksWithZombies, 0);
  const longest = Math.max(...trials.map(({ longestZombieMs }) => longestZombieMs));
  report({
    id: "L2",
    what: `runtime killed with ${COUNT} background processes, some double-forked, in sessions of their own or deaf to signals`,
    trials: TRIALS,
    seen: `all of ${trials.map(({ processes }) => processes).join(", ")} processes gone after at most ${Math.round(slowest)} ms; zombies in ${withZombies} of ${looks} looks, none for longer than ${Math.ceil(longest)} ms`,
    goal: "0 survivors after 5 s, 0 zombies that stay (> 50 ms)",
    // Who collects them has to get a processor first.
    pass: slowest <= 5_000 && longest <= (FULL ? 50 : 1_000),
  });
}, 300_000);

async function killed(): Promise<Trial> {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const runtime = await startRuntime(home, {
    script: "./children/many-programs.mjs",
    args: { count: COUNT },
  });
  onTestFinished(() => {
    for (const pid of tagged(runtime.tag)) process.kill(pid, "SIGKILL");
  });
  expect(await runtime.answer()).toEqual({ started: COUNT, listed: COUNT });
  // Every program, the ones it forked, and the command in the foreground.
  await expect.poll(() => tagged(runtime.tag).length, { timeout: 10_000 }).toBeGreaterThan(COUNT * 1.4);
  const all = new Set(tagged(runtime.tag).filter((pid) => pid !== runtime.pid));

  await runtime.kill();

  const killedAt = performance.now();
  const zombies = new Map<number, { readonly first: number; last: number }>();
  let looks = 0;
  let looksWithZombies = 0;
  while (performance.now() - killedAt < 10_000) {
    const found = zombiesAmong([...all]);
    const at = performance.now();
    looks += 1;
    if (found.length > 0) looksWithZombies += 1;
    for (const pid of found) {
      const zombie = zombies.get(pid);
      if (zombie === undefined) zombies.set(pid, { first: at, last: at });
      else zombie.last = at;
    }
    if (![...all].some(isThere)) {
      // Some start others to the last.
      const late = tagged(runtime.tag);
      if (late.length === 0) break;
      for (const pid of late) all.add(pid);
    }
    await pause(LOOK_EVERY_MS);
  }
  const goneAfterMs = performance.now() - killedAt;
  expect(tagged(runtime.tag)).toEqual([]);
  expect(zombiesAmong([...all])).toEqual([]);
  const longestZombieMs = Math.max(0, ...[...zombies.values()].map(({ first, last }) => last - first));
  return { processes: all.size, goneAfterMs, looks, looksWithZombies, longestZombieMs };
}

function isThere(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

test("the next runtime starts, and one that closes in order leaves nothing either", async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const first = await startRuntime(home, { script: "./children/many-programs.mjs", args: { count: 5 } });
  await first.answer();
  await first.kill();
  const second = await startRuntime(home, { script: "./children/many-programs.mjs", args: { count: 5 } });
  onTestFinished(() => {
    for (const pid of [...tagged(first.tag), ...tagged(second.tag)]) process.kill(pid, "SIGKILL");
  });
  expect(await second.answer()).toMatchObject({ started: 5 });
  expect(tagged(first.tag)).toEqual([]);
  const all = tagged(second.tag);
  await second.close();
  expect(tagged(second.tag)).toEqual([]);
  expect(zombiesAmong(all)).toEqual([]);
}, 60_000);
