// @needs bwrap
import { createDaytonaEnvironment } from "../../src/env/daytona/daytona.js";
import { runningWith } from "../sandbox/support.js";
import { startDaytonaServer } from "../support/daytona-server/server.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "daytona, against a local server of its protocol",
  {
    traits: { startMs: 2_500, largeOutputBytes: 20_000_000, canCut: true },
    async start() {
      const server = await startDaytonaServer();
      let opened = 0;
      return {
        open({ passthrough = [] } = {}) {
          opened += 1;
          return createDaytonaEnvironment({
            task: `conformance-${opened}`,
            apiKey: server.apiKey,
            apiUrl: server.url,
            persistent: false,
            passthrough: Object.fromEntries(passthrough.map((name) => [name, process.env[name] ?? ""])),
          });
        },
        leftovers: async () => server.sandboxes().map(({ name }) => name),
        running: async (variable, value) => runningWith(variable, value),
        cut: () => server.cut(),
        stop: () => server.stop(),
      };
    },
  },
  { everyNth: 4 },
);
