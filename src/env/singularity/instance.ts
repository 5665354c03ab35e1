import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../base/hash.js";
import { startOfProcess } from "../../store/process-owner.js";
import { ToolError } from "../../tool/errors.js";
import type { ContainerProgram } from "./program.js";
import { imageToStart } from "./program.js";
import type { SingularityOptions } from "./singularity.js";

interface Listed {
  readonly instance: string;
  readonly pid: number;
}

/** One running container of this task, which every command joins. */
export class Instance {
  #name = "";
  readonly #program: ContainerProgram;
  readonly #options: SingularityOptions;
  readonly #notes: string[] = [];
  #starting: Promise<void> | undefined;
  #filesLost = false;

  constructor(program: ContainerProgram, options: SingularityOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Another one after each start: what has ended may still be in the program's books. */
  get name(): string {
    return this.#name;
  }

  /** What had to be left out because it does not work here. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** Starts it unless it runs already. */
  async start(): Promise<void> {
    if (this.#filesLost) {
      this.#filesLost = false;
      throw new ToolError("The container has ended, and everything that was changed in it is lost.", {
        code: "unavailable",
        hint: "The next call starts a new container. terminal.container_persistent keeps files from now on.",
      });
    }
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /** True when it is there, as the program sees it. */
  async isRunning(): Promise<boolean> {
    return (await listed(this.#program)).some(({ instance }) => instance === this.name);
  }

  /** It has ended by itself. The next use starts a new one, unless files went with it: that is said first. */
  forget(): void {
    this.#starting = undefined;
    this.#filesLost = this.#options.persistent !== true;
  }

  async stop(): Promise<void> {
    const starting = this.#starting;
    this.#starting = undefined;
    if (starting === undefined) return;
    await starting.catch(() => undefined);
    await this.#program.run(["instance", "stop", "--force", this.name]);
  }

  /** Stops it; what is not meant to last is removed. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#options.persistent !== true) await rm(this.#overlay, { recursive: true, force: true });
  }

  get #overlay(): string {
    return join(this.#options.sandboxDir, "singularity", keyOf(this.#options));
  }

  async #start(): Promise<void> {
    await stopOrphans(this.#program, this.#options);
    const image = await imageToStart(this.#program, this.#options);
    const { persistent, network = true, mounts = [] } = this.#options;
    const owner = `${process.pid}-${startOfProcess(process.pid) ?? "0"}`;
    this.#name = `${prefixOf(this.#options)}-${owner}-${randomBytes(3).toString("hex")}`;
    if (persistent === true) await mkdir(this.#overlay, { recursive: true, mode: 0o700 });
    const base = [
      ...["instance", "start", "--containall", "--no-home", "--no-umask"],
      ...(persistent === true ? ["--overlay", this.#overlay] : ["--writable-tmpfs"]),
      ...mounts.flatMap((mount) => ["--mount", mountText(mount)]),
    ];
    const limits = this.#limits();
    const isolated = network ? [] : ["--net", "--network", "none"];
    const first = await this.#program.run([...base, ...isolated, ...limits, image, this.name]);
    if (first.code === 0) return;
    // Limits need control groups that this account may write.
    const second =
      limits.length === 0 ? first : await this.#program.run([...base, ...isolated, image, this.name]);
    if (second.code !== 0) throw notStarted(image, second.errors);
    this.#notes.push(`cpu and memory are not limited (${lastLine(first.errors)})`);
  }

  #limits(): readonly string[] {
    const { cpu, memoryMb } = this.#options;
    return [
      ...(cpu === undefined ? [] : ["--cpus", String(cpu)]),
      ...(memoryMb === undefined ? [] : ["--memory", `${memoryMb}M`]),
    ];
  }
}

/** In the form of a CSV line, in which a path may hold colons and commas. */
function mountText(mount: NonNullable<SingularityOptions["mounts"]>[number]): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const parts = ["type=bind", quote(`source=${mount.source}`), quote(`destination=${mount.target}`)];
  return [...parts, ...(mount.readonly === true ? ["ro"] : [])].join(",");
}

function keyOf({ home, task }: SingularityOptions): string {
  return sha256(`${home}\0${task}`).slice(0, 16);
}

function prefixOf(options: SingularityOptions): string {
  return `hermes-${keyOf(options)}`;
}

/** What a runtime that died has left of this task; a living one keeps its own. */
async function stopOrphans(program: ContainerProgram, options: SingularityOptions): Promise<void> {
  for (const { instance } of await listed(program)) {
    const [, key, pid, start] = /^hermes-([0-9a-f]{16})-(\d+)-([0-9a-f.]+)-[0-9a-f]{6}$/.exec(instance) ?? [];
    if (key !== keyOf(options) || pid === undefined) continue;
    if (startOfProcess(Number(pid)) === start) continue;
    await program.run(["instance", "stop", "--force", instance]);
  }
}

async function listed(program: ContainerProgram): Promise<readonly Listed[]> {
  const { code, output } = await program.run(["instance", "list", "--json"]);
  if (code !== 0) return [];
  try {
    const { instances } = JSON.parse(output) as { instances?: Listed[] };
    return instances ?? [];
  } catch {
    return [];
  }
}

function lastLine(text: string): string {
  return (
    text
      .split("\n")
      .at(-1)
      ?.replace(/^FATAL:\s+/, "") || "no reason was given"
  );
}

function notStarted(image: string, errors: string): ToolError {
  return new ToolError(`No container could be started from ${image}: ${lastLine(errors)}.`, {
    code: "unavailable",
    hint: "Look at `hermes env test singularity`; an image must hold sh, /proc, /sys, /dev and /tmp.",
  });
}
