// What a tool call costs inside a script of `execute_code`, over a thousand calls, beside bare JSON lines over pipes.
import { withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

/** Each round starts interpreters, so there are few. */
const FEWER = 3;

export function measureExecuteCode({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const journaled = await start("script", { dist, journal: true });
    const plain = await start("script", { dist, journal: false });
    const contestants = {
      "bare-pipes": [journaled, "bare"],
      "python-call": [journaled, "python"],
      "javascript-call": [journaled, "javascript"],
      "python-call-no-journal": [plain, "python"],
    };
    const samples = Object.fromEntries(Object.keys(contestants).map((id) => [id, []]));
    const rounds = Math.max(2, Math.ceil(effort.rounds / FEWER));
    for (let round = 0; round <= rounds; round += 1) {
      for (const [id, [subject, operation]] of Object.entries(contestants)) {
        const nanoseconds = await subject.measure(operation, 1);
        // The first round warms up.
        if (round > 0) samples[id].push(nanoseconds);
      }
    }
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "python-call", ["bare-pipes"]),
        ...ratios(samples, "javascript-call", ["bare-pipes"]),
      },
    };
  });
}
