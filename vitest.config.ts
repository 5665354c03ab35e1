import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Suites that start container engines, servers or very many processes and mostly wait for them, whatever version
 * of Node they run on; HERMES_TEST_ENGINES=off leaves them out.
 */
const ENGINES = [
  "test/{docker,ssh,singularity,modal,daytona,remote,faults}/**",
  "test/conformance/{docker,podman,ssh,singularity,modal,daytona,local-plain,local-sandbox}.test.ts",
  "test/attacks/{gate-on-every-door,bad-handlers,execute-code-*}.test.ts",
  "test/attacks/lesson-{09,10,26,30,33}-*.test.ts",
  "test/{sandbox,build,bench}/**",
  "test/conformance/local.test.ts",
  "test/cli/{check,approval-prompt,processes,exit-codes,mcp,plugins,tool-register}.test.ts",
  "test/conformance/mcp-{client,server}.test.ts",
  "test/{sources,server}/mcp/peers.test.ts",
  "test/cron/processes.test.ts",
  "test/store/journal-processes.test.ts",
  "test/tools/code/quality.test.ts",
  "test/{policy/engine-laws,shell/agreement}.test.ts",
  "test/examples/**",
];

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
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.HERMES_TEST_ENGINES === "off" ? ENGINES : [])],
    // Two cores and real child processes: more workers only make timings flaky.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});
