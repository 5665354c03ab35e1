// O3: a thousand readers of events of which a hundred never read: measured as in the benchmark, in the same words.
import { EFFORT } from "../contestants.mjs";
import { measureEvents } from "../parts/events.mjs";

export async function measureReaders({ dist, quick = false }) {
  const { clients, calls, milliseconds, megabytes } = await measureEvents({
    dist,
    effort: quick ? EFFORT.quick : EFFORT.full,
  });
  return {
    samples: [],
    note: `${calls} calls heard of by ${clients} clients, a tenth of which do not read`,
    figures: [
      {
        what: `lag of ${clients} event clients, p99`,
        value: milliseconds[`events-lag-p99-${clients}`].median,
        limit: 1_000,
        unit: "ms",
      },
      {
        what: "resident memory, most",
        value: megabytes[`events-server-${clients}`].median,
        limit: 512,
        unit: "MB",
      },
    ],
  };
}
