// @needs perl
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { report } from "./figures.js";
import {
  childrenOf,
  commandOf,
  FULL,
  faultHome,
  type RuntimeProcess,
  residentBytes,
  startRuntime,
  tagged,
  zombiesBelow,
} from "./support.js";

const KILLS = FULL ? 100 : 6;
const WARM = 10;
const MEGABYTE = 1024 * 1024;
const LIMIT = 48 * MEGABYTE;

/** Takes more and more memory, a piece at a time, and writes to all of it; far beyond its limit it gives up by itself. */
const HOG = `exec perl -e 'my @kept; push @kept, "x" x 4_000_000 for 1 .. 60; print "nobody minded\n"'`;
/** Whoever moves it into its group says when it is there. */
const WAIT = "until [ -e go ]; do sleep 0.02; done\nrm go\n";

test(`${KILLS} commands that are killed for their memory: each says so, and the runtime is none the worse`, async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const group = memoryGroup();
  const kinds = [
    { script: `ulimit -v ${LIMIT / 1024}\n${HOG}\n`, says: /out of memory/i },
    ...(group === undefined ? [] : [{ script: `${WAIT}${HOG}\n`, says: /memory ran out/ }]),
  ];
  for (const [at, { script }] of kinds.entries()) writeFileSync(join(home, "work", `hog-${at}.sh`), script);
  const runtime = await startRuntime(home, {
    script: "./children/calls.mjs",
    args: { collects: true },
    nodeOptions: ["--expose-gc"],
  });
  onTestFinished(() => runtime.kill());
  await runtime.answer();
  const silent: string[] = [];
  let zombies = 0;
  let before = 0;
  for (let at = 0; at < WARM + KILLS; at += 1) {
    if (at === WARM) before = residentBytes(runtime.pid);
    const kind = kinds[at % kinds.length];
    runtime.send({ name: "terminal", args: { command: `sh hog-${at % kinds.length}.sh` } });
    if (at % kinds.length === 1) await moveInto(group ?? "", runtime);
    const said = JSON.stringify(await runtime.answer());
    if (kind?.says.test(said) !== true) silent.push(said);
    zombies += zombiesOf(runtime);
  }
  const growth = (residentBytes(runtime.pid) - before) / MEGABYTE;
  runtime.send({ name: "terminal", args: { command: "echo well" } });
  expect(await runtime.answer()).toMatchObject({ ok: true });
  await runtime.close();
  if (silent.length > 0) console.error(silent.slice(0, 5).join("\n"));
  report({
    id: "L1",
    what: `commands killed for their memory, ${group === undefined ? "by their own limit" : "by the kernel in a control group, or by their own limit"}`,
    trials: KILLS,
    seen: `${silent.length} results that do not say so; runtime ${growth < 0 ? "" : "+"}${growth.toFixed(1)} MB; ${zombies} zombies after a call, ${tagged(runtime.tag).length} processes left`,
    goal: "each says so; ≤ 20 MB more; 0 zombies",
    pass: silent.length === 0 && growth <= 20 && zombies === 0 && tagged(runtime.tag).length === 0,
  });
}, 300_000);

/** From outside: the command sees no control groups where it runs. */
async function moveInto(group: string, { tag, home }: RuntimeProcess): Promise<void> {
  await expect.poll(() => waiting(tag), { timeout: 10_000, interval: 20 }).toHaveLength(1);
  for (const pid of waiting(tag)) writeFileSync(join(group, "cgroup.procs"), String(pid));
  writeFileSync(join(home, "work", "go"), "");
}

function waiting(tag: string): readonly number[] {
  return tagged(tag).filter((pid) => commandOf(pid) === "sh hog-1.sh ");
}

function zombiesOf({ pid }: RuntimeProcess): number {
  return [{ pid }, ...childrenOf(pid)].reduce((sum, each) => sum + zombiesBelow(each.pid).length, 0);
}

/** A control group with little memory, where this machine lets us make one. */
function memoryGroup(): string | undefined {
  const name = `hermes-faults-${process.pid}`;
  for (const [root, limit] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const group = join(root, name);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    onTestFinished(() => rmdirSync(group));
    if (!existsSync(join(group, limit))) continue;
    writeFileSync(join(group, limit), String(LIMIT));
    return group;
  }
  return undefined;
}
