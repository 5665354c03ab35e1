// @needs root podman conmon runc catatonit busybox
import { startPodmanEngine } from "../support/podman-engine.js";
import { containerSubject } from "./container-support.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "podman, in an image without bash",
  containerSubject({
    engine: "podman",
    image: "shImage",
    start: startPodmanEngine,
  }),
  { everyNth: 4 },
);
