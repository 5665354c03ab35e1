// `echo hi` in a terminal: with bare node-pty, by the environment, and through the terminal tool, which also keeps
// a screen and looks whether the program waits for input.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measurePty({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const samples = await takeTurns(
      {
        "bare-pty": { subject: await start("bare-terminal", { pty: true }), operation: "pty" },
        "environment-pty": { subject: await start("environment", { dist }), operation: "pty" },
        "terminal-pty": { subject: await start("terminal", { dist }), operation: "pty" },
      },
      effort,
    );
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "environment-pty", ["bare-pty"]),
        ...ratios(samples, "terminal-pty", ["bare-pty"]),
      },
    };
  });
}
