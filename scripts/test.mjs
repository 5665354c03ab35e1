// npm test: makes the clone ready, then runs lint, type check and the quick tests.
//   npm test                        the quick tests; lint and type check count as one test each
//   npm run test:full               the slow rest (scripts/test-files.mjs names it): engines, servers, very many processes
//   npm test -- test/laws -t "law"  only these tests, quick or slow (arguments go to vitest)
//   --suite-only                    everything but lint and type check
//   --second-node                   of the quick tests, those that may turn out otherwise on another Node
// A test that fails is run once more, alone. If it passes then, it is unstable: named with what it said, and forgiven
// up to three times a run. The end says what the suites cost, what was skipped and why, and what failed; the last line
// is `N passed, N failed, N skipped`. With HERMES_TEST_SUMMARY=FILE all this goes to FILE as JSON and is left to the
// caller, who may be adding up several runs.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureReady, root, runToEnd, withoutNpm } from "./ensure.mjs";
import { unmetFiles } from "./test-files.mjs";
import { printReport, UNSTABLE_FORGIVEN } from "./test-report.mjs";

/** More failures than this are no matter of luck. */
const MOST_RUN_AGAIN = 12;

const OWN = new Set(["--suite-only", "--full", "--second-node"]);
const vitestArguments = process.argv.slice(2).filter((argument) => !OWN.has(argument));
const full = process.argv.includes("--full");
const secondNode = process.argv.includes("--second-node");
const suiteOnly = full || secondNode || vitestArguments.length > 0 || process.argv.includes("--suite-only");
const isPattern = (argument) => /^(?:-t|--testNamePattern)/.test(argument ?? "");
const asked = vitestArguments.filter(
  (argument, index) => !argument.startsWith("-") && !isPattern(vitestArguments[index - 1]),
);
/** Files that are asked for by name are run whichever part they belong to. */
const part = asked.length > 0 ? "all" : full ? "full" : secondNode ? "second-node" : "quick";
const total = noCounts();

try {
  await ensureReady({ types: true, peers: true });
  // Only where there are tests that need them; without them these are skipped with their reason.
  if (existsSync(join(root, "test", "search")))
    await (await import("./model.mjs")).ensureModel({ required: false });
  if (full && existsSync(join(root, "test", "tools", "multimedia")))
    await (await import("./model.mjs")).ensureModel({ what: "speech", required: false });
  if (!suiteOnly) {
    check("lint", ["node_modules/@biomejs/biome/bin/biome", "check", "."]);
    check("types", ["node_modules/typescript/bin/tsc", "--noEmit"]);
    if (existsSync(join(root, "web")))
      check("types of the dashboard", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "web"]);
  }
  const counts = await runSuite(vitestArguments);
  if (vitestArguments.some(isPattern)) dropFiltered(counts);
  else await addUnmet(counts);
  await runFailedAgain(counts);
  add(counts);
} catch (error) {
  console.error(error.message);
  add({ ...noCounts(), ...failure("npm test", error.message) });
}
end();

function check(name, args) {
  const started = performance.now();
  const passed = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status === 0;
  console.log(`${passed ? "✓" : "✗"} ${name}`);
  const files = [{ file: name, tests: 1, ms: performance.now() - started }];
  add({ ...noCounts(), files, ...(passed ? { passed: 1 } : failure(name, "its messages are above")) });
}

async function runSuite(args) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const results = join(folder, "results.json");
  const reporters = ["--reporter=default", "--reporter=./scripts/test-reporter.mjs"];
  const env = { ...withoutNpm(process.env), HERMES_TEST_RESULTS: results, HERMES_TEST_PART: part };
  // Meant for this run, not for the runs that tests start.
  delete env.HERMES_TEST_SUMMARY;
  try {
    const program = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args];
    const status = await runToEnd(process.execPath, program, { env });
    const counts = readCounts(results);
    // No results, or a failure that no test accounts for: the run itself broke.
    if (status === 0 || counts.failed > 0) return counts;
    return { ...counts, ...failure("the test run", `vitest ended with ${status}`) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that pass alone are not failures but unstable; the count of the passed takes them in. */
async function runFailedAgain(counts) {
  const again = counts.failures.filter(({ file }) => file !== undefined);
  if (again.length === 0 || again.length > MOST_RUN_AGAIN || again.length < counts.failures.length) return;
  counts.failures = [];
  for (const failed of again) {
    console.log(`\nonce more, alone: ${failed.test}`);
    // Patterns see the names of suites and test with blanks between them.
    const pattern = failed.name?.replaceAll(" > ", " ").replace(/[^\w ]/g, "\\$&");
    const name = pattern === undefined ? [] : ["-t", `^${pattern}$`];
    const alone = await runSuite([failed.file, ...name]);
    if (alone.failed > 0 || alone.passed === 0) {
      counts.failures.push({ ...failed, again: alone.failures[0]?.error });
      continue;
    }
    counts.failed -= 1;
    counts.passed += failed.name === undefined ? alone.passed : 1;
    if (failed.name === undefined) forgetSkippedOf(failed.file, counts);
    counts.unstable.push({ ...failed, again: `passed alone (${alone.passed} tests)` });
  }
}

/** Set-up that fails leaves the tests below it skipped without a reason. */
function forgetSkippedOf(file, counts) {
  const kept = counts.skips.filter(
    ({ test, reason }) => reason !== undefined || !test.startsWith(`${file} > `),
  );
  counts.skipped -= counts.skips.length - kept.length;
  counts.skips = kept;
}

/** Files that were left out whole count as one skipped test each. */
async function addUnmet(counts) {
  for (const [file, reason] of await unmetFiles(part)) {
    if (asked.length > 0 && !asked.some((part) => file.includes(part))) continue;
    counts.skipped += 1;
    counts.skips.push({ test: file, reason });
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
  return { passed: 0, failed: 0, skipped: 0, skips: [], failures: [], unstable: [], files: [] };
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
  for (const key of ["skips", "failures", "unstable", "files"]) total[key].push(...counts[key]);
}

function end() {
  const summary = process.env.HERMES_TEST_SUMMARY;
  if (summary !== undefined) writeFileSync(summary, JSON.stringify({ node: process.version, ...total }));
  else printReport(total);
  process.exitCode = total.failed === 0 && total.unstable.length <= UNSTABLE_FORGIVEN ? 0 : 1;
}
