// @needs root podman conmon runc catatonit busybox
import { afterAll, beforeAll, describe } from "vitest";
import { type PodmanTestEngine, startPodmanEngine } from "../../support/podman-engine.js";
import { describeManage } from "./docker-support.js";

let started: PodmanTestEngine | undefined;

describe("docker_manage with podman", () => {
  beforeAll(async () => {
    started = await startPodmanEngine();
  });
  afterAll(() => started?.stop());

  describeManage("podman", () => {
    if (started === undefined) throw new Error("podman was not started");
    return { test: started, env: started.env };
  });
});
