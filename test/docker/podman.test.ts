// @needs root podman conmon runc catatonit busybox
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDockerEnvironment } from "../../src/env/docker/docker.js";
import { type PodmanTestEngine, startPodmanEngine } from "../support/podman-engine.js";
import { describeCore } from "./core.js";
import { processesNaming } from "./leftovers.js";
import { describeReuse } from "./reuse.js";
import { describeRoundTrips } from "./round-trips.js";
import { optionsFor, run } from "./support.js";

let started: PodmanTestEngine | undefined;

function engine(): PodmanTestEngine {
  if (started === undefined) throw new Error("podman was not started");
  return started;
}

describe("podman", () => {
  beforeAll(async () => {
    started = await startPodmanEngine();
  });
  afterAll(() => started?.stop());

  describeCore(engine);
  describeReuse(engine);
  describeRoundTrips(engine);

  it("needs no service: the program is enough, and its own service ends with the environment", async () => {
    const before = serviceFolders();
    const { host: _, ...options } = optionsFor(engine(), { task: "own service", engine: "podman" });
    const env = { ...engine().env, XDG_RUNTIME_DIR: "/nowhere", CONTAINER_HOST: "" };
    const environment = await createDockerEnvironment({ ...options, env });
    const [folder = ""] = serviceFolders().filter((name) => !before.includes(name));
    expect((await run(environment, "echo hi")).output).toBe("hi\n");
    expect((await environment.describe()).facts.engine).toMatch(/own service/);
    await environment.close();
    expect(folder).not.toBe("");
    expect(serviceFolders()).not.toContain(folder);
    expect(processesNaming(folder)).toEqual([]);
  });
});

function serviceFolders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("hermes-podman-"));
}
