const SHOWN_FAILURES = 20;
const SHOWN_LINES = 25;

/** What failed and why, once more where a reader of a long log looks first: at its end. */
export function printFailures(failures) {
  for (const { test, error } of failures.slice(0, SHOWN_FAILURES)) {
    console.log(`failed: ${test}`);
    for (const line of error.split("\n").slice(0, SHOWN_LINES)) console.log(`    ${line.slice(0, 400)}`);
  }
  if (failures.length > SHOWN_FAILURES)
    console.log(`… and ${failures.length - SHOWN_FAILURES} more failures`);
}
