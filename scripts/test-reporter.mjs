// A vitest reporter that writes counts, costs, what failed and why tests were skipped to the file HERMES_TEST_RESULTS names.
import { writeFileSync } from "node:fs";

export default class CountingReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0, skips: [], failures: [], unstable: [], files: [] };
    const fail = (place, errors) => {
      counts.failed += 1;
      const test = [place.file ?? "(outside of any test)", place.name].filter(Boolean).join(" > ");
      counts.failures.push({ ...place, test, error: errors.map(textOf).join("\n") });
    };
    for (const error of unhandledErrors) fail({}, [error]);
    for (const module of modules) {
      const file = module.relativeModuleId;
      const tests = [...module.children.allTests()];
      const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic();
      const ms = duration + collectDuration + setupDuration + prepareDuration;
      counts.files.push({ file, ms, tests: tests.length });
      // A module that cannot be loaded has no tests that could fail.
      const isUnloadable = module.state() === "failed" && tests.length === 0;
      const brokenSuites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
      // What breaks outside of its tests breaks the file, which is what can be run again.
      if (isUnloadable || module.errors().length > 0 || brokenSuites.length > 0)
        fail({ file }, [...module.errors(), ...brokenSuites]);
      for (const test of tests) {
        const { state, note, errors } = test.result();
        const place = { file, name: test.fullName };
        if (state === "pending") fail(place, [{ message: "it did not end" }]);
        else if (state === "failed") fail(place, errors ?? []);
        else counts[state] += 1;
        if (state !== "skipped") continue;
        const todo = test.options.mode === "todo" ? "not written yet" : undefined;
        counts.skips.push({ test: `${file} > ${test.fullName}`, reason: note ?? todo });
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
