import { randomBytes } from "node:crypto";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { DEFAULT_IMAGE } from "../cloud/cloud-environment.js";
import type { SandboxLoss, SandboxService } from "../cloud/sandbox-keeper.js";
import { DaytonaApi, daytonaError, isMissing } from "./api.js";
import type { DaytonaOptions } from "./daytona.js";
import { Toolbox } from "./toolbox.js";

/** The service gives no sandbox more. */
const MAX_DISK_GB = 10;
const START_LIMIT_MS = 600_000;
const STOP_LIMIT_MS = 120_000;
/** A sandbox that is not stopped goes on costing money. */
const RETRY_CLOSING_MS = 12_000;
/** Deletes what a crashed runtime left of an environment that was not meant to last. */
const LEFTOVER_MINUTES = 60;

/** What the service tells of a sandbox, as far as it matters here. */
interface SandboxInfo {
  readonly id: string;
  readonly name: string;
  readonly state?: string;
  readonly errorReason?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly toolboxProxyUrl?: string;
}

export interface DaytonaSandbox {
  readonly info: SandboxInfo;
  /** The programs' interface in the running sandbox. */
  readonly toolbox: Toolbox;
  readonly restored: boolean;
}

/** Sandboxes at Daytona: found by their name and started, or made; stopped at the end, or deleted. */
export class DaytonaSandboxes implements SandboxService<DaytonaSandbox> {
  readonly label = "Daytona";
  readonly error = daytonaError;
  readonly #api: DaytonaApi;
  readonly #options: DaytonaOptions;
  readonly #persistent: boolean;
  readonly #name: string;
  readonly #source: string;
  readonly #cleanups = new Set<Promise<unknown>>();
  /** Known before everything else about it has worked, so that nothing is left running. */
  #id: string | undefined;

  constructor(options: DaytonaOptions) {
    const { snapshot, image = DEFAULT_IMAGE } = options;
    this.#options = options;
    this.#api = new DaytonaApi(options);
    this.#persistent = options.persistent ?? true;
    this.#name = sandboxName(options.task, this.#persistent);
    this.#source = snapshot === undefined ? `image ${image}` : `snapshot ${snapshot}`;
  }

  idOf({ info }: DaytonaSandbox): string {
    return info.id;
  }

