import { describeConformance } from "./environment.js";
import { localSubject } from "./local-support.js";

describeConformance(
  "local",
  localSubject(() => ({})),
);
