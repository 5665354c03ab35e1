import { expect, test } from "vitest";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { createLogger } from "../../src/observe/log.js";
import { EnvironmentPool } from "../../src/runtime/environments.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const LATER_MS = 301_000;

test("an environment is suspended once it was idle for its lifetime, and never while something runs", async () => {
  const { runtime } = await testRuntime();
  const cwd = tempDir();
  let suspended = 0;
  const local = createLocalEnvironment({ name: "docker" });
  const pool = new EnvironmentPool({
    config: runtime.config,
    log: createLogger({ sink: () => undefined }),
    open: async () => ({
      ...local,
      suspend: async () => {
        suspended += 1;
      },
    }),
  });
  onTestEnd(() => pool.close());
  const environment = await pool.open({ name: "docker" });
  expect(await pool.open({ name: "docker" })).toBe(environment);
  const later = () => Date.now() + LATER_MS;
  const request = { cwd, timeoutMs: 10_000, signal: new AbortController().signal };

  await environment.exec({ ...request, command: "true" });
  expect(await pool.suspendIdle()).toEqual([]);
  const running = await environment.spawn({ cwd, command: "sleep 60", onOutput: () => undefined });
  expect(await pool.suspendIdle(later())).toEqual([]);
  await running.end();
  await running.ended;
  expect(await pool.suspendIdle(later())).toEqual(["docker"]);
  expect(await pool.suspendIdle(later())).toEqual([]);
  expect(suspended).toBe(1);
});
