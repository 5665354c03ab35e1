// `echo hi`: through a session's terminal tool, and with nothing but node around it.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureTerminal({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const contestants = {
      "bare-spawn": { subject: await start("bare-terminal"), operation: "echo" },
      "terminal-echo": { subject: await start("terminal", { dist }), operation: "echo" },
      "terminal-echo-unguarded": {
        subject: await start("terminal", { dist, settings: ["sandbox: off"] }),
        operation: "echo",
      },
      "terminal-echo-journal": {
        subject: await start("terminal", { dist, journal: true }),
        operation: "echo",
      },
    };
    const samples = await takeTurns(contestants, effort);
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "terminal-echo", ["bare-spawn", "terminal-echo-unguarded"]),
        ...ratios(samples, "terminal-echo-journal", ["bare-spawn"]),
      },
    };
  });
}
