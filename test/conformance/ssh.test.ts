// @needs sshd ssh
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createSshEnvironment } from "../../src/env/ssh/ssh.js";
import { runningWith } from "../sandbox/support.js";
import { startSshServer } from "../support/ssh-server.js";
import { describeConformance } from "./environment.js";

const RUN = "CONFORMANCE_RUN";

describeConformance("ssh", {
  traits: { startMs: 2_000, largeOutputBytes: 100_000_000, canCut: true },
  async start() {
    const server = await startSshServer({ maxSessions: 10 });
    const controlDir = join(server.folder, "control");
    const run = randomUUID();
    mkdirSync(join(server.home, "place"));
    return {
      open: ({ passthrough = [] } = {}) =>
        createSshEnvironment({
          host: server.host,
          port: server.port,
          user: server.user,
          keyFile: server.keyFile,
          knownHostsFile: server.knownHostsFile,
          configFile: server.configFile,
          controlDir,
          passthrough: {
            [RUN]: run,
            ...Object.fromEntries(passthrough.map((name) => [name, process.env[name] ?? ""])),
          },
        }),
      async leftovers() {
        const sockets = existsSync(controlDir) ? readdirSync(controlDir) : [];
        const processes = [...runningWith(RUN, run), ...server.connections()];
        return [...sockets, ...processes.map((pid) => `process ${pid}`)].sort();
      },
      running: async (variable, value) => runningWith(variable, value),
      async cut() {
        server.cut();
      },
      stop: () => server.stop(),
    };
  },
});
