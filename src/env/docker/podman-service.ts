import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import { type EngineAddress, EngineApi } from "./engine-api.js";

const START_MS = 15_000;
/** The service ends when standard input closes, which it does however this process ends. */
const WATCHED = '"$@" & service=$!; read -r _; kill "$service"; wait "$service"';
/** Podman keeps a monitor for each finished command, five minutes by default, for those who ask late. */
const SETTINGS = "[engine]\nexit_command_delay = 30\n";

/** Podman has no daemon. Where nobody serves its interface, this does for as long as an environment lives. */
export class PodmanService {
  readonly address: EngineAddress;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;
  #errors = "";

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
    this.address = { socketPath: join(folder, "podman.sock") };
  }

  static async start(env: NodeJS.ProcessEnv): Promise<PodmanService> {
    // Made by mkdtemp, so nobody else can enter: who reaches the socket may do all that this user may.
    const service = new PodmanService(await mkdtemp(join(tmpdir(), "hermes-podman-")), env);
    try {
      await service.ensure();
    } catch (error) {
      await service.close();
      throw error;
    }
    return service;
  }

  /** Starts it, again if it has ended. */
  async ensure(): Promise<void> {
    if (this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null)
      return;
    const settings = join(this.#folder, "override.conf");
    await writeFile(settings, SETTINGS, { mode: 0o600 });
    const socket = join(this.#folder, "podman.sock");
    await rm(socket, { force: true });
    const child = spawn(
      "sh",
      ["-c", WATCHED, "sh", "podman", "system", "service", "--time=0", `unix://${socket}`],
      {
        // Its monitors leave a file where they stand when a container runs out of memory.
        cwd: this.#folder,
        stdio: ["pipe", "ignore", "pipe"],
        // A group of its own: Ctrl-C in a terminal is for the command, not for this.
        detached: true,
        env: { CONTAINERS_CONF_OVERRIDE: settings, ...withoutRemote(this.#env) },
      },
    );
    this.#process = child;
    child.on("error", () => {});
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString("utf8")).slice(-1_000);
    });
    child.unref();
    await this.#answering();
  }

  async close(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #answering(): Promise<void> {
    const api = new EngineApi(this.address);
    const deadline = performance.now() + START_MS;
    try {
      for (;;) {
        try {
          await api.ping(1_000);
          return;
        } catch (error) {
          if (performance.now() > deadline) throw this.#doesNotStart(error);
        }
        await delay(50);
      }
    } finally {
      api.close();
    }
  }

  #doesNotStart(error: unknown): ToolError {
    return new ToolError(
      `\`podman system service\` does not start: ${this.#errors.trim() || String(error)}`,
      {
        code: "unavailable",
        hint: "Try `podman info`; it shows what is wrong with the installation.",
      },
    );
  }
}

/** With these, even empty, the program is a client of another service and cannot be one. */
function withoutRemote({
  CONTAINER_HOST: _,
  CONTAINER_CONNECTION: __,
  ...env
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env;
}
