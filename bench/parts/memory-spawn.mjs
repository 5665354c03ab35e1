// The same command from a small process and from one that holds a gigabyte.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureMemorySpawn({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const samples = await takeTurns(
      {
        "bare-spawn": { subject: await start("bare-terminal"), operation: "echo" },
        "bare-spawn-1gb": {
          subject: await start("bare-terminal", { megabytes: effort.largeMegabytes }),
          operation: "echo",
        },
        "terminal-echo": { subject: await start("terminal", { dist }), operation: "echo" },
        "terminal-echo-1gb": {
          subject: await start("terminal", { dist, megabytes: effort.largeMegabytes }),
          operation: "echo",
        },
      },
      effort,
    );
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "terminal-echo-1gb", ["terminal-echo"]),
        ...ratios(samples, "bare-spawn-1gb", ["bare-spawn"]),
      },
    };
  });
}
