// npm test: makes the clone ready, then runs lint, type check and the test suite.
//   npm test                        everything; lint and type check count as one test each
//   npm test -- test/laws -t "law"  only these tests (arguments go to vitest)
//   --suite-only                    everything but lint and type check
// What failed is named again at the end; the last line is `N passed, N failed, N skipped`. With
// HERMES_TEST_SUMMARY=FILE all this goes to FILE as JSON and is left to the caller, who may be adding up several runs.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureReady, root, runToEnd, withoutNpm } from "./ensure.mjs";
import { printFailures } from "./print-failures.mjs";

const vitestArguments = process.argv.slice(2).filter((argument) => argument !== "--suite-only");
const suiteOnly = vitestArguments.length > 0 || process.argv.includes("--suite-only");
const total = noCounts();

try {
  await ensureReady({ types: true, peers: true });
  // Only where there are tests that need it; without it they are skipped with their reason.
  if (existsSync(join(root, "test", "search")))
    await (await import("./model.mjs")).ensureModel({ required: false });
  if (!suiteOnly) {
    check("lint", ["node_modules/@biomejs/biome/bin/biome", "check", "."]);
    check("types", ["node_modules/typescript/bin/tsc", "--noEmit"]);
  }
  add(await runSuite());
} catch (error) {
  console.error(error.message);
  add({ ...noCounts(), ...failure("npm test", error.message) });
}
report();

function check(name, args) {
  const passed = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status === 0;
  console.log(`${passed ? "✓" : "✗"} ${name}`);
  add({ ...noCounts(), ...(passed ? { passed: 1 } : failure(name, "its messages are above")) });
}

async function runSuite() {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const results = join(folder, "results.json");
  const args = ["run", "--reporter=default", "--reporter=./scripts/test-reporter.mjs", ...vitestArguments];
  const env = { ...withoutNpm(process.env), HERMES_TEST_RESULTS: results };
  // Meant for this run, not for the runs that tests start.
  delete env.HERMES_TEST_SUMMARY;
  try {
    const status = await runToEnd(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], { env });
    const counts = readCounts(results);
    if (vitestArguments.some((argument) => /^(?:-t|--testNamePattern)/.test(argument))) dropFiltered(counts);
    // No results, or a failure that no test accounts for: the run itself broke.
    if (status === 0 || counts.failed > 0) return counts;
    return { ...counts, ...failure("the test run", `vitest ended with ${status}`) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return noCounts();
  }
}

function noCounts() {
  return { passed: 0, failed: 0, skipped: 0, skips: [], failures: [] };
}

function failure(test, error) {
  return { failed: 1, failures: [{ test, error }] };
}

/** A name pattern turns every other test into a skipped one without a reason: not news. */
function dropFiltered(counts) {
  counts.skips = counts.skips.filter(({ reason }) => reason !== undefined);
  counts.skipped = counts.skips.length;
}

function add(counts) {
  for (const key of ["passed", "failed", "skipped"]) total[key] += counts[key];
  total.skips.push(...counts.skips);
  total.failures.push(...counts.failures);
}

function report() {
  for (const { test, reason } of total.skips)
    console.log(`skipped: ${test} (${reason ?? "no reason given"})`);
  const { passed, failed, skipped } = total;
  const summary = process.env.HERMES_TEST_SUMMARY;
  if (summary === undefined) {
    printFailures(total.failures);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  } else writeFileSync(summary, JSON.stringify({ node: process.version, ...total }));
  process.exitCode = failed === 0 ? 0 : 1;
}
