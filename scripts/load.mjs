// npm run load: what the real server (hermes serve, from dist/) holds under load.
//   npm run load                    O1 to O5 and P1, 20 minutes; rewrites docs/reliability/ and "Load and soak" in docs/reliability.md
//   npm run load -- --minutes 5     the same in less time
//   npm run load -- O1 P1           some of them
//   npm run load -- page            rewrites the page from the last figures and measures nothing
//   npm run load -- scaling         the measured curves of docs/scaling.md
//   --quick                         a smoke test: small and short, no file is touched
//   --json                          figures as JSON
// A missed figure is shown and makes the exit code 1.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ensureReady, root } from "./ensure.mjs";

const DOCUMENT = join(root, "docs", "reliability.md");
const PICTURES = join(root, "docs", "reliability");
const RESULTS = join(root, "bench", "load", "results.json");
const HEADING = "## Load and soak";

/** `share`: of the minutes; those without take the time they need, about a minute in all. `about` is for the page. */
const PARTS = {
  O1: {
    file: "calls",
    run: "measureCalls",
    share: 0.5,
    memoryLimit: 512,
    title: "200 calls in flight",
    about: [
      "200 callers, each with a session of its own and a call in flight at every moment. As with agents, most calls wait: of",
      "20, 10 ask a service that takes half a second to a second and a half, 4 sleep as long, 1 runs a program as long, 3 read",
      "a file, 1 lists a folder and 1 writes a file. **Overhead is what the caller waited beyond the work**, over HTTP, with",
      "the generator on the same machine. The work of a wait is what was asked for (of the service: what it says it took), so",
      "a timer that fires late counts as overhead, and so does the start of a program. Of reading, listing and writing",
      "everything counts, with the disk: a write waits for two syncs. Nothing is taken off for the generator; a bare Node",
      "server is called by the same callers in the same minutes to show what they and the machine add.",
      "",
      "Callers without any pause measure something else, saturation: how many calls a second one event loop does at most,",
      "whatever each then takes. That is told apart, and is what the [model of scaling](scaling.md) begins with.",
    ],
    quick: { inFlight: 10, warmSeconds: 1, saturation: { callers: 2, seconds: 1 } },
  },
  O2: {
    file: "processes",
    run: "measureProcesses",
    minutes: 1,
    memoryLimit: 768,
    title: "500 background processes, 1 MB a second each",
    quick: { count: 10 },
  },
  O3: {
    file: "events",
    run: "measureReaders",
    title: "1,000 event clients, 100 of which do not read",
    quick: { quick: true },
  },
  O4: {
    file: "approvals",
    run: "measureApprovals",
    title: "100 questions at once, answered over 4 connections",
    quick: { calls: 8 },
  },
  O5: {
    file: "large",
    run: "measureLarge",
    title: "64 MiB results, a log of a million lines, 10,000 tools",
    quick: { rounds: 1, lines: 10_000, tools: 200 },
  },
  P1: {
    file: "soak",
    run: "measureSoak",
    share: 0.35,
    title: "A soak at twelve times the normal rate",
    about: [
      "Memory is read after a full collection, every ten seconds. Warm-up is 6,000 steps at a quicker rate, which is not all of",
      "it: snapshots of the heap after 7,000, 17,000 and 27,000 steps have 39.0, 41.0 and 41.0 MB. In the first 10,000 of these",
      "steps 1.4 MB of code were compiled, whose bound is the program, so it is told apart; the list of recent events grew by",
      "0.3 MB to its bound, the names of sessions by 0.2 MB. Of those 50,000 were kept when this was measured, and a",
      "thousand are now; in the second 10,000 nothing else grew.",
    ],
    quick: {},
  },
};
const QUICK_MINUTES = 0.03;

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string", default: "20" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      dist: { type: "string" },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0))
    throw new Error(`--minutes ${values.minutes} is no number above 0; for example --minutes 5.`);
  const known = [...Object.keys(PARTS), "page", "scaling"];
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no ${unknown.join(", ")}; there are ${known.join(", ")}.`);
  if (positionals.includes("page")) return publish({});
  if (values.dist === undefined) await ensureReady({ types: false });
  const context = { dist: resolve(values.dist ?? join(root, "dist")), quick: values.quick };
  if (positionals.includes("scaling")) {
    const { publishScaling } = await import("../bench/load/scaling.mjs");
    await publishScaling({ ...context, root });
  }
  const wanted =
    positionals.length === 0 ? Object.keys(PARTS) : positionals.filter((name) => name !== "scaling");
  const results = {};
  for (const id of wanted)
    results[id] = await measure(id, { ...context, minutes, alone: wanted.length === 1 });
  if (!values.quick && wanted.length > 0) publish(results);
  report(results, values);
}

async function measure(id, { dist, quick, minutes, alone }) {
  const { file, run, share, minutes: fixed, memoryLimit, title, quick: small } = PARTS[id];
  const module = await import(new URL(`../bench/load/${file}.mjs`, import.meta.url).href);
  const own = quick ? QUICK_MINUTES : (fixed ?? (alone || share === undefined ? minutes : minutes * share));
  const { samples, figures, note } = await module[run]({ dist, minutes: own, ...(quick ? small : {}) });
  if (!quick && samples.length > 10) {
    const { serverCurves } = await import("../bench/load/curves.mjs");
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(
      join(PICTURES, `${id}.svg`),
      serverCurves({ label: `${id}: ${title}`, samples, memoryLimit }),
    );
  }
  return {
    id,
    title,
    minutes: Number(own.toFixed(1)),
    date: new Date().toISOString(),
    note: `${note}; ${busyness()}`,
    figures: figures.map((figure) => ({
      ...figure,
      value: rounded(figure.value),
      ...(figure.upTo !== undefined && { upTo: rounded(figure.upTo) }),
      pass: figure.value <= figure.limit,
    })),
  };
}

function rounded(value) {
  return Number(Number(value).toPrecision(3));
}

/** What was measured in noise may be held without anybody knowing. */
function verdict({ value, upTo, limit, unit, pass }) {
  if (!pass) return "**missed**";
  return upTo === undefined || upTo <= limit ? "held" : `not sure: between ${value} and ${upTo} ${unit}`;
}

/** Whoever reads the figures should know whether the machine had other things to do. */
function busyness() {
  return `load average of the machine at the end: ${loadavg()[0].toFixed(1)} on ${availableParallelism()} cores`;
}

/** What was not measured this time keeps its last figures. */
function publish(results) {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : {};
  const all = { ...before, ...results };
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
  const page = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, "utf8") : "# Reliability\n";
  const at = page.indexOf(HEADING);
  const next = at < 0 ? -1 : page.indexOf("\n## ", at + HEADING.length);
  const head = at < 0 ? `${page.trimEnd()}\n\n` : page.slice(0, at);
  const after = next < 0 ? "" : page.slice(next);
  writeFileSync(DOCUMENT, `${head}${section(all)}${after}`);
}

function section(all) {
  const parts = Object.keys(PARTS).flatMap((id) => all[id] ?? []);
  return `${[
    HEADING,
    "",
    "`npm run load` starts the real server from `dist/` in a process of its own, loads it from another one on the same",
    "machine, writes down every second what it holds, and rewrites this section and its pictures. `npm run load -- O1",
    "--minutes 2` does a part. Loads and limits are those of the two-core machine the product is meant to be good on.",
    "",
    ...parts.flatMap(({ id, title, minutes, date, note, figures }) => [
      `### ${id}: ${title}`,
      "",
      ...(PARTS[id].about === undefined ? [] : [...PARTS[id].about, ""]),
      "| measure | value | limit | |",
      "| --- | --- | --- | --- |",
      ...figures.map(
        (figure) =>
          `| ${figure.what} | ${figure.value} ${figure.unit} | ${rounded(figure.limit)} ${figure.unit} | ${verdict(figure)} |`,
      ),
      "",
      `${date.slice(0, 10)}${PARTS[id].share === undefined ? "" : `, ${minutes} minutes`}: ${note}.`,
      "",
      ...(existsSync(join(PICTURES, `${id}.svg`)) ? [`![${id}: ${title}](reliability/${id}.svg)`, ""] : []),
    ]),
  ]
    .join("\n")
    .trimEnd()}\n`;
}

function report(results, { json, quick }) {
  const figures = Object.values(results).flatMap(({ id, figures: own }) =>
    own.map((figure) => ({ id, ...figure })),
  );
  if (json) console.log(JSON.stringify({ results: Object.values(results) }));
  else {
    for (const { id, note } of Object.values(results)) console.log(`${id}: ${note}`);
    for (const { id, what, value, limit, unit, pass } of figures)
      console.log(`${pass ? "held  " : "MISSED"} ${id}  ${what}: ${value} ${unit} (at most ${limit})`);
  }
  // Too short to mean anything: only errors count there.
  if (!quick && figures.some(({ pass }) => !pass)) process.exitCode = 1;
}
