import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gate, startGate } from "../sandbox-host/gate.js";
import { startRpc } from "./rpc.js";
import { ModalSandboxes } from "./sandboxes.js";

export interface ModalServer {
  /** For the client's MODAL_SERVER_URL. */
  readonly url: string;
  /** Everything the client reads from its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly tokenId: string;
  readonly tokenSecret: string;
  /** Drops every connection and forgets the programs that run: nobody learns how they end. */
  cut(): void;
  /** Cuts and slows down the network only. The client tries again for about 10 s. */
  readonly gate: Gate;
  readonly faults: ModalFaults;
  /** Sandboxes that run now. */
  running(): readonly {
    readonly id: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly timeoutSecs: number;
    readonly idleTimeoutSecs: number | undefined;
    readonly milliCpu: number | undefined;
    readonly memoryMb: number | undefined;
  }[];
  /** As the service does at a sandbox's time limit, or somebody on another machine. */
  terminateAll(): Promise<void>;
  images(): readonly string[];
  deleteImage(id: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface ModalFaults {
  refuseAuth: boolean;
  failBuild: boolean;
  failSnapshot: boolean;
}

/** A local server that speaks Modal's protocol for sandboxes; their commands run for real. */
export async function startModalServer(): Promise<ModalServer> {
  const folder = await mkdtemp(join(tmpdir(), "modal-server-"));
  const sandboxes = new ModalSandboxes(folder);
  const faults: ModalFaults = { refuseAuth: false, failBuild: false, failSnapshot: false };
  const token = { id: "ak-test", secret: "as-test" };
  const rpc = await startRpc({ sandboxes, faults, token, routerUrl: () => `https://127.0.0.1:${gate.port}` });
  const gate = await startGate(rpc.port);
  const url = `http://127.0.0.1:${gate.port}`;
  return {
    url,
    env: { MODAL_SERVER_URL: url, MODAL_TOKEN_ID: token.id, MODAL_TOKEN_SECRET: token.secret },
    tokenId: token.id,
    tokenSecret: token.secret,
    gate,
    faults,
    cut() {
      for (const { execs } of sandboxes.all.values()) execs.clear();
      gate.cut();
    },
    running: () =>
      [...sandboxes.all.values()]
        .filter(({ result }) => result === undefined)
        .map(({ id, tags, definition }) => ({
          id,
          tags: Object.fromEntries(tags.map(({ tagName, tagValue }) => [tagName, tagValue])),
          timeoutSecs: definition.timeoutSecs,
          idleTimeoutSecs: definition.idleTimeoutSecs,
          milliCpu: definition.resources?.milliCpu,
          memoryMb: definition.resources?.memoryMb,
        })),
    terminateAll: () => sandboxes.stop(),
    images: () => [...sandboxes.images.keys()],
    deleteImage: (id) => sandboxes.deleteImage(id),
    async stop() {
      await gate.stop();
      await rpc.stop();
      await sandboxes.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
