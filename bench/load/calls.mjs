// O1: two hundred callers, each with a call in flight at every moment. Calls of agents mostly wait for something else: a
// service, a program, a time. Between them they read, list and write files.
// Overhead is what the caller waited beyond the work. The work of a wait is what was asked for (of a service: what it says
// it took), so a timer that fires late counts as overhead. Reading, listing and writing count in full, with the disk.
// The goal is one for a machine of its own: calls in whose seconds others took a tenth of it or more are told apart.
import { join } from "node:path";
import { post } from "../serve.mjs";
import { percentile } from "../statistics.mjs";
import { startBareServer } from "./bare-server.mjs";
import { cpuMsOf, withMeasuredServer } from "./measured-server.mjs";
import { watchNeighbours } from "./neighbours.mjs";

const IN_FLIGHT = 200;
/** Until code is compiled and every session is open. */
const WARM_SECONDS = 20;
const BARE_IN_FLIGHT = 20;
/** Callers that never wait, and how long: what the server does at most, whatever a call then takes. */
const SATURATION = { callers: 32, seconds: 15 };
/** With less of it, nothing can be said of a quiet machine. */
const LEAST_QUIET_SECONDS = 20;
const CONFIG = "approvals:\n  mode: off\nsecurity:\n  allow_private_urls: true\n";

/** Half a second to a second and a half, as a service or a build takes. */
function waitMs() {
  return 500 + Math.floor(Math.random() * 1_001);
}

export async function measureCalls({
  dist,
  minutes,
  inFlight = IN_FLIGHT,
  warmSeconds = WARM_SECONDS,
  saturation = SATURATION,
  nodeArgs = [],
  startCluster,
}) {
  const bare = await startBareServer({ inFlight: BARE_IN_FLIGHT, waitMs });
  const tools = serviceTool(bare.port);
  const cluster = await startCluster?.({ dist, config: CONFIG, tools });
  const measured = await withMeasuredServer(
    { dist, sockets: inFlight, config: CONFIG, nodeArgs, tools, ...cluster?.front },
    async ({ server, home, samples }) => {
      const cwd = join(home, "work");
      const parts = cluster?.pids ?? {};
      const neighbours = watchNeighbours({
        pids: [process.pid, server.pid, bare.pid, ...Object.values(parts)],
      });
      const seconds = minutes * 60;
      const spent = cpuOfParts(parts, { afterMs: warmSeconds * 1_000 });
      const seen = await keepInFlight({ server, cwd, inFlight, seconds, warmSeconds });
      neighbours.stop();
      const held = samples();
      return {
        ...seen,
        neighbours,
        held,
        spent: spent(),
        ...(await saturate({ server, cwd, ...saturation })),
      };
    },
  ).finally(() => Promise.all([bare.stop(), cluster?.stop()]));
  const { done, errors, seconds, countFrom, neighbours, held, spent, perSecond, zombies, orphans } = measured;
  const calls = done.length;
  const overheads = done.map(({ overhead }) => overhead);
  const quietSeconds = neighbours.quietSeconds(countFrom);
  const undisturbed = done.filter(({ from, to }) => neighbours.isQuiet(from, to));
  const isKnown = quietSeconds >= LEAST_QUIET_SECONDS && undisturbed.length > 0;
  const counted = isKnown ? undisturbed : done;
  const rss = Math.max(...measured.samples.map((sample) => sample.rss)) / 2 ** 20;
  const p99 = percentile(
    counted.map(({ overhead }) => overhead),
    0.99,
  );
  const bareP99 = percentile(bare.times, 0.99);
  const cpuMs = cpuPerCall({ samples: held, calls, seconds });
  const kinds = Object.entries(grouped(counted)).map(
    ([name, own]) => `${name} (${own.length}) ${spread(own.map(({ overhead }) => overhead))}`,
  );
  const notes = [
    `${calls} calls in ${Math.round(seconds)} s (${Math.round(calls / seconds)} a second)`,
    `overhead of all: ${spread(overheads)}; a bare server, called the same way in the same minutes: ${spread(bare.times)}`,
    isKnown
      ? `other programs took ${percent(neighbours.share(countFrom))} of the machine; the figure is of the ${undisturbed.length} calls in the ${quietSeconds} seconds in which they took less than a tenth`
      : `other programs took ${percent(neighbours.share(countFrom))} of the machine and left it alone for ${quietSeconds} seconds, so the figure is of all calls`,
    `by tool: ${kinds.join(", ")}`,
    `processor time of the server per call: ${cpuMs.toFixed(2)} ms`,
    `at most, with ${saturation.callers} callers that read a file again and again without a pause: ${Math.round(perSecond)} calls a second`,
    ...(errors.length > 0 ? [`first error: ${errors[0]}`] : []),
  ];
  return {
    samples: held,
    note: notes.join("; "),
    figures: [
      { what: `errors of ${inFlight} calls in flight`, value: errors.length, limit: 0, unit: "" },
      { what: "overhead of a call, p99", value: p99, limit: 20, unit: "ms" },
      { what: "resident memory, most", value: rss, limit: 512, unit: "MB" },
      { what: "zombies at any look, and orphans", value: zombies + orphans, limit: 0, unit: "" },
    ],
    throughput: calls / seconds,
    others: neighbours.share(countFrom),
    median: percentile(overheads, 0.5),
    p99,
    bareP99,
    cpuMs,
    partsCpuMs: Object.fromEntries(Object.entries(spent).map(([name, ms]) => [name, ms / calls])),
    errors: errors.length,
    rss,
    perSecond,
  };
}

