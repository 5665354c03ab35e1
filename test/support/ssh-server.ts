import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startFreezableProxy } from "./freezable-proxy.js";
import { inNamespace, type NetworkLink } from "./network-link.js";

export interface SshServerOptions {
  readonly maxSessions?: number;
  /** What plays the account's login shell: it gets every command line as `SHELL -c LINE`. */
  readonly loginShell?: string;
  /** Whether the server offers it; true by default. */
  readonly sftp?: boolean;
  /** Further lines of sshd_config. */
  readonly config?: readonly string[];
  /** A network namespace to serve in, at this address; there is no proxy in front then. */
  readonly network?: Pick<NetworkLink, "namespace" | "host"> | undefined;
}

export interface SshServer {
  readonly host: string;
  /** Of the proxy in front of sshd, which `freeze` and `thaw` work on. */
  readonly port: number;
  readonly user: string;
  readonly keyFile: string;
  /** Holds the server's key. */
  readonly knownHostsFile: string;
  /** For `ssh -F`: keeps the person's own settings, keys and agent out. */
  readonly configFile: string;
  /** The account's HOME, empty at first. */
  readonly home: string;
  /** Private folder that goes with the server. */
  readonly folder: string;
  freeze(): void;
  thaw(): void;
  /** Kills the processes that serve connections; what they had started goes on. */
  cut(): void;
  connections(): readonly number[];
  /** Comes back on the same port with a host key nobody has seen. */
  changeHostKey(): Promise<void>;
  /** Ends sshd for good; connections are accepted and closed at once from then on. */
  down(): Promise<void>;
  log(): string;
  stop(): Promise<void>;
}

/** Why no server can be started here, if so; a reason for skipping tests. */
export function sshServerMissing(): string | undefined {
  for (const program of ["sshd", "ssh", "ssh-keygen", "sftp"]) {
    if (findProgram(program) === undefined) return `${program} is not installed (openssh-server)`;
  }
  return undefined;
}

/**
 * Why the server cannot give out terminals here, if so: it wants to give them to the group `tty`, which only root
 * may do where the system does not do it by itself.
 */
