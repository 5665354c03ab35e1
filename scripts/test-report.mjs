// The end of a test run, where a reader of a long log looks first: costs, skips, unstable tests, failures, counts.

/** So many tests may fail in a run and pass alone before the run fails. */
export const UNSTABLE_FORGIVEN = 3;

const SHOWN_FAILURES = 20;
const SHOWN_LINES = 25;
/** Suites that took less than this together make no row of their own. */
const SMALL_SUITE_SECONDS = 2;

export function printReport(run) {
  printCosts(run.files ?? []);
  printSkips(run.skips);
  for (const { test, error, again } of run.unstable ?? []) {
    console.log(`unstable: ${test}`);
    printIndented(error);
    console.log(`    then: ${again}`);
  }
  printFailures(run.failures ?? []);
  const unstable = run.unstable?.length ?? 0;
  if (unstable > UNSTABLE_FORGIVEN)
    console.log(`${unstable} unstable tests; a run fails above ${UNSTABLE_FORGIVEN}`);
  console.log(`${run.passed} passed, ${run.failed} failed, ${run.skipped} skipped`);
}

/** What each suite (folder of tests) took, all workers added up, the dearest first. */
export function printCosts(files) {
  const suites = new Map();
  for (const { file, ms, tests } of files) {
    const name = /^(test\/[^/]+)\//.exec(file)?.[1] ?? file;
    const suite = suites.get(name) ?? { name, files: 0, tests: 0, seconds: 0 };
    suites.set(name, suite);
    suite.files += 1;
    suite.tests += tests;
    suite.seconds += ms / 1000;
  }
  const all = [...suites.values()].sort((left, right) => right.seconds - left.seconds);
  const shown = all.filter(({ seconds }) => seconds >= SMALL_SUITE_SECONDS);
  if (shown.length === 0) return;
  const row = (seconds, tests, count, name) =>
    console.log(
      `${String(seconds).padStart(9)}  ${String(tests).padStart(6)}  ${String(count).padStart(5)}  ${name}`,
    );
  row("seconds", "tests", "files", "suite");
  for (const { name, files: count, tests, seconds } of shown) row(seconds.toFixed(1), tests, count, name);
  const rest = all.filter(({ seconds }) => seconds < SMALL_SUITE_SECONDS);
  if (rest.length > 0) {
    const sum = (key) => rest.reduce((whole, suite) => whole + suite[key], 0);
    row(sum("seconds").toFixed(1), sum("tests"), sum("files"), `${rest.length} others`);
  }
}

/** One line a reason. */
function printSkips(skips) {
  const reasons = new Map();
  for (const { test, reason = "no reason given" } of skips)
    reasons.set(reason, [...(reasons.get(reason) ?? []), test]);
  for (const [reason, tests] of [...reasons].sort(([, left], [, right]) => right.length - left.length)) {
    const others = tests.length === 1 ? "" : ` and ${tests.length - 1} more`;
    console.log(`skipped: ${reason} (${tests[0]}${others})`);
  }
}

export function printFailures(failures) {
  for (const { test, error, again } of failures.slice(0, SHOWN_FAILURES)) {
    console.log(`failed: ${test}`);
    printIndented(error);
    if (again !== undefined && again !== error) {
      console.log("    and alone:");
      printIndented(again);
    }
  }
  if (failures.length > SHOWN_FAILURES)
    console.log(`… and ${failures.length - SHOWN_FAILURES} more failures`);
}

function printIndented(text) {
  for (const line of text.split("\n").slice(0, SHOWN_LINES)) console.log(`    ${line.slice(0, 400)}`);
}
