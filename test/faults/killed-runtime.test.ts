import { expect, onTestFinished, test } from "vitest";
import { report } from "./figures.js";
import { FULL, faultHome, startRuntime, tagged, zombiesAmong } from "./support.js";

const COUNT = FULL ? 50 : 10;

test(`a runtime killed with ${COUNT} background processes leaves no process and no zombie`, async () => {
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
  const all = tagged(runtime.tag);

  await runtime.kill();

  const killedAt = performance.now();
  let zombies = 0;
  let goneAfter = Number.NaN;
  const gone = () => {
    zombies = Math.max(zombies, zombiesAmong(all).length);
    const left = tagged(runtime.tag);
    if (left.length === 0) goneAfter = performance.now() - killedAt;
    return left;
  };
  await expect.poll(gone, { timeout: 10_000 }).toEqual([]);
  await expect.poll(() => zombiesAmong(all), { timeout: 5_000 }).toEqual([]);
  report({
    id: "L2",
    what: `runtime killed with ${COUNT} background processes, some double-forked, in sessions of their own or deaf to signals`,
    trials: 1,
    seen: `${all.length} processes gone after ${Math.round(goneAfter)} ms; at most ${zombies} zombies in a sample, 0 in the end`,
    goal: "0 survivors after 5 s, 0 zombies at any sample",
    // Beside other tests whoever collects the dead may be late.
    pass: goneAfter <= 5_000 && (zombies === 0 || !FULL),
  });
}, 60_000);

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
