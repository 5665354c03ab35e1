// The curves of docs/scaling.md: one node with 10 to 10,000 tools, and with 1 to 200 sessions; then the tables of the model.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, post } from "../serve.mjs";
import { percentile } from "../statistics.mjs";
import { measureCalls } from "./calls.mjs";
import { startCluster } from "./cluster-parts.mjs";
import { curves } from "./curves.mjs";
import { cpuMsOf, withMeasuredServer } from "./measured-server.mjs";
import { clusterTable, partsTable } from "./simulate.mjs";

const TOOLS = [10, 100, 1_000, 10_000];
const SESSIONS = [1, 10, 50, 100, 200];
const ROUNDS = 200;

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
  const cluster = await measureCalls({
    dist,
    minutes: quick ? 0.03 : 0.5,
    ...(quick && { inFlight: 10, warmSeconds: 1, saturation: { callers: 2, seconds: 1 } }),
    startCluster,
  });
  const date = new Date().toISOString().slice(0, 10);
  if (quick) return console.log(JSON.stringify({ tools, sessions, cluster: cluster.partsCpuMs }));
  const folder = join(root, "docs", "scaling");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tools.svg"), toolsPicture(tools));
  writeFileSync(join(folder, "sessions.svg"), sessionsPicture(sessions));
  putIntoModel(join(root, "bench", "load", "scaling.json"), { cluster, date });
  const page = join(root, "docs", "scaling.md");
  let text = readFileSync(page, "utf8");
  for (const [name, part] of Object.entries({
    tools: toolsTable(tools, date),
    sessions: sessionsTable(sessions, date),
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

function toolsPicture(rows) {
  const line = (name, pick) => ({
    name,
    points: rows.filter((row) => pick(row) !== undefined).map((row) => [row.count, pick(row)]),
  });
  return curves({
    label: "One node with 10 to 10,000 tools",
    xTitle: "tools",
    logX: true,
    panels: [
      {
        title: "A request, processor time",
        unit: "ms",
        lines: [
          line("a call", (row) => row.call.cpu),
          line("the definitions", (row) => row.list.cpu),
          line("a search", (row) => row.search?.cpu),
        ],
      },
      {
        title: "Until the first answer, processor time",
        unit: "ms",
        lines: [line("start", (row) => row.start.cpu)],
      },
      { title: "Memory", unit: "MB", lines: [line("resident", (row) => row.rss)] },
    ],
  });
}

function sessionsPicture(rows) {
  const line = (name, pick) => ({ name, points: rows.map((row) => [row.count, pick(row)]) });
  return curves({
    label: "One node with 1 to 200 sessions",
    xTitle: "sessions, each with a call in flight",
    panels: [
      {
        title: "Throughput",
        unit: "calls a second",
        lines: [
          line("calls that wait", (row) => row.throughput),
          line("reads without a pause", (row) => row.perSecond),
        ],
      },
      {
        title: "Overhead of a call",
        unit: "ms",
        limit: 20,
        lines: [
          line("median", (row) => row.median),
          line("p99", (row) => row.p99),
          line("p99 of a bare server", (row) => row.bareP99),
        ],
      },
      { title: "Memory", unit: "MB", limit: 512, lines: [line("resident", (row) => row.rss)] },
    ],
  });
}

function toolsTable(rows, date) {
  const both = ({ wall, cpu }, digits) => `${wall.toFixed(digits)} ms, ${cpu.toFixed(digits)} ms`;
  return table(
    ["tools", "first answer after", "a call", "the definitions", "a search", "memory"],
    rows.map(({ count, start, call, list, search, rss }) => [
      count.toLocaleString("en-US"),
      both(start, 0),
      both(call, 2),
      both(list, 2),
      search === undefined ? "not needed" : both(search, 2),
      `${rss.toFixed(0)} MB`,
    ]),
    `${date}: how long it took (median of ${ROUNDS}) and the processor time of the server for it.`,
  );
}

function sessionsTable(rows, date) {
  return table(
    [
      "sessions",
      "calls that wait, a second",
      "overhead, median",
      "p99",
      "p99, bare server",
      "processor time a call",
      "reads without a pause, a second",
      "memory",
      "others took of the machine",
    ],
    rows.map(({ count, others, throughput, median, p99, bareP99, cpuMs, rss, perSecond }) => [
      count,
      throughput.toFixed(1),
      `${median.toFixed(1)} ms`,
      `${p99.toFixed(1)} ms`,
      `${bareP99.toFixed(1)} ms`,
      `${cpuMs.toFixed(2)} ms`,
      perSecond.toFixed(0),
      `${rss.toFixed(0)} MB`,
      `${Math.round(others * 100)} %`,
    ]),
    `${date}.${disturbance(rows)}`,
  );
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

function machinesTable({ cpuMs, partsCpuMs, throughput, median, p99, others }, date) {
  return table(
    ["part", "processor time a call"],
    [
      ["front node", `${cpuMs.toFixed(2)} ms`],
      ["worker", `${partsCpuMs.worker.toFixed(2)} ms`],
      ["NATS server", `${partsCpuMs.nats.toFixed(2)} ms`],
    ],
    `${date}: the load of O1 through a cluster of one front node, one NATS server and one worker, all on one machine with two cores;` +
      ` ${throughput.toFixed(0)} calls a second, overhead median ${median.toFixed(1)} ms and p99 ${p99.toFixed(1)} ms;` +
      ` other programs took ${Math.round(others * 100)} % of the machine.`,
  );
}

/** Above this share the figures say more about the others. */
const DISTURBED = 0.25;

function disturbance(rows) {
  const most = Math.max(...rows.map(({ others }) => others));
  if (most <= DISTURBED) return "";
  return (
    ` **Disturbed:** other programs took up to ${Math.round(most * 100)} % of the machine, so this is no curve of this program yet;` +
    " only the memory stands. To be measured again on a quiet machine."
  );
}

function table(head, rows, note) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...rows.map(row), "", note].join("\n");
}

function between(page, name, text) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(
      `docs/scaling.md has no place for "${name}"; put ${start} and ${end} on lines of their own.`,
    );
  return `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`;
}
