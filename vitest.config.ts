import { configDefaults, defineConfig } from "vitest/config";

/**
 * Suites that start container engines, servers or very many processes and mostly wait for them, whatever version
 * of Node they run on; HERMES_TEST_ENGINES=off leaves them out.
 */
const ENGINES = [
  "test/{docker,ssh,singularity,modal,daytona,remote,faults}/**",
  "test/conformance/{docker,podman,ssh,singularity,modal,daytona,local-plain,local-sandbox}.test.ts",
  "test/attacks/{gate-on-every-door,bad-handlers,execute-code-*}.test.ts",
  "test/attacks/lesson-{09,10,26,30,33}-*.test.ts",
  "test/{sandbox,build}/**",
  "test/cli/{check,approval-prompt,processes}.test.ts",
  "test/cron/processes.test.ts",
  "test/store/journal-processes.test.ts",
  "test/tools/code/quality.test.ts",
  "test/policy/{engine-laws.test.ts,shell/agreement.test.ts}",
  "test/examples/readme.test.ts",
];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.HERMES_TEST_ENGINES === "off" ? ENGINES : [])],
    // Two cores and real child processes: more workers only make timings flaky.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});
