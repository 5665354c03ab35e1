// @needs bwrap
import { describeConformance } from "./environment.js";
import { localSubject } from "./local-support.js";

describeConformance("local, in the sandbox", {
  ...localSubject(
    ({ workspace }) => ({
      sandbox: { mode: "required", workspace, hidden: [], visible: [workspace, process.cwd()] },
    }),
    { lacks: { background: "a sandbox ends with its command, and with it everything in it" } },
  ),
});
