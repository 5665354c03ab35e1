// Pictures and tables of docs/scaling.md, from what was measured.
import { EFFORT } from "../contestants.mjs";
import { SESSIONS as AT_ONCE } from "../subjects/cluster.mjs";
import { WAIT_MS } from "../subjects/cluster-tools.mjs";
import { curves } from "./curves.mjs";

/** How often each is asked for. */
export const ROUNDS = 200;
const WORKERS = { 1: "one-worker", 2: "two-workers", 4: "four-workers" };

export function toolsPicture(rows) {
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

export function sessionsPicture(rows) {
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

export function toolsTable(rows, date) {
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

export function sessionsTable(rows, date) {
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

/** Seconds for one call of each session, all at once. */
function secondsFor({ microseconds }, name) {
  return microseconds[name].median / 1e6;
}

export function workersPicture(measured) {
  const points = Object.entries(WORKERS).map(([count, name]) => [
    Number(count),
    AT_ONCE / secondsFor(measured, name),
  ]);
  return curves({
    label: "1, 2 and 4 workers",
    xTitle: "workers",
    panels: [
      { title: "Calls that wait", unit: "calls a second", lines: [{ name: "all workers together", points }] },
    ],
  });
}

export function workersTable(measured, date) {
  const { microseconds, ratios } = measured;
  const alone = secondsFor(measured, WORKERS[1]);
  const ms = (name) => `${(microseconds[name].median / 1_000).toFixed(2)} ms`;
  return table(
    ["workers", `${AT_ONCE} calls that wait ${WAIT_MS} ms, at once`, "calls a second", "against one"],
    Object.entries(WORKERS).map(([count, name]) => {
      const seconds = secondsFor(measured, name);
      return [
        count,
        `${(seconds * 1_000).toFixed(0)} ms`,
        (AT_ONCE / seconds).toFixed(0),
        `${(alone / seconds).toFixed(2)} ×`,
      ];
    }),
    `${date}, all on one machine. One call that only reads, after the other, took ${ms("call-on-worker")} on a worker against` +
      ` ${ms("call-here")} here: the cluster adds ${ms("added")}, ${ratios["added / bare-nats"].paired} times a bare` +
      ` request and reply over NATS (${ms("bare-nats")}) in the same run. One that changes something waits for the disk of its` +
      ` session's machine: ${ms("change-on-worker")} against ${ms("change-here")} here, so that the cluster adds` +
      ` ${ratios["added-to-change / bare-nats"].paired} times that request. All had done ${EFFORT.full.warmCalls.toLocaleString("en")} calls before.`,
  );
}

export function machinesTable({ cpuMs, partsCpuMs, throughput, median, p99, others }, date) {
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

export function between(page, name, text) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(
      `docs/scaling.md has no place for "${name}"; put ${start} and ${end} on lines of their own.`,
    );
  return `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`;
}
