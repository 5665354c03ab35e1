// @needs root dockerd containerd runc docker-init busybox docker
import { afterAll, beforeAll, describe } from "vitest";
import { type DockerTestEngine, startDockerEngine } from "../../support/docker-engine.js";
import { describeManage } from "./docker-support.js";

let started: DockerTestEngine | undefined;

describe("docker_manage", () => {
  beforeAll(async () => {
    started = await startDockerEngine();
  });
  afterAll(() => started?.stop());

  describeManage("docker", () => {
    if (started === undefined) throw new Error("dockerd was not started");
    return {
      test: started,
      // Without a bridge there is no other network.
      env: { ...process.env, DOCKER_HOST: `unix://${started.socket}`, DOCKER_BUILDKIT: "0" },
    };
  });
});
