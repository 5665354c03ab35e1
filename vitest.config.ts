import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { globsOf, unmetFiles } from "./scripts/test-files.mjs";

/** Which part of the tests; scripts/test.mjs says. */
const part = process.env.HERMES_TEST_PART ?? "all";
const { include, exclude } = globsOf(part);

/** The longest files first: begun last, they would keep one worker busy while the other has nothing left to do. */
const LONGEST =
  /conformance\/|build\/(?:image|pack)|gate-on-every-door|bench\.test|\/(?:docker|podman)\.test|cli\/check|local-exec/;

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
    include,
    // Files that cannot run here are left out whole, so that none of their set-up runs.
    exclude: [...configDefaults.exclude, ...exclude, ...(await unmetFiles(part)).keys()],
    // Two cores and real child processes: more workers only make timings flaky. The slow tests mostly wait, for
    // servers and for time limits, so that two of them leave a core idle a third of the time.
    maxWorkers: part === "full" ? 3 : 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});
