import { ToolError } from "../../tool/errors.js";
import { ContainerEnds } from "./container-ends.js";
import { type CreatePlan, createContainer, planContainer } from "./create-options.js";
import type { DockerOptions } from "./docker.js";
import { EngineError, engineFailure, isGone } from "./engine-api.js";
import type { Engine } from "./find-engine.js";
import { ensureImage } from "./image.js";
import {
  claimLeftOver,
  containerLabels,
  containerName,
  DEFAULT_LIFETIME_SECONDS,
  identityOf,
  thisOwner,
} from "./labels.js";
import { keptFolders, requireSources } from "./persistent-folders.js";
import { reap, removeContainer } from "./reaper.js";

/** One run of the container; a new value after each start. */
export interface RunningContainer {
  readonly id: string;
  readonly startedAt: string;
}

export interface ContainerState {
  readonly Name: string;
  readonly State: {
    readonly Running: boolean;
    readonly ExitCode: number;
    readonly OOMKilled: boolean;
    readonly StartedAt: string;
    readonly Error: string;
  };
}

/** The container of one environment: made, found again, started, stopped, removed. */
export class Container {
  /** Tells those who run something in it. */
  readonly ends: ContainerEnds;
  readonly #engine: Engine;
  readonly #options: DockerOptions;
  #plan: CreatePlan | undefined;
  readonly #notes: string[] = [];
  #id: string | undefined;
  #current: RunningContainer | undefined;
  #bringing: Promise<RunningContainer> | undefined;
  #reaping: Promise<unknown> | undefined;
  #leaving = false;

  constructor(engine: Engine, options: DockerOptions) {
    this.#engine = engine;
    this.#options = options;
    this.ends = new ContainerEnds(engine.api);
  }

  /** Limits that could not be set. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** Fixed before anything is made: where the image, the folders and the configuration lead. */
  async plan(): Promise<CreatePlan> {
    this.#plan ??= await this.#makePlan();
    return this.#plan;
  }

