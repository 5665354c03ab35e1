// @needs root dockerd containerd runc docker-init busybox
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DockerTestEngine, installed, startDockerEngine } from "../support/docker-engine.js";
import { describeCore } from "./core.js";
import { describeReuse } from "./reuse.js";
import { describeRoundTrips } from "./round-trips.js";
import { containerOf, open, optionsFor, run, tempFolder } from "./support.js";

let started: DockerTestEngine | undefined;

function engine(): DockerTestEngine {
  if (started === undefined) throw new Error("dockerd was not started");
  return started;
}

describe("docker", () => {
  beforeAll(async () => {
    started = await startDockerEngine();
  });
  afterAll(() => started?.stop());

  describeCore(engine);
  describeReuse(engine);
  describeRoundTrips(engine);

  it("finds the container of a runtime that was killed, and what was in it", async () => {
    const folder = tempFolder();
    const options = optionsFor(engine(), { task: "kill -9" });
    await bundle(folder);
    const script = `
      import { createDockerEnvironment } from "./docker.mjs";
      const environment = await createDockerEnvironment(${JSON.stringify(options)});
      const signal = new AbortController().signal;
      await environment.exec({ command: "echo kept >/root/file", cwd: "/", timeoutMs: 9_000, signal });
      console.log((await environment.describe()).facts.container);
      process.kill(process.pid, "SIGKILL");`;
    writeFileSync(join(folder, "main.mjs"), script);
    const child = promisify(execFile)(process.execPath, [join(folder, "main.mjs")], { timeout: 20_000 });
    const { stdout } = await child.catch((error: { stdout: string }) => error);
    const environment = await open(engine(), { task: "kill -9" });
    expect(await containerOf(environment)).toBe(stdout.trim());
    expect((await run(environment, "cat /root/file")).output).toBe("kept\n");
  });

  it("runs in gVisor when asked to", async ({ skip }) => {
    if (!installed("runsc")) skip("[ci-cannot] runsc is not installed");
    const environment = await open(engine(), { runtime: "runsc", task: "gvisor" });
    expect((await run(environment, "dmesg 2>/dev/null; cat /proc/version")).output).toMatch(/gVisor|4\.4\.0/);
  });

  it("reports within 5 s that the engine stopped mid-command, and works when it is back", async () => {
    const environment = await open(engine(), { task: "engine stops" });
    await run(environment, "echo kept >/root/file");
    const running = run(environment, "trap '' TERM; echo begun; sleep 60").catch((error: unknown) => error);
    await delay(500);
    const began = Date.now();
    const stopping = engine().stopDaemon();
    expect(await running).toMatchObject({ code: "unavailable" });
    expect(Date.now() - began).toBeLessThan(5_000);
    await stopping;
    await expect(run(environment, "true")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/engine does not answer/),
    });
    await engine().startDaemon();
    expect((await run(environment, "cat /root/file")).output).toBe("kept\n");
  });
});

async function bundle(folder: string): Promise<void> {
  const entry = fileURLToPath(new URL("../../src/env/docker/docker.ts", import.meta.url));
  const built = await rolldown({ input: entry, platform: "node" });
  await built.write({ file: join(folder, "docker.mjs"), format: "esm", codeSplitting: false });
  await built.close();
}
