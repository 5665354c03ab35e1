import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, connect as dial } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A NATS server with JetStream on a free loopback port and a folder of its own, stopped by its process id. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly process: ChildProcess;
  /** Ends it and takes its folder away. */
  stop(): Promise<void>;
}

/** Daemons lie where the path of an ordinary shell does not lead. */
const PATH = [process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter);

/** `port` and `folder`: those of one that was killed before, to start it again. */
export async function startNats(
  options: { readonly args?: readonly string[]; readonly port?: number; readonly folder?: string } = {},
): Promise<NatsServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "hermes-nats-"));
  const port = options.port ?? (await freePort());
  const words = ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port), ...(options.args ?? [])];
  const server = spawn("nats-server", words, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, PATH },
  });
  let said = "";
  server.stderr.on("data", (chunk) => {
    said = `${said}${String(chunk)}`.slice(-4_000);
  });
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill("SIGKILL");
      await once(server, "exit");
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (server.exitCode !== null || tries > 200) {
      await stop();
      throw new Error(`nats-server did not start: ${said}`);
    }
    await delay(25);
  }
  return { url: `nats://127.0.0.1:${port}`, port, folder, process: server, stop };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