  /** Makes or starts it when it has to. */
  async running(): Promise<RunningContainer> {
    if (this.#current !== undefined) return this.#current;
    if (this.#leaving) {
      throw new ToolError("The container is not started any more: its environment is closed.", {
        code: "unavailable",
        hint: "Open a new session.",
      });
    }
    this.#bringing ??= this.#bring().finally(() => {
      this.#bringing = undefined;
    });
    return this.#bringing;
  }

  /** That run turned out not to run any more; the next use looks again. */
  doubt(seen: RunningContainer): void {
    if (this.#current === seen) this.#current = undefined;
  }

  /** Undefined when it is gone. */
  async inspect(id: string, timeoutMs = 10_000): Promise<ContainerState | undefined> {
    try {
      return await this.#engine.api.json<ContainerState>({ path: `/containers/${id}/json`, timeoutMs });
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** Behind an init program, a missing shell shows only in that the container has ended. */
  async lacksShell(): Promise<boolean> {
    const id = this.#id;
    if (id === undefined || (await this.inspect(id))?.State.Running !== false) return false;
    return this.#lacksShell(id);
  }

  /** Ends everything in it but keeps its files, /tmp and /run aside. The next use starts it again. */
  async stop(): Promise<void> {
    await this.#bringing?.catch(() => {});
    this.#current = undefined;
    if (this.#id === undefined) return;
    try {
      await this.#engine.api.send({ method: "POST", path: `/containers/${this.#id}/stop`, query: { t: 1 } });
    } catch (error) {
      if (!isGone(error)) throw engineFailure("The container cannot be stopped", error);
    }
  }

  /** From now on it is used only if it runs: nothing starts it in order to end what is in it. */
  leave(): void {
    this.#leaving = true;
  }

  /** Removes it; what is bound from this machine stays. */
  async close(): Promise<void> {
    this.#leaving = true;
    await this.#bringing?.catch(() => {});
    await this.#reaping;
    this.#current = undefined;
    if (this.#id === undefined) return;
    try {
      await removeContainer(this.#engine.api, this.#id);
    } catch (error) {
      // An engine that is not there keeps the container; the next process that finds it removes it.
      if (error instanceof EngineError && error.status === undefined) return;
      throw engineFailure("The container cannot be removed", error);
    }
  }

  async #makePlan(): Promise<CreatePlan> {
    const options = this.#options;
    await requireSources(options);
    const plan = planContainer({
      options,
      facts: this.#engine.facts,
      imageId: await ensureImage(this.#engine.api, options),
      kept: await keptFolders(options),
      hostUser: hostUser(options, this.#engine.facts.rootless),
    });
    this.#notes.push(...plan.notes);
    return plan;
  }

  async #bring(): Promise<RunningContainer> {
    try {
      await this.#engine.wake();
      const known = this.#id === undefined ? undefined : await this.#comeBack(this.#id);
      this.#current = known ?? (await this.#takeOver()) ?? (await this.#create());
    } catch (error) {
      throw engineFailure(`The container for ${this.#options.image} cannot be started`, error);
    }
    this.#reaping ??= reap(this.#engine.api).catch(() => {});
    return this.#current;
  }

  /** Undefined when a new one is to be made without a word: all that was promised to last is still there. */
  async #comeBack(id: string): Promise<RunningContainer | undefined> {
    const found = await this.inspect(id);
    if (found?.State.Running === true) return { id, startedAt: found.State.StartedAt };
    try {
      if (found !== undefined) return await this.#start(id);
    } catch (error) {
      if (!isGone(error) && !/marked for removal/i.test(String(error))) throw error;
    }
    this.#id = undefined;
    // A new one may get other limits and another image: nothing of the old plan is taken for granted.
    this.#plan = undefined;
    this.#notes.length = 0;
    if (this.#options.persistent === true) return undefined;
    throw new ToolError(
      "The container was removed by somebody else, and its files with it. Nothing was run.",
      {
        code: "unavailable",
        hint: "Call again to go on in a new, empty container.",
        details: { environment_recreated: true },
      },
    );
  }

  async #takeOver(): Promise<RunningContainer | undefined> {
    const identity = identityOf(this.#options, (await this.plan()).configHash);
    const id = await claimLeftOver(this.#engine.api, identity);
    if (id === undefined) return undefined;
    // What the dead owner had started there has nobody left to end it.
    try {
      await this.#engine.api.send({ method: "POST", path: `/containers/${id}/restart`, query: { t: 1 } });
    } catch (error) {
      // Another process took it for left over as well, and removed it.
      if (isGone(error)) return undefined;
      throw error;
    }
    this.#id = id;
    return this.#started(id);
  }

  async #create(): Promise<RunningContainer> {
    const plan = await this.plan();
    const owner = await thisOwner();
    const { task, profile = "default", lifetimeSeconds = DEFAULT_LIFETIME_SECONDS } = this.#options;
    const identity = identityOf(this.#options, plan.configHash);
    const made = await createContainer(this.#engine.api, {
      name: containerName(task, owner),
      body: { ...plan.body, Labels: containerLabels({ identity, owner, profile, lifetimeSeconds }) },
    });
    this.#notes.push(...made.notes);
    this.#id = made.id;
    try {
      return await this.#start(this.#id);
    } catch (error) {
      await removeContainer(this.#engine.api, this.#id).catch(() => {});
      this.#id = undefined;
      throw error;
    }
  }

  async #start(id: string): Promise<RunningContainer> {
    try {
      await this.#engine.api.send({ method: "POST", path: `/containers/${id}/start` });
    } catch (error) {
      if (error instanceof EngineError && /executable file.*not found/i.test(error.message))
        throw noShell(this.#options.image);
      throw error;
    }
    return this.#started(id);
  }

  async #lacksShell(id: string): Promise<boolean> {
    try {
      await this.#engine.api.send({
        method: "HEAD",
        path: `/containers/${id}/archive`,
        query: { path: "/bin/sh" },
      });
      return false;
    } catch (error) {
      return isGone(error);
    }
  }

  async #started(id: string): Promise<RunningContainer> {
    const found = await this.inspect(id);
    if (found === undefined) throw new EngineError("it was removed while it started", { status: 404 });
    const { Running, ExitCode, Error: why, StartedAt } = found.State;
    if (Running) return { id, startedAt: StartedAt };
    if (await this.#lacksShell(id)) throw noShell(this.#options.image);
    throw new EngineError(`it ended at once with code ${ExitCode} ${why}`.trim(), { status: 500 });
  }
}

export function noShell(image: string): ToolError {
  return new ToolError(`The image ${image} has no \`sh\`, so no command can be run in it.`, {
    code: "unavailable",
    hint: "Choose an image with a shell, for instance debian or alpine.",
  });
}

function hostUser(options: DockerOptions, rootless: boolean) {
  const uid = process.getuid?.() ?? 0;
  // Root of a rootless engine already is the person who runs it.
  if (options.runAsHostUser !== true || rootless || uid === 0) return undefined;
  return { uid, gid: process.getgid?.() ?? uid };
}
