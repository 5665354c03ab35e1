import { randomBytes } from "node:crypto";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { DaytonaApi, daytonaError, isMissing } from "./api.js";
import { Leftovers } from "./leftovers.js";
import { type DaytonaOptions, DEFAULT_IMAGE, MAX_DISK_GB } from "./options.js";
import { Toolbox } from "./toolbox.js";

const START_LIMIT_MS = 600_000;
const STOP_LIMIT_MS = 120_000;
/** A sandbox that is not stopped goes on costing money. */
const RETRY_CLOSING_MS = 12_000;
/** Deletes what a crashed runtime left of an environment that was not meant to last. */
const LEFTOVER_MINUTES = 60;

/** What the service tells of a sandbox, as far as it matters here. */
export interface SandboxInfo {
  readonly id: string;
  readonly name: string;
  readonly state?: string;
  readonly errorReason?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly toolboxProxyUrl?: string;
}

interface Held {
  readonly info: SandboxInfo;
  readonly toolbox: Toolbox;
  readonly restored: boolean;
}

export interface Loss {
  readonly gone: boolean;
  readonly why: string;
}

/** The one sandbox of an environment: found by its name and started, or made. */
export class SandboxKeeper {
  readonly api: DaytonaApi;
  readonly #options: DaytonaOptions;
  readonly #name: string;
  readonly #cleanups = new Set<Promise<unknown>>();
  #held: Promise<Held> | undefined;
  /** Known before everything else about it has worked, so that nothing is left running. */
  #id: string | undefined;
  #untold: string | undefined;
  #closed = false;

  constructor(options: DaytonaOptions) {
    this.#options = options;
    this.api = new DaytonaApi(options);
    this.#name = sandboxName(options.task, this.#persistent);
  }

