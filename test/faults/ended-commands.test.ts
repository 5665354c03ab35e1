import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ExecRequest } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { childrenOf, FULL, TAG, tagged, zombiesAmong, zombiesBelow } from "./support.js";

const COUNT = FULL ? 200 : 20;
const AT_ONCE = 10;
const COMMANDS = [
  "sleep 60",
  "sleep 61 & setsid sleep 62 & wait",
  "(setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' >/dev/null 2>&1 &); sleep 63",
  "yes > /dev/null & yes | cat >/dev/null",
  "sleep 64 & kill -STOP $!; wait",
];

const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-faults-")));
const environment = createLocalEnvironment({ stateDir: folder });
afterAll(async () => {
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

test(`${COUNT} timeouts leave nothing`, async () => {
  await leavesNothing(() => ({ timeoutMs: 300, signal: new AbortController().signal }), 124);
}, 180_000);

test(`${COUNT} cancellations leave nothing`, async () => {
  let round = 0;
  await leavesNothing(() => {
    round += 1;
    return { timeoutMs: 60_000, signal: AbortSignal.timeout((round * 37) % 400) };
  }, 130);
}, 180_000);

async function leavesNothing(
  limits: () => Pick<ExecRequest, "timeoutMs" | "signal">,
  exitCode: number,
): Promise<void> {
  const tag = randomUUID();
  const run = (index: number) =>
    environment.exec({
      command: COMMANDS[index % COMMANDS.length] ?? "",
      cwd: folder,
      env: { [TAG]: tag },
      ...limits(),
    });
  await run(0);
  const descriptors = readdirSync("/proc/self/fd").length;
  const seen = new Set<number>();
  for (let done = 0; done < COUNT; done += AT_ONCE) {
    const pending = Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(done + index)));
    for (const pid of tagged(tag)) seen.add(pid);
    const results = await pending;
    expect(results.map((result) => result.exitCode)).toEqual(results.map(() => exitCode));
    expect(tagged(tag)).toEqual([]);
  }
  expect(zombiesAmong([...seen])).toEqual([]);
  for (const { pid } of [{ pid: process.pid }, ...childrenOf(process.pid)])
    expect(zombiesBelow(pid)).toEqual([]);
  // A stock of ready pipes may be fuller than before.
  expect(readdirSync("/proc/self/fd").length - descriptors).toBeLessThan(60);
}
