import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDockerEnvironment } from "../../src/env/docker/docker.js";
import type { Environment } from "../../src/env/environment.js";
import { ToolError } from "../../src/tool/errors.js";
import {
  removeContainers,
  startDockerEngine,
  type TestEngine,
  whyNoDocker,
} from "../support/docker-engine.js";
import { startPodmanEngine, whyNoPodman } from "../support/podman-engine.js";
import { report, seconds } from "./figures.js";
import { FULL } from "./support.js";

const REMOVED = FULL ? 20 : 2;
const STOPPED = FULL ? 5 : 1;
const never = new AbortController().signal;

test("a Docker container that is removed, or whose daemon stops, in the middle of a command", async (context) => {
  const missing = whyNoDocker();
  if (missing !== undefined) context.skip(missing);
  const engine = await startDockerEngine();
  onTestFinished(() => engine.stop());
  const environment = await openEnvironment(engine, "docker");
  const removed = await tryOften(environment, REMOVED, {
    cut: () => removeContainers(engine.api),
    // Its files are gone with it, which is said once; then there is a new one.
    mend: () => isRefused(environment, /removed by somebody else/),
  });
  const stopped = await tryOften(environment, STOPPED, {
    cut: () => engine.stopDaemon(),
    mend: async () => {
      await isRefused(environment, /./);
      await engine.startDaemon();
    },
  });
  tell("Docker: container removed, or the daemon stopped, in the middle of a command", [
    ...removed,
    ...stopped,
  ]);
}, 600_000);

test("a Podman container that is removed in the middle of a command", async (context) => {
  const missing = whyNoPodman();
  if (missing !== undefined) context.skip(missing);
  const engine = await startPodmanEngine();
  onTestFinished(() => engine.stop());
  const environment = await openEnvironment(engine, "podman");
  const removed = await tryOften(environment, REMOVED, {
    cut: () => removeContainers(engine.api),
    // Its files are gone with it, which is said once; then there is a new one.
    mend: () => isRefused(environment, /removed by somebody else/),
  });
  tell("Podman: container removed in the middle of a command", removed);
}, 600_000);

async function openEnvironment(engine: TestEngine, kind: "docker" | "podman"): Promise<Environment> {
  const home = mkdtempSync(join(tmpdir(), "hermes-faults-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const environment = await createDockerEnvironment({
    engine: kind,
    host: `unix://${engine.socket}`,
    image: engine.image,
    task: "faults",
    home,
    network: false,
    sandboxDir: join(home, "sandboxes"),
  });
  onTestFinished(() => environment.close());
  return environment;
}

async function isRefused(environment: Environment, why: RegExp): Promise<void> {
  const error: unknown = await run(environment, "echo no").catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: "unavailable", message: expect.stringMatching(why) });
}

function run(environment: Environment, command: string, onChunk: (chunk: string) => void = () => {}) {
  return environment.exec({ command, cwd: "/", timeoutMs: 60_000, signal: never, onChunk });
}

/** How long each error took, from the moment the fault began. The next call works again. */
async function tryOften(
  environment: Environment,
  count: number,
  fault: {
    cut(): Promise<unknown>;
    mend(): Promise<void>;
  },
): Promise<readonly number[]> {
  const took: number[] = [];
  for (let at = 0; at < count; at += 1) {
    let cutAt = 0;
    let cut: Promise<unknown> | undefined;
    const error: unknown = await run(environment, "echo begun; sleep 60", () => {
      cutAt ||= performance.now();
      cut ??= fault.cut();
    }).catch((problem: unknown) => problem);
    took.push(performance.now() - cutAt);
    expect(ToolError.isInstance(error) && error.code, JSON.stringify(error)).toBe("unavailable");
    await cut;
    await fault.mend();
    expect((await run(environment, "echo again")).output).toBe("again\n");
  }
  return took;
}

function tell(what: string, took: readonly number[]): void {
  report({
    id: "M3",
    what,
    trials: took.length,
    seen: `error after at most ${seconds(Math.max(...took))}, the next call works each time`,
    goal: "error ≤ 5 s, no hang",
    pass: Math.max(...took) <= 5_000,
  });
}
