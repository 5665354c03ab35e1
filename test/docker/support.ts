import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { DockerOptions } from "../../src/env/docker/docker.js";
import { createDockerEnvironment } from "../../src/env/docker/docker.js";
import type { ContainerRow } from "../../src/env/docker/labels.js";
import type { Environment, ExecRequest, ExecResult } from "../../src/env/environment.js";
import type { TestEngine } from "../support/docker-engine.js";

export function optionsFor(engine: TestEngine, changes: Partial<DockerOptions> = {}): DockerOptions {
  return {
    image: engine.image,
    host: `unix://${engine.socket}`,
    task: "test",
    home: "/home/of/a/test",
    network: false,
    ...changes,
  };
}

/** Closed when the test is over. */
export async function open(engine: TestEngine, changes: Partial<DockerOptions> = {}): Promise<Environment> {
  const environment = await createDockerEnvironment(optionsFor(engine, changes));
  onTestFinished(() => environment.close());
  return environment;
}

export function run(
  environment: Environment,
  command: ExecRequest["command"],
  changes: Partial<ExecRequest> = {},
): Promise<ExecResult> {
  const signal = new AbortController().signal;
  return environment.exec({ command, cwd: "/", timeoutMs: 30_000, signal, ...changes });
}

export function containers(engine: TestEngine): Promise<readonly ContainerRow[]> {
  return engine.api.json({ path: "/containers/json", query: { all: true } });
}

export async function containerOf(environment: Environment): Promise<string> {
  const { facts } = await environment.describe();
  return facts.container ?? "";
}

/** The number of a process that has ended, so nobody's for a while. */
export function deadPid(): number {
  return spawnSync("true").pid;
}

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-docker-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
