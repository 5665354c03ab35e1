// O2: five hundred background processes that write a megabyte a second each; what is kept of each is bounded, and
// asking for their state stays quick.
import { ask, post } from "../serve.mjs";
import { percentile } from "../statistics.mjs";
import { withMeasuredServer } from "./measured-server.mjs";

const COUNT = 500;
const SESSIONS = 50;
/** What is kept of each (docs/processes.md). */
const KEPT_CHARS = 200_000;
// A tenth of a megabyte ten times a second, by one process that needs next to no time for it.
const WRITER =
  '$| = 1; my $b = ("x" x 99) . "\\n"; $b = $b x 1000; while (1) { syswrite(STDOUT, $b); select(undef, undef, undef, 0.1) }';
const CONFIG = "terminal:\n  max_processes: 1000\napprovals:\n  mode: off\n";

export async function measureProcesses({ dist, minutes, count = COUNT }) {
  const measured = await withMeasuredServer({ dist, config: CONFIG, sockets: 64 }, async ({ server }) => {
    for (let started = 0; started < count; started += 10) {
      await Promise.all(
        Array.from({ length: Math.min(10, count - started) }, (_, index) =>
          post({
            server,
            session: `writers-${(started + index) % SESSIONS}`,
            call: { name: "terminal", arguments: { command: `exec perl -e '${WRITER}'`, background: true } },
          }),
        ),
      );
    }
    const times = [];
    const until = performance.now() + minutes * 60_000;
    let listed = [];
    while (performance.now() < until) {
      const started = performance.now();
      const { text } = await ask({ server, path: "/v1/processes" });
      times.push(performance.now() - started);
      listed = JSON.parse(text).processes;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const kept = [];
    for (const { id } of listed.slice(0, 10)) {
      const { text } = await ask({ server, path: `/v1/processes/log?id=${id}&limit=5000` });
      kept.push(JSON.parse(text).lines.reduce((sum, line) => sum + line.length + 1, 0));
    }
    return {
      times,
      running: listed.filter(({ status }) => status === "running").length,
      written: listed.reduce((sum, { output_bytes }) => sum + output_bytes, 0),
      kept: Math.max(...kept),
    };
  });
  const { times, running, written, kept, samples, zombies, orphans } = measured;
  return {
    samples,
    note: `${(written / 1e9).toFixed(1)} GB written by ${running} processes, ${times.length} lists of them all (median ${percentile(times, 0.5).toFixed(0)} ms); at most ${kept} characters of one are kept`,
    figures: [
      { what: `processes of ${count} that were lost`, value: count - running, limit: 0, unit: "" },
      { what: "list of all processes, p99", value: percentile(times, 0.99), limit: 100, unit: "ms" },
      { what: "kept of one process", value: kept, limit: KEPT_CHARS * 1.1, unit: "characters" },
      {
        what: "resident memory, most",
        value: Math.max(...samples.map((sample) => sample.rss)) / 2 ** 20,
        limit: 768,
        unit: "MB",
      },
      { what: "zombies at any look, and orphans", value: zombies + orphans, limit: 0, unit: "" },
    ],
  };
}
