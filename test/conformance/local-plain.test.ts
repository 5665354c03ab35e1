import { describeConformance } from "./environment.js";
import { localSubject } from "./local-support.js";

describeConformance(
  "local, started from this process",
  localSubject(() => ({ launcher: false })),
);
