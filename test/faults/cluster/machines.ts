import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../support/nats-server.js";
import { TAG } from "../support.js";
import { History, type Row } from "./history.js";
import type { Network } from "./network.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const dist = join(root, "dist");
const child = (name: string) => fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));
const PATH = [process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter);

export const NATS = ["n1", "n2", "n3"] as const;
export const FRONT = "front";
/** Where whoever administers the NATS servers sits. */
export const OPERATOR = "operator";
const CALLS = "FAULTS_CALLS";
/** What a NATS server says again and again that cannot read what it wrote. */
const STORE_DAMAGED = /Error applying entries to .* stream store/;

export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  /** The last of what it said on standard error. */
  complaints(): string;
}

/** Three NATS servers that hold three copies, a front node and workers: real programs, each with a folder of its own. */
export class Machines {
  readonly network: Network;
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-cluster-")));
  /** Everything these machines run carries it. */
  readonly tag = randomUUID();
  readonly history = new History();
  readonly witness = join(this.folder, "witness.txt");
  readonly running = new Map<string, Running>();
  readonly #ports = new Map<string, { readonly client: number; readonly route: number }>();
  #callers: Running | undefined;
  #callersStopped: (() => void) | undefined;
  #generation = 0;
  #port = 0;

  private constructor(network: Network) {
    this.network = network;
    appendFileSync(this.witness, "");
  }

  static async on(network: Network): Promise<Machines> {
    const machines = new Machines(network);
    for (const name of NATS) machines.#ports.set(name, { client: await freePort(), route: await freePort() });
    machines.#port = await freePort();
    return machines;
  }

  /** `env`: what single workers are started with. */
  async startAll(
    workers: readonly string[],
    env: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  ): Promise<void> {
    await Promise.all(NATS.map((name) => this.startNats(name)));
    await this.startAgain(workers, env);
  }

  /** On servers that run. */
  async startAgain(
    workers: readonly string[],
    env: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  ): Promise<void> {
    await Promise.all(workers.map((name) => this.startWorker(name, env[name])));
    await this.startFront();
    await this.healthy();
  }

  home(machine: string): string {
    const home = join(this.folder, machine);
    if (existsSync(home)) return home;
    mkdirSync(join(home, "tools"), { recursive: true });
    copyFileSync(child("witness"), join(home, "tools", "witness.mjs"));
    const urls = NATS.map((name) => `nats://${this.#address(name)}`).join(",");
    writeFileSync(
      join(home, "config.yaml"),
      [
        "approvals: { mode: off }",
        `terminal: { env_passthrough: [${TAG}] }`,
        `cluster: { url: "${urls}", name: faults, replicas: 3, wait_seconds: 20, drain_seconds: 5 }`,
        "",
      ].join("\n"),
    );
    return home;
  }

