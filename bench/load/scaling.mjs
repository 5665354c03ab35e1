// The curves of docs/scaling.md: one node with 10 to 10,000 tools, and with 1 to 200 sessions; 1, 2 and 4 workers; then
// the tables of the model.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EFFORT } from "../contestants.mjs";
import { measureCluster } from "../parts/cluster.mjs";
import { ask, post } from "../serve.mjs";
import { percentile } from "../statistics.mjs";
import { measureCalls } from "./calls.mjs";
import { startCluster } from "./cluster-parts.mjs";
import { cpuMsOf, withMeasuredServer } from "./measured-server.mjs";
import {
  between,
  machinesTable,
  ROUNDS,
  sessionsPicture,
  sessionsTable,
  toolsPicture,
  toolsTable,
  workersPicture,
  workersTable,
} from "./scaling-page.mjs";
import { clusterTable, partsTable } from "./simulate.mjs";

const TOOLS = [10, 100, 1_000, 10_000];
const SESSIONS = [1, 10, 50, 100, 200];

/** Measures, and writes pictures and tables into docs/scaling.md; in short: small, and no file is touched. */
export async function publishScaling({ dist, quick, root }) {
  const tools = [];
  for (const count of quick ? TOOLS.slice(0, 2) : TOOLS)
    tools.push(await withTools({ dist, count, rounds: quick ? 5 : ROUNDS }));
  const sessions = [];
  for (const count of quick ? SESSIONS.slice(0, 2) : SESSIONS) {
    const { others, throughput, median, p99, bareP99, cpuMs, rss, perSecond } = await measureCalls({
      dist,
      inFlight: count,
      minutes: quick ? 0.03 : 0.3,
      warmSeconds: quick ? 1 : 6,
      saturation: { callers: count, seconds: quick ? 1 : 6 },
    });
    sessions.push({ count, others, throughput, median, p99, bareP99, cpuMs, rss, perSecond });
  }
  const workers = await measureCluster({ dist, effort: quick ? EFFORT.quick : EFFORT.full });
  const cluster = await measureCalls({
    dist,
    minutes: quick ? 0.03 : 0.5,
    ...(quick && { inFlight: 10, warmSeconds: 1, saturation: { callers: 2, seconds: 1 } }),
    startCluster,
  });
  const date = new Date().toISOString().slice(0, 10);
  if (quick) return console.log(JSON.stringify({ tools, sessions, workers, cluster: cluster.partsCpuMs }));
  const folder = join(root, "docs", "scaling");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tools.svg"), toolsPicture(tools));
  writeFileSync(join(folder, "sessions.svg"), sessionsPicture(sessions));
  writeFileSync(join(folder, "workers.svg"), workersPicture(workers));
  putIntoModel(join(root, "bench", "load", "scaling.json"), { cluster, date });
  const page = join(root, "docs", "scaling.md");
  let text = readFileSync(page, "utf8");
  for (const [name, part] of Object.entries({
    tools: toolsTable(tools, date),
    sessions: sessionsTable(sessions, date),
    workers: workersTable(workers, date),
    machines: machinesTable(cluster, date),
    parts: partsTable(),
    clusters: clusterTable(),
  }))
    text = between(text, name, part);
  writeFileSync(page, text);
}

async function withTools({ dist, count, rounds }) {
  const began = performance.now();
  const measured = await withMeasuredServer(
    { dist, sockets: 4, tools: madeTools(count) },
    async ({ server }) => {
      const start = { wall: performance.now() - began, cpu: cpuMsOf(server.pid) };
      const timed = async (work) => {
        for (let round = 0; round < rounds / 4; round += 1) await work();
        const before = cpuMsOf(server.pid);
        const times = [];
        for (let round = 0; round < rounds; round += 1) {
          const started = performance.now();
          await work();
          times.push(performance.now() - started);
        }
        return { wall: percentile(times, 0.5), cpu: (cpuMsOf(server.pid) - before) / rounds };
      };
      const call = (name, args) => () => post({ server, session: "one", call: { name, arguments: args } });
      const seen = {
        start,
        list: await timed(() => ask({ server, path: "/v1/tools" })),
        call: await timed(call("sleep", { seconds: 0 })),
        search: count < 1_000 ? undefined : await timed(call("tool_search", { query: "entry of a list" })),
      };
      // The record is written once a second.
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return seen;
    },
  );
  const { samples, start, list, call, search } = measured;
  return { count, start, list, call, search, rss: (samples.at(-1)?.rss ?? 0) / 2 ** 20 };
}

function madeTools(count) {
  const one = (number) => `  - name: made_${number}
    description: Looks up entry ${number} of a list
    type: http_wrapper
    endpoint: http://127.0.0.1:9/${number}
    parameters:
      - { name: q, type: string, required: true }
`;
  return `tools:\n${Array.from({ length: count }, (_, number) => one(number)).join("")}`;
}

/** What the machines of a cluster spend on a call, in the place of what was there. */
function putIntoModel(file, { cluster, date }) {
  const model = JSON.parse(readFileSync(file, "utf8"));
  const { worker, nats } = cluster.partsCpuMs;
  const messages = model.nats.messagesOut + model.nats.messagesBack;
  const rounded = (ms) => Number(ms.toPrecision(2));
  model.front.cpuMs = rounded(cluster.cpuMs);
  model.worker.cpuMs = rounded(worker);
  model.nats.messageMs = rounded(nats / messages);
  const from = `measured ${date} (npm run load -- scaling): processor time per call under the load of O1`;
  model.front.from = `${from}, of a front node whose calls run on a worker; its variation (scv) is ASSUMED`;
  model.worker.from = `${from}, of a worker that runs all of them; slots are the default, cores ASSUMED`;
  model.nats.from = `${from}, of one NATS server that keeps one copy, divided by the messages; latency (replication and network, each way) and scv are ASSUMED`;
  writeFileSync(file, `${JSON.stringify(model, undefined, 2)}\n`);
}