  async open(): Promise<DaytonaSandbox> {
    const found = await this.#info(this.#name);
    if (found !== undefined && found.labels?.["hermes-task"] !== this.#options.task)
      throw new ToolError(`Daytona has a sandbox ${this.#name} that this runtime did not make.`, {
        code: "unavailable",
        hint: "Rename or delete it in Daytona's dashboard.",
      });
    const { id } = found ?? (await this.#create());
    this.#id = id;
    const info = await this.#startIfNeeded(id);
    const url = `${this.#url(id)}/toolbox-proxy-url`;
    const proxy = info.toolboxProxyUrl || (await this.#api.call<{ url: string }>({ method: "GET", url })).url;
    const toolbox = new Toolbox({
      api: this.#api,
      url: `${proxy.replace(/\/+$/, "")}/${encodeURIComponent(id)}`,
      tidy: (work) => this.tidy(work),
    });
    return { info, toolbox, restored: found !== undefined };
  }

  async examine({ info }: DaytonaSandbox, error: unknown): Promise<SandboxLoss<DaytonaSandbox>> {
    const state = await this.#info(info.id, 0).then(
      (now) => now?.state ?? "destroyed",
      () => undefined,
    );
    if (state === "destroyed" || state === "destroying") {
      const why = `the Daytona sandbox ${info.name} is gone`;
      const told = `The ${why.slice(4)}, and all its files with it; a new one starts from ${this.#source}.`;
      return { gone: true, why, told };
    }
    if (state !== undefined && state !== "started")
      return { gone: false, why: `the Daytona sandbox ${info.name} is ${state}` };
    const reason = error instanceof Error && error.message !== "" ? error.message : "no answer";
    return { gone: false, why: `the connection to the Daytona sandbox was lost (${reason})` };
  }

  /** Something that tidies up there; closing waits for it. */
  tidy(work: Promise<unknown>): void {
    const done = work.catch(() => {}).finally(() => this.#cleanups.delete(done));
    this.#cleanups.add(done);
  }

  facts(held: DaytonaSandbox | undefined): Readonly<Record<string, string>> {
    const { diskMb = 0 } = this.#options;
    return {
      source: this.#source,
      sandbox: this.#name,
      ...(held === undefined ? {} : { "started from": held.restored ? "its last stop" : this.#source }),
      files: this.#persistent ? "kept while it is stopped" : "gone when it closes",
      "idle stop": this.#idleMinutes === 0 ? "off" : `after ${this.#idleMinutes} min`,
      ...(diskMb > MAX_DISK_GB * 1024
        ? { note: `disk is ${MAX_DISK_GB} GB, the most the service gives` }
        : {}),
    };
  }

  async snapshot({ info }: DaytonaSandbox): Promise<string> {
    const name = `${this.#name}-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
    try {
      await this.#api.call({ ...this.#action(info.id, "snapshot"), json: { name } });
      await this.#until(info.id, { states: ["started", "stopped"], limitMs: START_LIMIT_MS });
    } catch (error) {
      throw daytonaError(`make the snapshot ${name}`, error);
    }
    return name;
  }

  async close(held: DaytonaSandbox | undefined): Promise<void> {
    if (held !== undefined && this.#persistent) this.tidy(held.toolbox.run(""));
    await Promise.all(this.#cleanups);
    try {
      if (this.#id !== undefined) await this.#end(this.#id);
    } finally {
      await this.#api.close();
    }
  }

  async #end(id: string): Promise<void> {
    try {
      if (this.#persistent) {
        await this.#api.call({ ...this.#action(id, "stop"), retryForMs: RETRY_CLOSING_MS });
        await this.#until(id, { states: ["stopped", "archived", "archiving"], limitMs: STOP_LIMIT_MS });
      } else {
        await this.#api.call({ method: "DELETE", url: this.#url(id), retryForMs: RETRY_CLOSING_MS });
      }
    } catch (error) {
      if (!isMissing(error))
        throw daytonaError(`${this.#persistent ? "stop" : "delete"} the sandbox ${this.#name}`, error);
    }
  }

  /** Fields without a value are not sent. */
  async #create(): Promise<SandboxInfo> {
    const { image = DEFAULT_IMAGE, snapshot, cpu, memoryMb, diskMb, task } = this.#options;
    return await this.#api.call<SandboxInfo>({
      method: "POST",
      url: `${this.#api.url}/sandbox`,
      json: {
        name: this.#name,
        labels: { hermes: "1", "hermes-task": task },
        snapshot,
        buildInfo: snapshot === undefined ? { dockerfileContent: `FROM ${image}\n` } : undefined,
        target: this.#api.target,
        cpu,
        memory: memoryMb === undefined ? undefined : Math.ceil(memoryMb / 1024),
        disk: diskMb === undefined ? undefined : Math.min(MAX_DISK_GB, Math.ceil(diskMb / 1024)),
        autoStopInterval: this.#idleMinutes,
        autoDeleteInterval: this.#persistent ? undefined : 0,
      },
    });
  }

  get #idleMinutes(): number {
    const { idleStopSeconds } = this.#options;
    if (idleStopSeconds !== undefined) return Math.ceil(idleStopSeconds / 60);
    return this.#persistent ? 0 : LEFTOVER_MINUTES;
  }

  async #startIfNeeded(id: string): Promise<SandboxInfo> {
    const settled = await this.#until(id, {
      states: ["started", "stopped", "archived", "paused"],
      limitMs: START_LIMIT_MS,
    });
    if (settled.state === "started") return settled;
    await this.#api.call(this.#action(id, "start"));
    return await this.#until(id, { states: ["started"], limitMs: START_LIMIT_MS });
  }

  async #until(
    id: string,
    wanted: { readonly states: readonly string[]; readonly limitMs: number },
  ): Promise<SandboxInfo> {
    const end = performance.now() + wanted.limitMs;
    for (let pause = 50; ; pause = Math.min(pause * 1.5, 1000)) {
      const info = await this.#info(id);
      const state = info?.state ?? "destroyed";
      if (info !== undefined && wanted.states.includes(state)) return info;
      if (["error", "build_failed", "destroyed", "destroying"].includes(state))
        throw new Error(
          `the sandbox is ${state.replace("_", " ")}: ${info?.errorReason ?? "no reason was given"}`,
        );
      if (performance.now() > end)
        throw new Error(`the sandbox is still ${state} after ${wanted.limitMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #info(idOrName: string, retryForMs?: number): Promise<SandboxInfo | undefined> {
    try {
      return await this.#api.call<SandboxInfo>({ method: "GET", url: this.#url(idOrName), retryForMs });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #action(id: string, action: string): { readonly method: "POST"; readonly url: string } {
    return { method: "POST", url: `${this.#url(id)}/${action}` };
  }

  #url(idOrName: string): string {
    return `${this.#api.url}/sandbox/${encodeURIComponent(idOrName)}`;
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
