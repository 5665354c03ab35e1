// One trivial call, one after the other, through everybody's front door.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureCalls({ dist, peers, effort }) {
  return withSubjects(async ({ start, startPeer }) => {
    const bare = await start("bare");
    const hermes = await start("hermes", { dist });
    const contestants = {
      bare: { subject: bare, operation: "oneByOne" },
      "bare-text": { subject: bare, operation: "text" },
      validated: { subject: await start("validated"), operation: "oneByOne" },
      hermes: { subject: hermes, operation: "oneByOne" },
      "hermes-text": { subject: hermes, operation: "textArguments" },
    };
    for (const peer of peers) {
      const subject = await startPeer(peer);
      if (subject !== undefined) contestants[peer] = { subject, operation: "oneByOne" };
    }
    const samples = await takeTurns(contestants, effort);
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "hermes", ["bare", "validated", ...peers]),
        // It takes the text of a model, so it is compared with a call that does so too.
        ...ratios(samples, "hermes-text", ["openai-agents"]),
      },
    };
  });
}
