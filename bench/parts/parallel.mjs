// A thousand calls begun at once. One unit is the whole thousand.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureParallel({ dist, peers, effort }) {
  return withSubjects(async ({ start, startPeer }) => {
    const hermes = await start("hermes", { dist });
    const contestants = {
      bare: { subject: await start("bare"), operation: "thousandAtOnce" },
      hermes: { subject: hermes, operation: "thousandAtOnce" },
      "hermes-one-message": { subject: hermes, operation: "thousandInOneMessage" },
    };
    for (const peer of peers) {
      const subject = await startPeer(peer);
      if (subject !== undefined) contestants[peer] = { subject, operation: "thousandAtOnce" };
    }
    const samples = await takeTurns(contestants, effort);
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "hermes", ["bare", ...peers]),
        ...ratios(samples, "hermes-one-message", peers),
      },
    };
  });
}