  get #persistent(): boolean {
    return this.#options.persistent ?? true;
  }

  get #source(): string {
    const { snapshot, image } = this.#options;
    return snapshot === undefined ? `image ${image ?? DEFAULT_IMAGE}` : `snapshot ${snapshot}`;
  }

  /** The programs' interface in the running sandbox. */
  async toolbox(): Promise<Toolbox> {
    if (this.#closed)
      throw new ToolError("The Daytona environment is closed.", {
        code: "unavailable",
        hint: "Open a new session.",
      });
    const told = this.takeUntold();
    if (told !== undefined)
      throw new ToolError(told, { code: "unavailable", hint: "Call again to go on in a new sandbox." });
    this.#held ??= this.#open().catch((error: unknown) => {
      this.#held = undefined;
      throw daytonaError("start a sandbox at Daytona", error);
    });
    return (await this.#held).toolbox;
  }

  /** What whoever asks next has to know before a sandbox without the old files is made. */
  takeUntold(): string | undefined {
    const told = this.#untold;
    this.#untold = undefined;
    return told;
  }

  /** Why a request to the sandbox failed. The next use looks for the sandbox again. */
  async examine(error: unknown): Promise<Loss> {
    const held = await this.#held?.catch(() => undefined);
    const reason = error instanceof Error && error.message !== "" ? error.message : "no answer";
    if (held === undefined) return { gone: false, why: `the Daytona sandbox was lost (${reason})` };
    const state = await this.#info(held.info.id, 0).then(
      (info) => info?.state ?? "destroyed",
      () => undefined,
    );
    this.#held = undefined;
    if (state === "destroyed" || state === "destroying") {
      const why = `the Daytona sandbox ${held.info.name} is gone`;
      this.#untold = `${capitalised(why)}, and all its files with it; a new one starts from ${this.#source}.`;
      return { gone: true, why };
    }
    if (state !== undefined && state !== "started")
      return { gone: false, why: `the Daytona sandbox ${held.info.name} is ${state}` };
    return { gone: false, why: `the connection to the Daytona sandbox was lost (${reason})` };
  }

  /** Something that tidies up there; closing waits for it. */
  tidy(work: Promise<unknown>): void {
    const done = work.catch(() => {}).finally(() => this.#cleanups.delete(done));
    this.#cleanups.add(done);
  }

  async facts(): Promise<Record<string, string>> {
    const held = await this.#held;
    const disk = this.#options.diskMb;
    return {
      source: this.#source,
      sandbox: this.#name,
      ...(held === undefined ? {} : { "started from": held.restored ? "its last stop" : this.#source }),
      files: this.#persistent ? "kept while it is stopped" : "gone when it closes",
      "idle stop": this.#idleMinutes === 0 ? "off" : `after ${this.#idleMinutes} min`,
      ...(disk !== undefined && disk > MAX_DISK_GB * 1024
        ? { note: `disk is ${MAX_DISK_GB} GB, the most the service gives` }
        : {}),
    };
  }

  async snapshot(): Promise<{ readonly id: string }> {
    await this.toolbox();
    const held = await this.#held;
    if (held === undefined) throw daytonaError("make a snapshot", new Error("the sandbox was lost"));
    const id = `${this.#name}-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
    try {
      await this.api.call({ ...this.#action(held.info.id, "snapshot"), json: { name: id } });
      await this.#until(held.info.id, { states: ["started", "stopped"], limitMs: START_LIMIT_MS });
    } catch (error) {
      throw daytonaError(`make the snapshot ${id}`, error);
    }
    return { id };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const held = await this.#held?.catch(() => undefined);
    if (held !== undefined && this.#persistent) this.tidy(held.toolbox.run(""));
    await Promise.all(this.#cleanups);
    try {
      if (this.#id !== undefined) await this.#end(this.#id);
    } finally {
      await this.api.close();
    }
  }

  async #end(id: string): Promise<void> {
    try {
      if (this.#persistent) {
        await this.api.call({ ...this.#action(id, "stop"), retryForMs: RETRY_CLOSING_MS });
        await this.#until(id, { states: ["stopped", "archived", "archiving"], limitMs: STOP_LIMIT_MS });
      } else {
        await this.api.call({ method: "DELETE", url: this.#url(id), retryForMs: RETRY_CLOSING_MS });
      }
    } catch (error) {
      if (!isMissing(error))
        throw daytonaError(`${this.#persistent ? "stop" : "delete"} the sandbox ${this.#name}`, error);
    }
  }

  async #open(): Promise<Held> {
    const found = await this.#info(this.#name);
    if (found !== undefined && found.labels?.["hermes-task"] !== this.#options.task)
      throw new ToolError(`Daytona has a sandbox ${this.#name} that this runtime did not make.`, {
        code: "unavailable",
        hint: "Rename or delete it in Daytona's dashboard.",
      });
    const info = found ?? (await this.#create());
    this.#id = info.id;
    const running = await this.#startIfNeeded(info);
    const proxy =
      running.toolboxProxyUrl ||
      (
        await this.api.call<{ url: string }>({
          method: "GET",
          url: `${this.#url(info.id)}/toolbox-proxy-url`,
        })
      ).url;
    const url = `${proxy.replace(/\/+$/, "")}/${encodeURIComponent(info.id)}`;
    const toolbox: Toolbox = new Toolbox({
      api: this.api,
      url,
      leftovers: new Leftovers(() => this.tidy(toolbox.run(""))),
    });
    return { info: running, toolbox, restored: found !== undefined };
  }

  async #create(): Promise<SandboxInfo> {
    const { image, snapshot, cpu, memoryMb, diskMb, task } = this.#options;
    const target = this.api.target;
    return await this.api.call<SandboxInfo>({
      method: "POST",
      url: `${this.api.url}/sandbox`,
      json: {
        name: this.#name,
        labels: { hermes: "1", "hermes-task": task },
        ...(snapshot === undefined
          ? { buildInfo: { dockerfileContent: `FROM ${image ?? DEFAULT_IMAGE}\n` } }
          : { snapshot }),
        ...(target === undefined ? {} : { target }),
        ...(cpu === undefined ? {} : { cpu }),
        ...(memoryMb === undefined ? {} : { memory: Math.ceil(memoryMb / 1024) }),
        ...(diskMb === undefined ? {} : { disk: Math.min(MAX_DISK_GB, Math.ceil(diskMb / 1024)) }),
        autoStopInterval: this.#idleMinutes,
        ...(this.#persistent ? {} : { autoDeleteInterval: 0 }),
      },
    });
  }

  get #idleMinutes(): number {
    const { idleStopSeconds } = this.#options;
    if (idleStopSeconds !== undefined) return Math.ceil(idleStopSeconds / 60);
    return this.#persistent ? 0 : LEFTOVER_MINUTES;
  }

  async #startIfNeeded(info: SandboxInfo): Promise<SandboxInfo> {
    const { id } = info;
    const settled = await this.#until(id, {
      states: ["started", "stopped", "archived", "paused"],
      limitMs: START_LIMIT_MS,
    });
    if (settled.state === "started") return settled;
    await this.api.call(this.#action(id, "start"));
    return await this.#until(id, { states: ["started"], limitMs: START_LIMIT_MS });
  }

  async #until(
    id: string,
    wanted: { readonly states: readonly string[]; readonly limitMs: number },
  ): Promise<SandboxInfo> {
    const end = Date.now() + wanted.limitMs;
    for (let pause = 50; ; pause = Math.min(pause * 1.5, 1000)) {
      const info = await this.#info(id);
      const state = info?.state ?? "destroyed";
      if (info !== undefined && wanted.states.includes(state)) return info;
      if (["error", "build_failed", "destroyed", "destroying"].includes(state))
        throw new Error(
          `the sandbox is ${state.replace("_", " ")}: ${info?.errorReason ?? "no reason was given"}`,
        );
      if (Date.now() > end) throw new Error(`the sandbox is still ${state} after ${wanted.limitMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #info(idOrName: string, retryForMs?: number): Promise<SandboxInfo | undefined> {
    try {
      return await this.api.call<SandboxInfo>({
        method: "GET",
        url: this.#url(idOrName),
        ...(retryForMs === undefined ? {} : { retryForMs }),
      });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #action(id: string, action: string): { readonly method: "POST"; readonly url: string } {
    return { method: "POST", url: `${this.#url(id)}/${action}` };
  }

  #url(idOrName: string): string {
    return `${this.api.url}/sandbox/${encodeURIComponent(idOrName)}`;
  }
}

/** A sandbox that is not meant to last never meets one of the same task. */
function sandboxName(task: string, persistent: boolean): string {
  const plain = task
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 40);
  const exact = plain === task ? plain : `${plain}-${sha256(task).slice(0, 8)}`;
  return persistent ? `hermes-${exact}` : `hermes-${exact}-${randomBytes(4).toString("hex")}`;
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
