// How long the danger analysis takes, as `hermes approvals test` itself reports it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandShapes } from "../command-shapes.mjs";
import { cleanEnvironment } from "../coordinate.mjs";
import { significant, summary } from "../statistics.mjs";

const CORPUS = new URL("../../test/shell/corpus/dev.jsonl", import.meta.url);
const WARM_ROUNDS = 8;
const SIZES = [4_000, 25_000, 100_000];

export function measureVerdicts({ dist, effort }) {
  const ordinary = readFileSync(CORPUS, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).cmd);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const judge = (commands) => timesOf(commands, { dist, home });
    const warmUp = ordinary.slice(0, 300);
    const lines = Array.from({ length: effort.slowSpawns }, () =>
      judge([...warmUp, ...ordinary]).slice(warmUp.length),
    ).flat();
    const warmShapes = Array.from({ length: WARM_ROUNDS }, () =>
      commandShapes(SIZES[0]).map(([, text]) => text),
    ).flat();
    const milliseconds = { "ordinary line": summary(lines) };
    const worst = {};
    for (const size of SIZES) {
      // Several tries of each shape: a pause of the machine is not the analysis' doing.
      // Each try is another text: a line that was just judged is not read again.
      const shapes = commandShapes(size).flatMap(([shape, text]) =>
        Array.from({ length: effort.slowSpawns }, (_, index) => [shape, text + " ".repeat(index)]),
      );
      // A process that judges its first long line is still compiling; a session judges thousands.
      const before = [...warmUp, ...warmShapes];
      const times = judge([...before, ...shapes.map(([, text]) => text)]).slice(before.length);
      worst[size] = 0;
      for (const [shape, values] of groupTimes(shapes, times)) {
        milliseconds[`${size / 1000} kB, ${shape}`] = summary(values);
        worst[size] = Math.max(worst[size], milliseconds[`${size / 1000} kB, ${shape}`].median);
      }
    }
    return {
      milliseconds,
      medianMs: milliseconds["ordinary line"].median,
      p99Ms: significant(percentile(lines, 0.99)),
      worstMs: worst,
      growth: significant(worst[100_000] / worst[25_000]),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function groupTimes(shapes, times) {
  const groups = new Map();
  for (const [index, [shape]] of shapes.entries()) {
    const group = groups.get(shape) ?? [];
    group.push(times[index]);
    groups.set(shape, group);
  }
  return groups;
}

function timesOf(commands, { dist, home }) {
  const run = spawnSync(process.execPath, [join(dist, "cli", "main.js"), "approvals", "test", "--jsonl"], {
    input: commands.map((cmd) => `${JSON.stringify({ cmd })}\n`).join(""),
    env: { ...cleanEnvironment(), HERMES_HOME: home },
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  if (run.status !== 0) throw new Error(`hermes approvals test failed: ${run.stderr}`);
  return run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).ms);
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