  store(name: string): string {
    const folder = join(this.folder, `store-${name}`);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  async startNats(name: string): Promise<void> {
    const { client, route } = this.#portsOf(name);
    const routes = NATS.map((other) => `nats://${this.network.address(other)}:${this.#portsOf(other).route}`);
    const config = join(this.folder, `${name}.conf`);
    const address = this.network.address(name);
    writeFileSync(
      config,
      [
        `server_name: ${name}`,
        `listen: "${address}:${client}"`,
        // Servers and clients that are gone without a word are noticed in seconds, not in minutes.
        'ping_interval: "2s"',
        "ping_max: 2",
        `jetstream { store_dir: "${this.store(name)}", max_file_store: 4Gb, max_memory_store: 256Mb }`,
        `cluster { name: faults, listen: "${address}:${route}", routes: [${routes.map((url) => `"${url}"`).join(", ")}] }`,
        "",
      ].join("\n"),
    );
    await this.#start(name, ["nats-server", "-c", config], /Server is ready/);
  }

  async startWorker(name: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const words = [process.execPath, join(dist, "cli", "main.js"), "worker"];
    await this.#start(name, words, /runs \d+ tools/, this.#hermes(name, env));
  }

  async startFront(): Promise<void> {
    const words = [process.execPath, join(dist, "cli", "main.js"), "serve", "--port", String(this.#port)];
    await this.#start(FRONT, words, /127\.0\.0\.1/, this.#hermes(FRONT));
  }

  kill(name: string, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const found = this.running.get(name);
    if (found === undefined) return Promise.resolve();
    this.running.delete(name);
    const { process: ended } = found;
    if (ended.exitCode !== null || ended.signalCode !== null) return Promise.resolve();
    const gone = once(ended, "exit");
    ended.kill(signal);
    return gone.then(() => undefined);
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.running.get(name)?.process.kill(signal);
  }

  /** Begins the stream of calls. Sessions go on where an earlier one left them. */
  startCalls({ lanes, pauseMs }: { readonly lanes: number; readonly pauseMs: number }): void {
    const callers = this.#callers ?? this.#spawnCallers();
    callers.process.stdin?.write(`${JSON.stringify({ lanes, pauseMs })}\n`);
  }

  /** One call beside the stream; how it ended. A witness leaves its id. */
  async call(call: {
    readonly name: string;
    readonly kind: string;
    readonly args: object;
    readonly lane: string;
  }) {
    const id = `${call.lane}-x${randomUUID().slice(0, 8)}`;
    const callers = this.#callers ?? this.#spawnCallers();
    callers.process.stdin?.write(
      `${JSON.stringify({ call: { ...call, id, args: { ...call.args, ...(call.name === "witness" && { line: id }) } } })}\n`,
    );
    while (!this.history.answers.has(id) && !this.history.unanswered.has(id)) await pause(5);
    return this.history.answers.get(id)?.[0];
  }

  async stopCalls(): Promise<void> {
    const { process: callers } = this.#callers ?? {};
    if (callers === undefined) return;
    const stopped = new Promise<void>((resolve) => {
      this.#callersStopped = resolve;
    });
    callers.stdin?.write('{"stop":true}\n');
    await stopped;
    callers.stdin?.end();
    callers.kill();
    await once(callers, "exit");
    this.#callers = undefined;
  }

  #spawnCallers(): Running {
    this.#generation += 1;
    const token = readFileSync(join(this.home(FRONT), "server.token"), "utf8").trim();
    const args = { port: this.#port, token, tag: `g${this.#generation}`, witness: this.witness };
    const words = [process.execPath, child("callers"), JSON.stringify(args)];
    const callers = this.#spawn(words, { machine: FRONT, env: {} });
    createInterface({ input: callers.process.stdout ?? process.stdin }).on("line", (line) => {
      const told = JSON.parse(line) as Record<string, unknown>;
      if (told.stopped === true) this.#callersStopped?.();
      else this.history.note(told);
    });
    this.#callers = callers;
    return callers;
  }

  async ask(what: string, seconds = 30): Promise<unknown> {
    const servers = NATS.map((name) => this.#address(name));
    const args = JSON.stringify({ servers, what, stream: CALLS, seconds });
    const [program = "", ...words] = this.network.inside(OPERATOR, [
      process.execPath,
      child("operator"),
      args,
    ]);
    const { stdout } = await promisify(execFile)(program, words, {
      cwd: root,
      env: { ...process.env, PATH },
    });
    return JSON.parse(stdout);
  }

  /** What the queue, the tables and all large messages take, in all copies together. */
  async used(): Promise<string> {
    const { memory, storage } = (await this.ask("used")) as {
      readonly memory: number;
      readonly storage: number;
    };
    return `${Math.round(storage / 2 ** 20)} MB kept by NATS, ${Math.round(memory / 2 ** 20)} MB in memory`;
  }

  leader(): Promise<string> {
    return this.ask("leader") as Promise<string>;
  }

  /** NATS servers that were started anew because they did not catch up. */
  readonly restarted: string[] = [];
  /** Those whose store was damaged: emptied, and filled again by the others. */
  readonly emptied: string[] = [];

  /**
   * Waits until all servers have all. One that does not catch up is started anew, as whoever runs it would do, and one
   * that cannot read its own store gives it up for the copies of the others.
   */
  async healthy(): Promise<void> {
    try {
      return void (await this.ask("healthy", 20));
    } catch {
      for (const name of await this.#late()) {
        this.restarted.push(name);
        await this.kill(name);
        await this.startNats(name);
      }
    }
    try {
      return void (await this.ask("healthy", 40));
    } catch {
      const [damaged, second] = NATS.filter((name) =>
        STORE_DAMAGED.test(this.running.get(name)?.complaints() ?? ""),
      );
      // With two of three emptied nobody would have what was acknowledged.
      if (damaged === undefined || second !== undefined)
        throw new Error("no NATS server leads, and not one is damaged");
      this.emptied.push(damaged);
      await this.kill(damaged);
      for (const entry of readdirSync(this.store(damaged)))
        rmSync(join(this.store(damaged), entry), { recursive: true, force: true });
      await this.startNats(damaged);
      await this.ask("healthy", 60);
    }
  }

  /** None when nobody leads, who could say it. */
  async #late(): Promise<readonly string[]> {
    return this.ask("behind", 10).then(
      (names) => names as readonly string[],
      () => [],
    );
  }

  async journal(machine: string): Promise<readonly Row[]> {
    const args = JSON.stringify({ dist, home: this.home(machine) });
    const env = { PATH, HOME: this.home(machine) };
    const { stdout } = await promisify(execFile)(process.execPath, [child("journal"), args], {
      env,
      maxBuffer: 512 * 1024 * 1024,
    });
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row);
  }

  /** Ids of calls, as often as they ran. */
  witnessed(): readonly string[] {
    const lines = readFileSync(this.witness, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => line.split(" ", 1)[0] ?? "");
  }

  /** What a program has open. */
  descriptors(machine: string): readonly string[] {
    const folder = `/proc/${this.running.get(machine)?.pid}/fd`;
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(join(folder, name))];
      } catch {
        return [];
      }
    });
  }

  /** Told to stop, in order: front, workers, servers. */
  async stopAll(): Promise<void> {
    const servers: readonly string[] = NATS;
    const others = [...this.running.keys()].filter((name) => !servers.includes(name));
    await Promise.all(others.map((name) => this.kill(name, "SIGTERM")));
    await Promise.all(servers.map((name) => this.kill(name, "SIGTERM")));
  }

  /** Whatever happened before. */
  async remove(): Promise<void> {
    this.#callers?.process.kill("SIGKILL");
    await Promise.all([...this.running.keys()].map((name) => this.kill(name)));
    this.network.remove();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  #address(name: string): string {
    return `${this.network.address(name)}:${this.#portsOf(name).client}`;
  }

  #portsOf(name: string): { readonly client: number; readonly route: number } {
    return this.#ports.get(name) ?? { client: 0, route: 0 };
  }

  #hermes(machine: string, more: Readonly<Record<string, string>> = {}) {
    const home = this.home(machine);
    return { HOME: home, HERMES_HOME: home, HERMES_CLUSTER_KEY: "the secret of the fault tests", ...more };
  }

  async #start(
    name: string,
    words: readonly string[],
    ready: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const started = this.#spawn(words, { machine: name, env });
    this.running.set(name, started);
    let said = "";
    const { process: program } = started;
    await new Promise<void>((resolve, reject) => {
      const hear = (text: unknown) => {
        said = `${said}${String(text)}`.slice(-8_000);
        if (ready.test(said)) resolve();
      };
      program.stdout?.on("data", hear);
      program.stderr?.on("data", hear);
      program.once("exit", (code, signal) => reject(new Error(`${name} ended (${code ?? signal}): ${said}`)));
      setTimeout(() => reject(new Error(`${name} is not ready after a minute: ${said}`)), 60_000).unref();
    });
  }

  #spawn(
    words: readonly string[],
    { machine, env }: { readonly machine: string; readonly env: Readonly<Record<string, string>> },
  ): Running {
    // Given to the program itself: what puts it into its network must not take a library meant for it.
    const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const [program = "", ...rest] = this.network.inside(machine, ["env", ...given, ...words]);
    const started = spawn(program, rest, {
      cwd: this.folder,
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH, TERM: "dumb", FAULTS_WITNESS: this.witness, [TAG]: this.tag },
    });
    let complaints = "";
    const log = join(this.folder, `${machine}.log`);
    started.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaints = (complaints + text).slice(-8_000);
      appendFileSync(log, text);
    });
    if (started.pid === undefined) throw new Error(`${machine} could not be started`);
    return { process: started, pid: started.pid, complaints: () => complaints };
  }
}
