// npm run faults: breaks things on purpose, at the size that the figures of docs/reliability.md are about, and ends with
// a table of what was seen. Suites run one after the other, because several of them measure time.
//   npm run faults               everything
//   npm run faults -- J1 K1      only these
//   npm run faults -- --smoke    a few trials of each, as in CI
//   npm run faults -- --json     the table as JSON, and nothing else on standard output
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureReady, root } from "./ensure.mjs";
import { unmetFiles } from "./test-files.mjs";

/** Where each fault is tried. */
const SUITES = {
  J1: "test/faults/kills.test.ts",
  J2: "test/faults/power-loss.test.ts",
  J3: "test/faults/damaged-files.test.ts",
  J4: "test/stories/kill-and-resume.test.ts",
  K1: "test/faults/refused-writes.test.ts",
  K2: "test/faults/refused-writes.test.ts",
  L1: "test/faults/killed-for-memory.test.ts",
  L2: "test/faults/killed-runtime.test.ts",
  M1: "test/faults/mcp-servers.test.ts",
  M2: "test/faults/cut-links.test.ts",
  M3: "test/faults/lost-containers.test.ts",
  M4: "test/faults/lost-gateway.test.ts",
  N1: "test/faults/reload.test.ts",
  N2: "test/faults/set-clocks.test.ts",
  N3: "test/faults/bad-plugins.test.ts",
  C1: "test/faults/cluster/history.test.ts",
  C2: "test/faults/cluster/fail-over.test.ts",
  C3: "test/faults/cluster/all-at-once.test.ts",
};

const words = process.argv.slice(2);
const json = words.includes("--json");
const smoke = words.includes("--smoke");
const asked = words.filter((word) => !word.startsWith("--"));
const unknown = [
  ...asked.filter((id) => !Object.hasOwn(SUITES, id)),
  ...words.filter((word) => word.startsWith("--") && !["--json", "--smoke"].includes(word)),
];
if (unknown.length > 0) {
  console.error(
    `${unknown.join(", ")}: not known. Ids are ${Object.keys(SUITES).join(", ")}; --smoke and --json may follow.`,
  );
  process.exit(2);
}
const ids = asked.length > 0 ? asked : Object.keys(SUITES);
await ensureReady({ types: false });
const unmet = await unmetFiles("all");
const folder = mkdtempSync(join(tmpdir(), "hermes-faults-"));
const rows = [];
try {
  for (const file of new Set(ids.map((id) => SUITES[id]))) rows.push(...run(file));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const shown = ids.flatMap((id) => {
  const found = rows.filter((row) => row.id === id);
  return found.length > 0
    ? found
    : [
        {
          id,
          what: SUITES[id],
          trials: 0,
          seen: unmet.get(SUITES[id]) ?? "no figure",
          goal: "",
          pass: false,
        },
      ];
});
print(shown);
process.exitCode = shown.every(({ pass }) => pass) ? 0 : 1;

function run(file) {
  if (unmet.has(file)) return [];
  const figures = join(folder, "figures.jsonl");
  rmSync(figures, { force: true });
  const env = { ...process.env, HERMES_FAULTS: smoke ? "" : "full", HERMES_FAULTS_FIGURES: figures };
  const stdio = ["ignore", json ? 2 : "inherit", "inherit"];
  const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", file], {
    cwd: root,
    env,
    stdio,
  });
  const found = linesOf(figures).map((line) => JSON.parse(line));
  // A figure may be within its goal while something else beside it went wrong.
  if (status === 0) return found;
  return found.map((row) =>
    row.pass ? { ...row, pass: false, seen: `${row.seen}; its suite failed` } : row,
  );
}

function linesOf(file) {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

function print(table) {
  if (json) return console.log(JSON.stringify(table, null, 2));
  console.log("\n| id | what | trials | seen | goal | |\n| --- | --- | --- | --- | --- | --- |");
  for (const { id, what, trials, seen, goal, pass } of table)
    console.log(
      `| ${id} | ${what} | ${trials.toLocaleString("en")} | ${seen} | ${goal} | ${pass ? "pass" : "FAIL"} |`,
    );
}
