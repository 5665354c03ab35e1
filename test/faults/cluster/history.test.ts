// @needs nats-server ip tc gcc namespaces
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { report } from "../figures.js";
import { makeFaulty } from "../shim/faulty.js";
import { FULL, tagged } from "../support.js";
import { CLOCKED, CRAMPED, FAULTS, mountSmallDisk } from "./faults.js";
import { judge } from "./history.js";
import { FRONT, Machines, NATS, OPERATOR } from "./machines.js";
import { namespaces } from "./network.js";

const WORKERS = ["w1", "w2", CLOCKED];
const CALLS = FULL ? 10_000 : 200;
/** For whoever looks for a defect: only faults whose name holds this. */
const ONLY = process.env.HERMES_FAULTS_ONLY;
const CHOSEN = new RegExp(ONLY ?? "");
/** Whose descriptors are counted. */
const WATCHED = [FRONT, CLOCKED];
const STREAM = FULL ? { lanes: 48, pauseMs: 20 } : { lanes: 6, pauseMs: 30 };

test(
  "whatever breaks in a cluster, every call has one outcome or an honest unknown, and none runs twice",
  async () => {
    const machines = await Machines.on(namespaces([...NATS, ...WORKERS, FRONT, OPERATOR]));
    onTestFinished(() => machines.remove());
    onTestFinished(mountSmallDisk(machines.store(CRAMPED)));
    const clock = makeFaulty(machines.home(CLOCKED));
    onTestFinished(() => clock.remove());
    await machines.startAll(WORKERS, { [CLOCKED]: clock.env });
    const { history } = machines;
    machines.startCalls(STREAM);
    // So many sessions at once are on all workers, each of which then has all it opens with its first command.
    const command = { name: "terminal", kind: "read", args: { command: "sleep 0.2" } };
    await Promise.all(
      Array.from({ length: 12 }, (_, lane) => machines.call({ ...command, lane: `warm${lane}` })),
    );
    await pause(2_000);
    // The thread that empties the log of a database begins with the 64th sync.
    while (FULL && WATCHED.some((name) => opened(machines, { name, file: "state.db" }) < 2)) await pause(250);
    await machines.stopCalls();
    const descriptors = await restingDescriptors(machines);
    machines.startCalls(STREAM);
    const faults = FAULTS.filter(({ quick }) => FULL || quick === true);
    const chosen = faults.filter(({ what }) => CHOSEN.test(what));
    let tried = 0;
    // Each once, then over again until there were enough calls.
    while (tried < chosen.length || (history.tried.size < CALLS && ONLY === undefined)) {
      const fault = chosen[tried % chosen.length];
      const before = totals();
      await pause(FULL ? 2_000 : 500);
      await fault?.run(machines, { clock });
      await machines.healthy();
      await pause(FULL ? 4_000 : 500);
      tried += 1;
      const of = Object.entries(totals()).map(([name, sum]) => `${sum - (before[name] ?? 0)} ${name}`);
      console.info(`${fault?.what}: ${of.join(", ")}; ${await machines.used()}`);
    }
    await machines.stopCalls();
    const leaked = await leakedDescriptors(machines, descriptors);
    const journal = await machines.journal(FRONT);
    const verdict = judge({ history, witness: machines.witnessed(), journal });
    await machines.stopAll();
    const orphans = tagged(machines.tag).length;
    const { broken, calls, ok, unknown, errors } = verdict;
    // Of a short run what closes a little later would count.
    const lasting = FULL ? leaked : 0;
    for (const line of broken.slice(0, 20)) console.error(line);
    report({
      id: "C1",
      what: `${tried} faults of a cluster of three NATS servers and three workers under a stream of calls`,
      trials: calls,
      seen: `${broken.length} lost, run twice or told otherwise; ${ok.toLocaleString("en")} ok, ${unknown} unknown, ${errors} other errors; ${orphans} orphans, ${leaked} leaked descriptors; ${machines.restarted.length} NATS servers that did not catch up restarted, ${machines.emptied.length} with a damaged store emptied`,
      goal: "0 lost, 0 run twice unreported, 0 orphans, 0 leaked descriptors",
      pass: broken.length + orphans + lasting === 0 && (ok > CALLS / 2 || ONLY !== undefined),
    });
    expect(verdict.unanswered).toBe(0);

    function totals(): Record<string, number> {
      const answers = [...history.answers.values()].flat();
      const unknown = answers.filter(({ code }) => code === "unknown").length;
      const errors = answers.filter(({ ok, code }) => !ok && code !== "unknown");
      const why = new Map<string, number>();
      for (const { code, why: words } of answers.filter(({ ok }) => !ok)) {
        const text = `error ${code} ${words?.replaceAll(/[\w-]+-[0-9a-f]{6}/g, "W").slice(0, 120)}`;
        why.set(text, (why.get(text) ?? 0) + 1);
      }
      return {
        calls: history.tried.size,
        ok: answers.length - unknown - errors.length,
        unknown,
        ...Object.fromEntries(why),
      };
    }
  },
  FULL ? 1_500_000 : 180_000,
);

function opened(
  machines: Machines,
  { name, file }: { readonly name: string; readonly file: string },
): number {
  return machines.descriptors(name).filter((open) => basename(open) === file).length;
}

/** Once connections of callers have gone. */
async function restingDescriptors(machines: Machines): Promise<ReadonlyMap<string, readonly string[]>> {
  await pause(2_000);
  return new Map(WATCHED.map((name) => [name, machines.descriptors(name)]));
}

async function leakedDescriptors(
  machines: Machines,
  before: ReadonlyMap<string, readonly string[]>,
): Promise<number> {
  let leaked = 0;
  for (const [name, now] of await restingDescriptors(machines)) {
    const known = before.get(name) ?? [];
    leaked += Math.max(0, now.length - known.length);
    if (now.length > known.length) console.error(name, { before: known, now });
  }
  return leaked;
}
