// @needs nats-server
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished, test } from "vitest";
import { report } from "../figures.js";
import { FULL, tagged } from "../support.js";
import { judge } from "./history.js";
import { FRONT, Machines, NATS } from "./machines.js";
import { loopback } from "./network.js";

const KILLS = FULL ? 5 : 1;
const WORKERS = ["w1", "w2"];

test(
  "when all machines die at once, every call that was answered is in the journal, and the others are unknown",
  async () => {
    const machines = await Machines.on(loopback());
    onTestFinished(() => machines.remove());
    await machines.startAll(WORKERS);
    for (let kill = 0; kill < KILLS; kill += 1) {
      machines.startCalls({ lanes: 8, pauseMs: 5 });
      await pause(FULL ? 6_000 : 3_000);
      await Promise.all([...NATS, ...WORKERS, FRONT].map((name) => machines.kill(name)));
      await machines.stopCalls();
      await Promise.all(NATS.map((name) => machines.startNats(name)));
      await machines.startAgain(WORKERS);
    }
    // What waited in the queue for workers that are gone is nobody's any more.
    machines.startCalls({ lanes: 8, pauseMs: 5 });
    await pause(2_000);
    await machines.stopCalls();
    const journal = await machines.journal(FRONT);
    const verdict = judge({ history: machines.history, witness: machines.witnessed(), journal });
    await machines.stopAll();
    const orphans = tagged(machines.tag).length;
    const { broken, calls, ok, unanswered, unknown } = verdict;
    for (const line of broken.slice(0, 20)) console.error(line);
    report({
      id: "C3",
      what: "kill -9 of all NATS servers, workers and the front node at once, under a stream of calls",
      trials: KILLS,
      seen: `${broken.length} of ${calls.toLocaleString("en")} calls lost, run twice or told otherwise; ${ok.toLocaleString("en")} ok, ${unknown + unanswered} without an outcome, unknown to the journal too or never begun; ${orphans} orphans`,
      goal: "0 lost, 0 run twice, 0 orphans",
      pass: broken.length + orphans === 0 && unanswered > 0,
    });
  },
  KILLS * 60_000 + 60_000,
);
