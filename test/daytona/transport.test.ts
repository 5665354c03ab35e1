// @needs bwrap
import { afterAll, beforeAll, describe, expect } from "vitest";
import { SandboxKeeper } from "../../src/env/cloud/sandbox-keeper.js";
import { createDaytonaTransport } from "../../src/env/daytona/daytona.js";
import { type DaytonaSandbox, DaytonaSandboxes } from "../../src/env/daytona/sandboxes.js";
import type { Transport } from "../../src/env/remote/transport.js";
import { type DaytonaServer, startDaytonaServer } from "../support/daytona-server/server.js";
import { keepsTransportContract } from "../support/sandbox-host/transport-contract.js";

describe("programs in a Daytona sandbox", () => {
  let server: DaytonaServer;
  let keeper: SandboxKeeper<DaytonaSandbox>;
  let transport: Transport;

  beforeAll(async () => {
    server = await startDaytonaServer();
    keeper = new SandboxKeeper(
      new DaytonaSandboxes({
        task: "contract",
        apiKey: server.apiKey,
        apiUrl: server.url,
        persistent: false,
      }),
    );
    transport = createDaytonaTransport(keeper);
  });
  afterAll(async () => {
    try {
      await keeper.close();
      expect(server.sandboxes()).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  keepsTransportContract(() => transport);
});
