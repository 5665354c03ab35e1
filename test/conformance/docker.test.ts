// @needs root dockerd containerd runc docker-init busybox
import { startDockerEngine } from "../support/docker-engine.js";
import { containerSubject } from "./container-support.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "docker",
  containerSubject({
    engine: "docker",
    image: "image",
    start: startDockerEngine,
  }),
);
