import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../src/env/docker/engine-api.js";
import { buildImageArchives, importImage } from "../docker/images.js";
import { leaveNothing, until } from "../docker/leftovers.js";

export interface TestEngine {
  readonly socket: string;
  /** An image with bash and the usual programs. */
  readonly image: string;
  /** An image with nothing but busybox. */
  readonly shImage: string;
  readonly api: EngineApi;
  /** An image without any program. */
  importEmptyImage(name: string): Promise<void>;
  /** Removes every container, ends the engine, and throws when it leaves a process or mount. */
  stop(): Promise<void>;
}

export interface DockerTestEngine extends TestEngine {
  /** Ends the daemon as a person or the system would; containers end with it. */
  stopDaemon(): Promise<void>;
  startDaemon(): Promise<void>;
}

/** Why no daemon can be started here; undefined when one can. CI installs what it takes and is root. */
export function whyNoDocker(): string | undefined {
  return whyNot(["dockerd", "containerd", "runc", "busybox"]);
}

export function whyNot(programs: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return "needs root to start a container engine";
  const missing = programs.filter((name) => !installed(name));
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
}

export function installed(program: string): boolean {
  try {
    execFileSync("sh", ["-c", 'PATH="$PATH:/usr/sbin:/sbin"; command -v -- "$1"', "sh", program], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

/**
 * A Docker daemon of its own: own folder, own socket, no bridge and no packet filter rules. Containers have
 * no network.
 */
export async function startDockerEngine(): Promise<DockerTestEngine> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-dockerd-"));
  const socket = join(folder, "docker.sock");
  const api = new EngineApi({ socketPath: socket });
  const archives = buildImageArchives(folder);
  let daemon = await startDaemonIn(folder, api);
  const engine: DockerTestEngine = {
    socket,
    image: "hermes-test-bash:latest",
    shImage: "hermes-test-sh:latest",
    api,
    importEmptyImage: (name) => importImage(api, { name, archive: archives.empty }),
    async stop() {
      await removeContainers(api);
      await daemon.end();
      api.close();
      await leaveNothing(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    stopDaemon: () => daemon.end(),
    async startDaemon() {
      daemon = await startDaemonIn(folder, api);
    },
  };
  await importImage(api, { name: engine.image, archive: archives.bash });
  await importImage(api, { name: engine.shImage, archive: archives.sh });
  return engine;
}

export async function removeContainers(api: EngineApi): Promise<void> {
  const containers = await api.json<readonly { Id: string }[]>({
    path: "/containers/json",
    query: { all: true },
  });
  for (const { Id } of containers)
    await api.send({ method: "DELETE", path: `/containers/${Id}`, query: { force: true, v: true } });
}

async function startDaemonIn(folder: string, api: EngineApi): Promise<DaemonProcess> {
  const failures: string[] = [];
  for (const driver of ["overlay2", "vfs"]) {
    const daemon = new DaemonProcess("dockerd", [
      ...["--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false", "--ip-masq=false"],
      ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")],
      ...["--pidfile", join(folder, "pid"), "--host", `unix://${join(folder, "docker.sock")}`],
      ...["--storage-driver", driver, "--config-file", runtimesFile(folder)],
    ]);
    if (await daemon.answers(api)) return daemon;
    failures.push(daemon.log.slice(-1_500));
    await daemon.end();
  }
  throw new Error(`dockerd does not start:\n${failures.join("\n")}`);
}

function runtimesFile(folder: string): string {
  const file = join(folder, "daemon.json");
  const runsc = { path: "runsc", runtimeArgs: ["--network=none", "--ignore-cgroups"] };
  writeFileSync(file, JSON.stringify(installed("runsc") ? { runtimes: { runsc } } : {}));
  return file;
}

/** A daemon that also ends when this test process does, however it ends. */
export class DaemonProcess {
  log = "";
  readonly #watchdog: ChildProcess;
  readonly #exited: Promise<void>;

  constructor(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    const line = '"$@" & daemon=$!; read -r _; kill "$daemon"; wait "$daemon"';
    this.#watchdog = spawn("sh", ["-c", line, "sh", program, ...args], {
      // Podman's monitors leave a file where they stand when a container runs out of memory.
      cwd: tmpdir(),
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...env, PATH: `${env.PATH}:/usr/sbin:/sbin` },
    });
    const keep = (chunk: Buffer) => {
      this.log = (this.log + chunk).slice(-20_000);
    };
    this.#watchdog.stdout?.on("data", keep);
    this.#watchdog.stderr?.on("data", keep);
    this.#exited = new Promise((resolve) => this.#watchdog.on("exit", () => resolve()));
  }

  async answers(api: EngineApi): Promise<boolean> {
    return until(
      () =>
        api.ping(1_000).then(
          () => true,
          () => false,
        ),
      20_000,
    );
  }

  async end(): Promise<void> {
    this.#watchdog.stdin?.on("error", () => {});
    this.#watchdog.stdin?.end();
    await this.#exited;
  }
}
