import { startPodmanEngine, whyNoPodman } from "../support/podman-engine.js";
import { containerSubject } from "./container-support.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "podman, in an image without bash",
  containerSubject({
    engine: "podman",
    missing: whyNoPodman(),
    image: "shImage",
    start: startPodmanEngine,
  }),
  { sampled: true },
);
