// What it costs to run a call on another machine, and what two workers are worth against one.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { startNats } from "../servers/nats.mjs";
import { inMicroseconds, ratio, ratios } from "../statistics.mjs";

/** Fewer than there are calls: they wait for room, not for the processor. */
const SLOTS = 16;

export async function measureCluster({ dist, effort }) {
  const nats = await startNats();
  if ("missing" in nats) return { microseconds: {}, ratios: {}, leftOut: { nats: nats.missing } };
  const { server } = nats;
  try {
    return await withSubjects(async ({ start }) => {
      await start("nats-echo", { server });
      await start("cluster-worker", { dist, server, cluster: "overhead" });
      for (const [cluster, workers] of Object.entries({ one: 1, two: 2, four: 4 }))
        for (let worker = 0; worker < workers; worker += 1)
          await start("cluster-worker", { dist, server, cluster, slots: SLOTS });
      const front = async (options, operation) => ({
        subject: await start("cluster", { dist, server, ...options }),
        operation,
      });
      const [here, away] = [
        await front({ local: true }, "oneByOne"),
        await front({ cluster: "overhead" }, "oneByOne"),
      ];
      const contestants = {
        "bare-nats": { subject: await start("bare-nats", { server }), operation: "oneByOne" },
        "call-here": here,
        "call-on-worker": away,
        "change-here": { ...here, operation: "changing" },
        "change-on-worker": { ...away, operation: "changing" },
      };
      // Machines of a cluster are up for days. What fills a round is too little here: the worker is warmed by nothing else.
      for (const { subject, operation } of Object.values(contestants))
        await subject.measure(operation, effort.warmCalls);
      const samples = await takeTurns(contestants, effort);
      const waiting = await takeTurns(
        {
          "one-worker": await front({ cluster: "one" }, "waiting"),
          "two-workers": await front({ cluster: "two" }, "waiting"),
          "four-workers": await front({ cluster: "four" }, "waiting"),
        },
        effort,
      );
      const beyond = (one, other) => samples[one].map((time, round) => time - samples[other][round]);
      const added = beyond("call-on-worker", "call-here");
      const addedToChange = beyond("change-on-worker", "change-here");
      return {
        microseconds: inMicroseconds({ ...samples, added, "added-to-change": addedToChange, ...waiting }),
        ratios: {
          "added / bare-nats": ratio(added, samples["bare-nats"]),
          "added-to-change / bare-nats": ratio(addedToChange, samples["bare-nats"]),
          ...ratios(waiting, "two-workers", ["one-worker"]),
          ...ratios(waiting, "four-workers", ["one-worker"]),
        },
      };
    });
  } finally {
    await nats.stop();
  }
}
