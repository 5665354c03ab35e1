// Adds up the counts of several test runs: node scripts/ci-summary.mjs RUN.json …
// A run without a file counts as one failure, and so does a skipped test that CI could have run.
import { readFileSync } from "node:fs";
import { printFailures } from "./print-failures.mjs";

const total = { passed: 0, failed: 0, skipped: 0 };

for (const file of process.argv.slice(2)) {
  const run = readRun(file);
  if (run === undefined) {
    console.log(`a test run ended without counts: ${file}`);
    total.failed += 1;
    continue;
  }
  console.log(`Node ${run.node}: passed ${run.passed}, failed ${run.failed}, skipped ${run.skipped}`);
  for (const key of ["passed", "failed", "skipped"]) total[key] += run[key];
  printFailures(run.failures ?? []);
  for (const { test, reason } of run.skips) {
    if (`${test} ${reason ?? ""}`.includes("[ci-cannot]")) continue;
    console.log(`skipped although CI can run it: ${test} (${reason ?? "no reason given"})`);
    total.failed += 1;
    total.skipped -= 1;
  }
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

function readRun(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