export function sshTerminalMissing(): string | undefined {
  if (process.getuid?.() === 0) return undefined;
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const own = mounts.some((line) => / devpts /.test(line) && /\bgid=/.test(line));
  return own ? undefined : "terminals are not given to the group tty here (devpts without gid=)";
}

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A real sshd on a free loopback port, with keys, known hosts and a home folder of its own. */
export async function startSshServer(options: SshServerOptions = {}): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-sshd-"));
  const file = (name: string) => join(folder, name);
  const home = file("home");
  mkdirSync(home, { mode: 0o700 });
  makeKey(file("host-key"));
  makeKey(file("user-key"));
  copyFileSync(file("user-key.pub"), file("authorized_keys"));
  // A server that runs as root checks for this folder, and only the init script makes it.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });

  const daemon = await startDaemon({ folder, home, options }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const host = options.network?.host ?? "127.0.0.1";
  const proxy =
    options.network === undefined ? await startFreezableProxy(daemon.port) : withoutProxy(daemon.port);
  const { username } = userInfo();
  writeKnownHosts({ file: file("known_hosts"), host, port: proxy.port, keyFile: file("host-key.pub") });
  writeFileSync(
    file("client_config"),
    "GlobalKnownHostsFile /dev/null\nIdentityAgent none\nIdentitiesOnly yes\nIdentityFile none\n",
  );

  let listener = daemon.pid;
  return {
    host,
    port: proxy.port,
    user: username,
    keyFile: file("user-key"),
    knownHostsFile: file("known_hosts"),
    configFile: file("client_config"),
    home,
    folder,
    freeze: proxy.freeze,
    thaw: proxy.thaw,
    cut() {
      for (const pid of sshdBelow(listener)) kill(pid);
    },
    connections: () => sshdBelow(listener),
    async changeHostKey() {
      await endDaemon(listener);
      for (const name of ["host-key", "host-key.pub"]) rmSync(file(name));
      makeKey(file("host-key"));
      listener = await run({ folder, port: daemon.port, options });
    },
    down: () => endDaemon(listener),
    log: () => (existsSync(file("sshd.log")) ? readFileSync(file("sshd.log"), "utf8") : ""),
    async stop() {
      await endDaemon(listener);
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function makeKey(file: string): void {
  const program = findProgram("ssh-keygen") ?? "ssh-keygen";
  execFileSync(program, ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file], { stdio: "ignore" });
}

/** A link that is cut by itself needs nothing in front. */
function withoutProxy(port: number): Awaited<ReturnType<typeof startFreezableProxy>> {
  return { port, freeze() {}, cut() {}, thaw() {}, stop: async () => {} };
}

function writeKnownHosts(entry: { file: string; host: string; port: number; keyFile: string }): void {
  const [type = "", key = ""] = readFileSync(entry.keyFile, "utf8").split(" ");
  writeFileSync(entry.file, `[${entry.host}]:${entry.port} ${type} ${key}\n`, { mode: 0o600 });
}

async function startDaemon(setup: {
  readonly folder: string;
  readonly home: string;
  readonly options: SshServerOptions;
}): Promise<{ readonly port: number; readonly pid: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    writeFileSync(join(setup.folder, "sshd_config"), daemonConfig({ ...setup, port }));
    try {
      return { port, pid: await run({ ...setup, port }) };
    } catch (error) {
      // Somebody else may have taken the port in between.
      if (attempt === 3) throw error;
    }
  }
}

function daemonConfig(setup: {
  readonly folder: string;
  readonly home: string;
  readonly options: SshServerOptions;
  readonly port: number;
}): string {
  const { folder, options } = setup;
  return [
    `Port ${setup.port}`,
    `ListenAddress ${options.network?.host ?? "127.0.0.1"}`,
    `HostKey "${join(folder, "host-key")}"`,
    `AuthorizedKeysFile "${join(folder, "authorized_keys")}"`,
    `PidFile "${join(folder, "sshd.pid")}"`,
    "UsePAM no",
    "StrictModes no",
    "PermitRootLogin yes",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "UseDNS no",
    "MaxStartups 100",
    "LogLevel VERBOSE",
    ...(options.sftp === false ? [] : ["Subsystem sftp internal-sftp"]),
    // Start-up files of the real account must neither slow the tests down nor take part in them.
    `SetEnv HOME="${setup.home}"`,
    ...(options.maxSessions === undefined ? [] : [`MaxSessions ${options.maxSessions}`]),
    ...(options.config ?? []),
    ...(options.loginShell === undefined
      ? []
      : [`ForceCommand exec ${options.loginShell} -c "$SSH_ORIGINAL_COMMAND"`]),
    "",
  ].join("\n");
}

async function run(server: {
  readonly folder: string;
  readonly port: number;
  readonly options: SshServerOptions;
}): Promise<number> {
  const { folder, port } = server;
  const { network } = server.options;
  const log = join(folder, "sshd.log");
  const sshd = [findProgram("sshd") ?? "/usr/sbin/sshd", "-D", "-f", join(folder, "sshd_config"), "-E", log];
  // `ip netns exec` becomes the program, so that its number is that of the server.
  const [program = "", ...args] = network === undefined ? sshd : inNamespace(network.namespace, sshd);
  const child = spawn(program, args, { stdio: "ignore" });
  const { pid } = child;
  let ended = false;
  child.once("exit", () => {
    ended = true;
  });
  child.once("error", () => {
    ended = true;
  });
  for (let left = 200; left > 0 && !ended && pid !== undefined; left -= 1) {
    if (await answers(port, network?.host)) return pid;
    await delay(25);
  }
  if (pid !== undefined && !ended) kill(pid);
  throw new Error(`sshd did not start: ${existsSync(log) ? readFileSync(log, "utf8") : "no log"}`);
}

async function endDaemon(listener: number): Promise<void> {
  const all = [...sshdBelow(listener), listener];
  for (const pid of all) kill(pid);
  for (let left = 200; left > 0 && all.some(isRunning); left -= 1) await delay(10);
}

/** The processes of one server that serve connections; not the commands these have started. */
function sshdBelow(parent: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const { ppid, program } = processStat(Number(name));
      return ppid === parent && program.startsWith("sshd") ? [Number(name)] : [];
    });
  return children.flatMap((pid) => [...sshdBelow(pid), pid]);
}

function processStat(pid: number): { ppid: number; program: string; state: string } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, program = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
    const [state = "", ppid = ""] = rest.split(" ");
    return { ppid: Number(ppid), program, state };
  } catch {
    return { ppid: 0, program: "", state: "" };
  }
}

function isRunning(pid: number): boolean {
  const { state } = processStat(pid);
  return state !== "" && state !== "Z";
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address === null || typeof address === "string"
          ? reject(new Error("no port"))
          : resolve(address.port),
      );
    });
  });
}

function answers(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", () => done(true));
    socket.once("error", () => done(false));
    socket.setTimeout(1_000, () => done(false));
  });
}
