import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { FULL, unmetFiles } from "./scripts/test-files.mjs";

/** `quick`, `full` or `all`: which part of the tests; scripts/test.mjs says. */
const part = process.env.HERMES_TEST_PART ?? "all";

/** The longest files first: begun last, they would keep one worker busy while the other has nothing left to do. */
const LONGEST =
  /conformance\/|gate-on-every-door|bench\.test|\/(?:docker|podman)\.test|cli\/check|local-exec/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    include:
      part === "full"
        ? FULL.map((pattern) => pattern.replace(/\*\*$/, "**/*.test.ts"))
        : ["test/**/*.test.ts"],
    // Files that cannot run here are left out whole, so that none of their set-up runs.
    exclude: [
      ...configDefaults.exclude,
      ...(part === "quick" ? FULL : []),
      ...(await unmetFiles(part)).keys(),
    ],
    // Two cores and real child processes: more workers only make timings flaky.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});
