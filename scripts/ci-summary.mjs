// Adds up several test runs: node scripts/ci-summary.mjs RUN.json …
// A run without a file counts as one failure, and so does a skipped test that CI could have run.
import { readFileSync } from "node:fs";
import { printReport, UNSTABLE_FORGIVEN } from "./test-report.mjs";

const total = { passed: 0, failed: 0, skipped: 0, skips: [], failures: [], unstable: [], files: [] };

for (const file of process.argv.slice(2)) {
  const run = readRun(file);
  if (run === undefined) {
    total.failed += 1;
    total.failures.push({ test: file, error: "a test run ended without counts" });
    continue;
  }
  console.log(`Node ${run.node}: passed ${run.passed}, failed ${run.failed}, skipped ${run.skipped}`);
  for (const key of ["passed", "failed", "skipped"]) total[key] += run[key];
  for (const key of ["failures", "unstable", "files"]) total[key].push(...(run[key] ?? []));
  for (const { test, reason } of run.skips) {
    if (`${test} ${reason ?? ""}`.includes("[ci-cannot]")) total.skips.push({ test, reason });
    else {
      total.failed += 1;
      total.skipped -= 1;
      total.failures.push({ test, error: `skipped although CI can run it: ${reason ?? "no reason given"}` });
    }
  }
}

printReport(total);
const passes = total.failed === 0 && total.passed > 0 && total.unstable.length <= UNSTABLE_FORGIVEN;
process.exitCode = passes ? 0 : 1;

function readRun(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
