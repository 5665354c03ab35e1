// Code mode: how long a script takes to start on a warm thread, and what a tool call inside of it costs.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureQuickjs({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const plain = await start("quickjs", { dist });
    const journaled = await start("quickjs", { dist, journal: true });
    const samples = await takeTurns(
      {
        "bare-thread": { subject: plain, operation: "bareThread" },
        "quickjs-start": { subject: plain, operation: "emptyScript" },
        "quickjs-start-at-once": { subject: plain, operation: "emptyScriptAtOnce" },
        "quickjs-call": { subject: plain, operation: "thousandCalls" },
        "quickjs-call-journal": { subject: journaled, operation: "thousandCalls" },
      },
      effort,
    );
    for (const id of ["quickjs-call", "quickjs-call-journal"]) samples[id] = samples[id].map(oneOfThousand);
    return {
      microseconds: inMicroseconds(samples),
      ratios: ratios(samples, "quickjs-call", ["bare-thread"]),
    };
  });
}

function oneOfThousand(nanoseconds) {
  return nanoseconds / 1_000;
}
