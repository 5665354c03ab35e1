// A vitest reporter that writes counts and the reasons of skipped tests to the file HERMES_TEST_RESULTS names.
import { writeFileSync } from "node:fs";

export default class CountingReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, skips: [] };
    for (const module of modules) {
      // A module that cannot be loaded has no tests that could fail.
      if (module.state() === "failed" && [...module.children.allTests()].length === 0) counts.failed += 1;
      else if (module.errors().length > 0) counts.failed += 1;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === "pending") counts.failed += 1;
        else counts[state] += 1;
        if (state !== "skipped") continue;
        const todo = test.options.mode === "todo" ? "not written yet" : undefined;
        counts.skips.push({ test: `${module.relativeModuleId} > ${test.fullName}`, reason: note ?? todo });
      }
    }
    writeFileSync(process.env.HERMES_TEST_RESULTS, JSON.stringify(counts));
  }
}
