// @needs root apptainer busybox
import { runningWith } from "../sandbox/support.js";
import { startApptainer } from "../support/apptainer.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "singularity",
  {
    // What lies in /tmp is in memory; a container that ended must find its folder again.
    traits: { place: "/root", startMs: 2_500, largeOutputBytes: 60_000_000, canCut: true },
    async start() {
      const rig = startApptainer();
      return {
        open: ({ passthrough = [] } = {}) =>
          rig.open({
            persistent: true,
            passthrough: Object.fromEntries(passthrough.map((name) => [name, process.env[name] ?? ""])),
          }),
        leftovers: async () => [...rig.instances()].sort(),
        running: async (variable, value) => runningWith(variable, value),
        async cut(environment) {
          const { facts } = await environment.describe();
          rig.run("instance", "stop", "--force", "--signal", "KILL", facts.instance ?? "?");
        },
        stop: async () => rig.stop(),
      };
    },
  },
  { everyNth: 4 },
);
