// @needs nats-server
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished, test } from "vitest";
import { quantile, report, seconds } from "../figures.js";
import { FULL, tagged } from "../support.js";
import { judge } from "./history.js";
import { FRONT, Machines } from "./machines.js";
import { loopback } from "./network.js";

const KILLS = FULL ? 20 : 1;
const LEADERS = FULL ? 5 : 1;
const LONGEST_MS = 10_000;

test(
  "a call that only reads comes back from another worker, and writes are taken again when a leader is gone",
  async () => {
    const machines = await Machines.on(loopback());
    onTestFinished(() => machines.remove());
    await machines.startAll(["w1", "w2"]);
    const workers = new Map(["w1", "w2"].map((name) => [machines.running.get(name)?.pid, name]));
    const moved: number[] = [];
    let lane = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      lane += 1;
      const session = `reads${lane}`;
      const where = await machines.call({
        name: "look",
        kind: "read",
        args: { text: "where" },
        lane: session,
      });
      const victim = workers.get(where?.pid);
      if (victim === undefined) throw new Error(`nobody answered: ${JSON.stringify(where)}`);
      const running = machines.call({
        name: "look",
        kind: "read",
        args: { text: "moved", ms: 300 },
        lane: session,
      });
      await pause(150);
      const killedAt = performance.now();
      await machines.kill(victim);
      const answer = await running;
      if (answer?.ok !== true || answer.pid === where?.pid) throw new Error(JSON.stringify(answer));
      moved.push(performance.now() - killedAt);
      await machines.startWorker(victim);
      workers.set(machines.running.get(victim)?.pid, victim);
    }
    const longest = Math.max(...moved);
    const times = [0.5, 0.95].map((share) => seconds(quantile(moved, share)));
    const taken = await killLeaders(machines);
    await machines.stopCalls();
    const journal = await machines.journal(FRONT);
    const { broken } = judge({ history: machines.history, witness: machines.witnessed(), journal });
    await machines.stopAll();
    const orphans = tagged(machines.tag).length;
    report({
      id: "C2",
      what: "worker killed while it runs a call that only reads: its result from another worker",
      trials: KILLS,
      seen: `${times[0]} (median), ${times[1]} (p95), ${seconds(longest)} (longest); ${broken.length} broken promises, ${orphans} orphans`,
      goal: "≤ 10 s; 0 broken promises, 0 orphans",
      pass: longest <= LONGEST_MS && broken.length + orphans === 0,
    });
    report({
      id: "C2",
      what: "leading NATS server killed: a call that changes something succeeds again",
      trials: LEADERS,
      seen: `${seconds(quantile(taken, 0.5))} (median), ${seconds(Math.max(...taken))} (longest)`,
      goal: "≤ 10 s",
      pass: Math.max(...taken) <= LONGEST_MS,
    });
  },
  FULL ? 900_000 : 120_000,
);

async function killLeaders(machines: Machines): Promise<readonly number[]> {
  const times: number[] = [];
  for (let kill = 0; kill < LEADERS; kill += 1) {
    const leader = await machines.leader();
    const killedAt = performance.now();
    await machines.kill(leader);
    const args = { lane: `leader${kill}` };
    for (let tries = 0; ; tries += 1) {
      const answer = await machines.call({
        name: "witness",
        kind: "write",
        args,
        lane: `leader${kill}-${tries}`,
      });
      if (answer?.ok === true) break;
      if (tries > 20) throw new Error(JSON.stringify(answer));
    }
    times.push(performance.now() - killedAt);
    await machines.startNats(leader);
    await machines.healthy();
  }
  return times;
}
