import { LATE, within } from "../base/deadline.js";
import type { LoadedConfig } from "../config/types.js";
import type { OpenRequest } from "../env/descriptor.js";
import type { Environment } from "../env/environment.js";
import { type Usage, withUsage } from "../env/usage.js";
import type { Logger } from "../observe/log.js";
import { describeThrown } from "../tool/thrown.js";

const LOOK_EVERY_MS = 60_000;
const DEFAULT_TASK = "default";
/** How long closing waits for an environment that is still being opened. */
const OPENING_LIMIT_MS = 10_000;

export interface EnvironmentWanted {
  readonly name: string;
  readonly task?: string | undefined;
}

type Opener = (request: OpenRequest) => Promise<Environment>;

export interface PoolOptions {
  /** Asked again for each environment that is opened. */
  readonly config: LoadedConfig;
  readonly log: Logger;
  /** What plugins bring, when it is asked for. */
  readonly plugins?: () => OpenRequest["plugins"];
  /** Instead of what the configuration describes. */
  readonly open?: Opener;
}

async function openConfigured(request: OpenRequest): Promise<Environment> {
  const { openEnvironment } = await import("../env/environments.js");
  return openEnvironment(request);
}

interface Opened {
  readonly name: string;
  readonly environment: Environment;
  readonly usage: Usage;
  suspendedAt: number;
}

/**
 * The environments of one runtime: each is opened once and shared by the sessions that want it. What nobody
 * has used for a while is suspended, and the next use wakes it up.
 */
export class EnvironmentPool {
  readonly #options: PoolOptions;
  readonly #log: Logger;
  readonly #opener: Opener;
  readonly #plugins: PoolOptions["plugins"];
  readonly #opened = new Map<string, Promise<Opened>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#opener = options.open ?? openConfigured;
    this.#options = options;
    this.#log = options.log;
    this.#plugins = options.plugins;
  }

  async open(wanted: EnvironmentWanted): Promise<Environment> {
    const task = wanted.task ?? DEFAULT_TASK;
    // One machine is one environment, whatever the task.
    const key = wanted.name === "local" ? wanted.name : `${wanted.name}/${task}`;
    let opening = this.#opened.get(key);
    if (opening === undefined) {
      opening = this.#start(wanted.name, task);
      this.#opened.set(key, opening);
      // What could not be opened may work the next time.
      opening.catch(() => this.#opened.delete(key));
    }
    return (await opening).environment;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const closed = await Promise.allSettled(
      [...this.#opened].map(async ([key, opening]) => {
        // One that does not even open would otherwise keep everything else from closing.
        const opened = await within(
          opening.catch(() => undefined),
          OPENING_LIMIT_MS,
        );
        if (opened === LATE) throw new Error(`${key} has not answered yet and is left alone`);
        await opened?.environment.close();
      }),
    );
    for (const result of closed) {
      if (result.status === "rejected") {
        this.#log.warn(`an environment could not be closed: ${describeThrown(result.reason).message}`);
      }
    }
  }

  async #start(name: string, task: string): Promise<Opened> {
    const environment = await this.#opener({
      name,
      task,
      config: this.#options.config,
      onProgress: (message) => this.#log.info(message),
      plugins: this.#plugins?.(),
    });
    if (name === "local") {
      return { name, environment, usage: { active: 1, lastUsed: Date.now() }, suspendedAt: 0 };
    }
    const { usage, environment: watched } = withUsage(environment);
    if (environment.suspend !== undefined) this.#lookNowAndThen();
    return { name, environment: watched, usage, suspendedAt: 0 };
  }

  #lookNowAndThen(): void {
    const lifetimeMs = this.#options.config.values.terminal.lifetime_seconds * 1000;
    if (lifetimeMs === 0) return;
    this.#timer ??= setInterval(() => void this.suspendIdle(), Math.min(LOOK_EVERY_MS, lifetimeMs)).unref();
  }

  /** Suspends what has not been used for its lifetime; programs that still run there count as use. */
  async suspendIdle(now = Date.now()): Promise<readonly string[]> {
    const lifetimeMs = this.#options.config.values.terminal.lifetime_seconds * 1000;
    const suspended: string[] = [];
    for (const opening of this.#opened.values()) {
      const opened = await opening.catch(() => undefined);
      if (opened === undefined || opened.usage.active > 0) continue;
      const { lastUsed } = opened.usage;
      if (now - lastUsed < lifetimeMs || opened.suspendedAt > lastUsed) continue;
      opened.suspendedAt = now;
      try {
        await opened.environment.suspend?.();
        suspended.push(opened.name);
        this.#log.info(
          `${opened.name} was not used for ${Math.round((now - lastUsed) / 1000)} s and is stopped`,
        );
      } catch (error) {
        this.#log.warn(`${opened.name} could not be stopped: ${describeThrown(error).message}`);
      }
    }
    return suspended;
  }
}
