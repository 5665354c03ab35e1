import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TransportEnd, TransportStart } from "../../src/env/remote/transport.js";
import type { SshOptions } from "../../src/env/ssh/options.js";
import { SshTransport } from "../../src/env/ssh/transport.js";
import { onTestEnd } from "../support/runtime.js";
import { type SshServer, type SshServerOptions, startSshServer } from "../support/ssh-server.js";

/** A server that is gone when the test ends. */
export async function serverForTest(options: SshServerOptions = {}): Promise<SshServer> {
  const server = await startSshServer(options);
  onTestEnd(() => server.stop());
  return server;
}

/** Settings that lead to the server and to nothing of this machine's own. */
export function optionsFor(server: SshServer, more: Partial<SshOptions> = {}): SshOptions {
  const controlDir = join(server.folder, "ctl");
  mkdirSync(controlDir, { recursive: true, mode: 0o700 });
  const { host, port, user, keyFile, knownHostsFile, configFile } = server;
  return { host, port, user, keyFile, knownHostsFile, configFile, controlDir, ...more };
}

export function transportForTest(options: SshOptions): SshTransport {
  const transport = new SshTransport(options);
  onTestEnd(() => transport.close());
  return transport;
}

export interface Ran {
  readonly end: TransportEnd;
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(
  transport: SshTransport,
  argv: readonly string[],
  more: Partial<TransportStart> = {},
): Promise<Ran> {
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  const started = await transport.start({
    argv,
    onStdout: (bytes) => void out.push(bytes),
    onStderr: (bytes) => void err.push(bytes),
    ...more,
  });
  const end = await started.ended;
  const bytes = Buffer.concat(out);
  return { end, bytes, stdout: bytes.toString("utf8"), stderr: Buffer.concat(err).toString("utf8") };
}

/** Command lines of all processes that mention the text. */
export function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.includes(text) ? [line] : [];
      } catch {
        return [];
      }
    });
}

export async function eventually(
  check: () => boolean | Promise<boolean>,
  withinMs = 5_000,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    if (await check()) return true;
    await delay(20);
  }
  return check();
}

/** Folders made for single sockets by a process; sockets are named after the process that made them. */
export function ownSocketFolders(pid: number): string[] {
  return readdirSync(tmpdir())
    .filter((entry) => entry.startsWith("hermes-ssh-"))
    .filter((entry) => {
      try {
        return readdirSync(join(tmpdir(), entry)).some((socket) => socket.includes(`-${pid.toString(36)}`));
      } catch {
        return false;
      }
    });
}
