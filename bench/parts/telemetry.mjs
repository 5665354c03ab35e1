// What it costs to keep an eye on calls: `true` through the whole path, with nothing written down, with the journal and
// its counting, and with traces sent to a collector besides.
import { once } from "node:events";
import { createServer } from "node:http";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export async function measureTelemetry({ dist, effort }) {
  const collector = createServer((request, response) => request.resume().once("end", () => response.end()));
  await once(collector.listen(0, "127.0.0.1"), "listening");
  try {
    return await withSubjects(async ({ start }) => {
      const url = `http://127.0.0.1:${collector.address().port}`;
      const trivial = async (options) => ({
        subject: await start("terminal", { dist, ...options }),
        operation: "trivial",
      });
      const samples = await takeTurns(
        {
          "terminal-true": await trivial({}),
          "terminal-true-journal": await trivial({ journal: true }),
          "terminal-true-traced": await trivial({ journal: true, collector: url }),
        },
        effort,
      );
      return {
        microseconds: inMicroseconds(samples),
        ratios: {
          ...ratios(samples, "terminal-true-journal", ["terminal-true"]),
          ...ratios(samples, "terminal-true-traced", ["terminal-true"]),
        },
      };
    });
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
}
