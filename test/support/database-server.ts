import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, connect as dial } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A database server of its own: free loopback port, own data folder, stopped by its process id. */
export interface DatabaseServer {
  readonly port: number;
  readonly folder: string;
  stop(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Servers that refuse to run as root run as the user their package has made. */
function userNamed(name: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = (line ?? "").split(":");
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** What a server that did not come up has left is taken away again. */
async function inFolder(
  user: User | undefined,
  begin: (folder: string) => Promise<DatabaseServer>,
): Promise<DatabaseServer> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-db-"));
  try {
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    return await begin(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function runOrThrow(command: readonly string[], options: { cwd: string; user: User | undefined }): void {
  const [program = "", ...args] = command;
  const done = spawnSync(program, args, { cwd: options.cwd, ...options.user, encoding: "utf8" });
  if (done.status !== 0)
    throw new Error(`${program}: ${done.error?.message ?? ""}${done.stdout}${done.stderr}`);
}

async function start(options: {
  readonly command: readonly string[];
  readonly folder: string;
  readonly port: number;
  readonly user: User | undefined;
  readonly signal: NodeJS.Signals;
  /** Answered once the server takes queries; else an open port is enough. */
  readonly probe?: readonly string[] | undefined;
}): Promise<DatabaseServer> {
  const [program = "", ...args] = options.command;
  const child: ChildProcess = spawn(program, args, {
    cwd: options.folder,
    ...options.user,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill(options.signal);
      await gone;
    }
    rmSync(options.folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (let tries = 0; tries < 300; tries += 1) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
    if ((await answers(options.port)) && succeeds(options.probe))
      return { port: options.port, folder: options.folder, stop };
    await delay(50);
  }
  await stop();
  throw new Error(`${program} does not answer: ${said}`);
}

function succeeds([program, ...args]: readonly string[] = []): boolean {
  return program === undefined || spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

async function answers(port: number): Promise<boolean> {
  const socket = dial({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export const POSTGRES = "/usr/lib/postgresql/15/bin/postgres";

/** The superuser is postgres with the password `geheim`; everybody has to say one. */
export async function startPostgres(): Promise<DatabaseServer> {
  const user = userNamed("postgres");
  return inFolder(user, async (folder) => {
    const data = join(folder, "data");
    const bin = POSTGRES.replace(/postgres$/, "");
    runOrThrow(
      [
        "sh",
        "-c",
        `printf geheim > pw && ${bin}initdb -D data -U postgres -A scram-sha-256 --pwfile=pw --no-sync -E UTF8 --locale=C`,
      ],
      { cwd: folder, user },
    );
    const port = await freePort();
    return start({
      command: [POSTGRES, "-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-c", "fsync=off"],
      folder,
      port,
      user,
      signal: "SIGINT",
      // The port is open before the database takes queries.
      probe: [`${bin}pg_isready`, "-h", "127.0.0.1", "-p", String(port)],
    });
  });
}

/** root has no password from this machine; tests make the users they need. */
export async function startMariadb(): Promise<DatabaseServer> {
  const user = userNamed("mysql");
  return inFolder(user, async (folder) => {
    const data = join(folder, "data");
    runOrThrow(
      [
        "mariadb-install-db",
        "--no-defaults",
        `--datadir=${data}`,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
      ],
      { cwd: folder, user },
    );
    const port = await freePort();
    return start({
      command: [
        "/usr/sbin/mariadbd",
        "--no-defaults",
        `--datadir=${data}`,
        `--port=${port}`,
        "--bind-address=127.0.0.1",
        `--socket=${join(folder, "m.sock")}`,
        `--pid-file=${join(folder, "m.pid")}`,
        "--innodb-flush-log-at-trx-commit=0",
      ],
      folder,
      port,
      user,
      signal: "SIGTERM",
    });
  });
}

export async function startRedis(password: string): Promise<DatabaseServer> {
  return inFolder(undefined, async (folder) => {
    const port = await freePort();
    return start({
      command: [
        "redis-server",
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--requirepass",
        password,
        "--dir",
        folder,
      ],
      folder,
      port,
      user: undefined,
      signal: "SIGTERM",
    });
  });
}
