// @needs bwrap
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SandboxKeeper } from "../../src/env/cloud/sandbox-keeper.js";
import { createModalTransport } from "../../src/env/modal/modal.js";
import { type ModalSandbox, ModalSandboxes } from "../../src/env/modal/sandboxes.js";
import type { Transport } from "../../src/env/remote/transport.js";
import { type ModalServer, startModalServer } from "../support/modal-server/server.js";
import { keepsTransportContract } from "../support/sandbox-host/transport-contract.js";

describe("programs in a Modal sandbox", () => {
  let server: ModalServer;
  let stateDir: string;
  let keeper: SandboxKeeper<ModalSandbox>;
  let transport: Transport;

  beforeAll(async () => {
    server = await startModalServer();
    stateDir = await mkdtemp(join(tmpdir(), "modal-state-"));
    keeper = new SandboxKeeper(
      new ModalSandboxes({
        task: "contract",
        stateDir,
        serverUrl: server.url,
        tokenId: server.tokenId,
        tokenSecret: server.tokenSecret,
      }),
    );
    transport = createModalTransport(keeper);
  });
  afterAll(async () => {
    try {
      await keeper.close();
      expect(server.running()).toEqual([]);
    } finally {
      await server.stop();
      await rm(stateDir, { recursive: true });
    }
  });

  keepsTransportContract(() => transport);

  test("closing keeps a snapshot that only the owner can read", async () => {
    const { id } = await keeper.snapshot();
    const file = join(stateDir, "modal_snapshots.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8")).contract.imageId).toBe(id);
  });
});
