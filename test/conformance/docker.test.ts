import { startDockerEngine, whyNoDocker } from "../support/docker-engine.js";
import { containerSubject } from "./container-support.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "docker",
  containerSubject({
    engine: "docker",
    missing: whyNoDocker(),
    image: "image",
    start: startDockerEngine,
  }),
);
