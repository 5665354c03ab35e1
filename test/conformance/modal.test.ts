// @needs bwrap
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModalEnvironment } from "../../src/env/modal/modal.js";
import { runningWith } from "../sandbox/support.js";
import { startModalServer } from "../support/modal-server/server.js";
import { describeConformance } from "./environment.js";

describeConformance(
  "modal, against a local server of its protocol",
  {
    traits: { startMs: 2_500, largeOutputBytes: 30_000_000, canCut: true },
    async start() {
      const server = await startModalServer();
      const stateDir = mkdtempSync(join(tmpdir(), "hermes-conformance-"));
      let opened = 0;
      return {
        open({ passthrough = [] } = {}) {
          opened += 1;
          return createModalEnvironment({
            task: `conformance-${opened}`,
            stateDir,
            serverUrl: server.url,
            tokenId: server.tokenId,
            tokenSecret: server.tokenSecret,
            persistent: false,
            passthrough: Object.fromEntries(passthrough.map((name) => [name, process.env[name] ?? ""])),
          });
        },
        leftovers: async () => [...server.running().map(({ id }) => id), ...readdirSync(stateDir)].sort(),
        running: async (variable, value) => runningWith(variable, value),
        async cut() {
          server.cut();
        },
        async stop() {
          await server.stop();
          rmSync(stateDir, { recursive: true, force: true });
        },
      };
    },
  },
  { everyNth: 4 },
);