/** Begins to count when the warm-up is over; answers with what gives the processor time of each process since. */
function cpuOfParts(pids, { afterMs }) {
  const all = () => Object.entries(pids).map(([name, pid]) => [name, cpuMsOf(pid)]);
  let before = {};
  setTimeout(() => {
    before = Object.fromEntries(all());
  }, afterMs);
  return () => Object.fromEntries(all().map(([name, ms]) => [name, ms - before[name]]));
}

function grouped(calls) {
  const groups = {};
  for (const call of calls) {
    groups[call.name] ??= [];
    groups[call.name].push(call);
  }
  return groups;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function spread(times) {
  const [middle, rare] = [0.5, 0.99].map((share) => percentile(times, share).toFixed(1));
  return `median ${middle} ms and p99 ${rare} ms`;
}

/** A service behind a tool without code. */
function serviceTool(port) {
  return `tools:
  - name: ask_service
    description: Ask a slow service
    type: http_wrapper
    endpoint: http://127.0.0.1:${port}/
    parameters:
      - { name: ms, type: integer, required: true }
`;
}

/** From the samples of the counted time, so that start and warm-up are no part of it. */
function cpuPerCall({ samples, calls, seconds }) {
  const last = samples.at(-1);
  const first = samples.find(({ second }) => second >= (last?.second ?? 0) - seconds);
  if (last === undefined || first === undefined || last === first) return Number.NaN;
  const share = (last.cpuMs - first.cpuMs) / (last.second - first.second);
  return (share * seconds) / calls;
}

async function keepInFlight({ server, cwd, inFlight, seconds, warmSeconds }) {
  const countFrom = performance.now() + warmSeconds * 1_000;
  const until = countFrom + seconds * 1_000;
  const seen = { done: [], errors: [], seconds, countFrom };
  await Promise.all(
    Array.from({ length: inFlight }, async (_, client) => {
      // Clients that begin together would stay together.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_500));
      for (let turn = client; performance.now() < until; turn += 1) {
        const { name, arguments: args, workMs = 0 } = nextCall(turn, { cwd, client });
        const started = performance.now();
        try {
          const content = await post({
            server,
            session: `client-${client}`,
            call: { name, arguments: args },
          });
          if (started < countFrom) continue;
          const to = performance.now();
          seen.done.push({ name, from: started, to, overhead: to - started - (content.waited_ms ?? workMs) });
        } catch (error) {
          seen.errors.push(`${name}: ${error.message}`);
        }
      }
    }),
  );
  return seen;
}

/** Of 20 calls 10 wait for a service, 4 for a time and 1 for a program; 3 read, 1 lists and 1 writes. */
function nextCall(turn, { cwd, client }) {
  const workMs = waitMs();
  switch (turn % 20) {
    case 0:
      return { name: "write_file", arguments: { path: join(cwd, `o-${client}.txt`), content: `${turn}\n` } };
    case 3:
    case 8:
    case 13:
      return { name: "read_file", arguments: { path: join(cwd, "note.txt"), limit: 50 } };
    case 6:
      return { name: "directory_list", arguments: { path: cwd, limit: 50, git: false } };
    case 16:
      return { name: "terminal", arguments: { command: `sleep ${workMs / 1_000}` }, workMs };
    case 1:
    case 5:
    case 11:
    case 15:
      return { name: "sleep", arguments: { seconds: workMs / 1_000 }, workMs };
    default:
      return { name: "ask_service", arguments: { ms: workMs } };
  }
}

async function saturate({ server, cwd, callers, seconds }) {
  let calls = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  const call = { name: "read_file", arguments: { path: join(cwd, "note.txt"), limit: 50 } };
  await Promise.all(
    Array.from({ length: callers }, async (_, client) => {
      while (performance.now() < until) {
        await post({ server, session: `client-${client}`, call });
        calls += 1;
      }
    }),
  );
  return { perSecond: calls / ((performance.now() - started) / 1_000) };
}
