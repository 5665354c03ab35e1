// A vitest reporter that writes counts, what failed and why tests were skipped to the file HERMES_TEST_RESULTS names.
import { writeFileSync } from "node:fs";

export default class CountingReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0, skips: [], failures: [] };
    const fail = (test, errors) => {
      counts.failed += 1;
      counts.failures.push({ test, error: errors.map(textOf).join("\n") });
    };
    for (const error of unhandledErrors) fail("(outside of any test)", [error]);
    for (const module of modules) {
      const file = module.relativeModuleId;
      // A module that cannot be loaded has no tests that could fail.
      const isUnloadable = module.state() === "failed" && [...module.children.allTests()].length === 0;
      if (isUnloadable || module.errors().length > 0) fail(file, module.errors());
      for (const suite of module.children.allSuites())
        if (suite.errors().length > 0) fail(`${file} > ${suite.fullName}`, suite.errors());
      for (const test of module.children.allTests()) {
        const { state, note, errors } = test.result();
        const name = `${file} > ${test.fullName}`;
        if (state === "pending") fail(name, [{ message: "it did not end" }]);
        else if (state === "failed") fail(name, errors ?? []);
        else counts[state] += 1;
        if (state !== "skipped") continue;
        const todo = test.options.mode === "todo" ? "not written yet" : undefined;
        counts.skips.push({ test: name, reason: note ?? todo });
      }
    }
    writeFileSync(process.env.HERMES_TEST_RESULTS, JSON.stringify(counts));
  }
}

/** What was thrown and the line of the tests it came from. */
function textOf({ message, stack, stacks, diff }) {
  const places = (stacks ?? []).map(({ file, line }) => `at ${file}:${line}`);
  const place = places.find((text) => text.includes("/test/")) ?? places[0] ?? stack?.split("\n")[1]?.trim();
  return [message, diff, place].filter((part) => part).join("\n");
}
