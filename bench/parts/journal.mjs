// The same call with every row committed before it is answered, beside peers that write nothing down.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureJournal({ dist, peers, effort }) {
  return withSubjects(async ({ start, startPeer }) => {
    const journaled = await start("hermes", { dist, journal: true });
    const contestants = {
      "hermes-journal": { subject: journaled, operation: "oneByOne" },
      "hermes-journal-8": { subject: journaled, operation: "eightInFlight" },
      "hermes-8": { subject: await start("hermes", { dist }), operation: "eightInFlight" },
      "synced-append": { subject: await start("bare"), operation: "syncedAppend" },
    };
    for (const peer of peers.filter((name) => name !== "ai-sdk")) {
      const subject = await startPeer(peer);
      if (subject === undefined) continue;
      contestants[peer] = { subject, operation: "oneByOne" };
      contestants[`${peer}-8`] = { subject, operation: "eightInFlight" };
    }
    const samples = await takeTurns(contestants, effort);
    const others = Object.keys(samples).filter((id) => !id.startsWith("hermes-journal"));
    return {
      microseconds: inMicroseconds(samples),
      ratios: ratios(samples, "hermes-journal-8", others),
    };
  });
}
