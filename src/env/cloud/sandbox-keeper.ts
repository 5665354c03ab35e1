import { ToolError } from "../../tool/errors.js";

/** A service that gives out sandboxes, as far as services differ. `S` is a sandbox that runs. */
export interface SandboxService<S> {
  /** As people write it: "Modal". */
  readonly label: string;
  /** Starts a sandbox, or finds the one of this task again. */
  open(): Promise<S>;
  idOf(sandbox: S): string;
  /**
   * What is the matter with a sandbox in which something failed; undefined when the sandbox is there and nothing
   * was reported. `error` is undefined when a program was only killed.
   */
  examine(sandbox: S, error: unknown): Promise<SandboxLoss<S> | undefined>;
  /** Waits until a sandbox answers again whose connection was lost. */
  reach?(sandbox: S): Promise<void>;
  /** Ends so soon that it is replaced while nothing runs in it. */
  expires?(sandbox: S): boolean;
  /** When a sandbox that nothing runs in is suspended from here; services that do it themselves have none. */
  readonly idleStopMs?: number | undefined;
  /** Stops a sandbox whose files are to be kept; the next one opened has them. */
  suspend?(sandbox: S): Promise<void>;
  snapshot(sandbox: S): Promise<string>;
  facts(sandbox: S | undefined): Readonly<Record<string, string>>;
  /** Leaves nothing behind that costs something, also after a start that failed halfway. */
  close(sandbox: S | undefined): Promise<void>;
  /** What went wrong while `doing`, as an error that says what to do about it. */
  error(doing: string, error: unknown): ToolError;
}

export type SandboxLoss<S> =
  /** It does not exist any more; `told` says what was lost with it. */
  | { readonly gone: true; readonly why: string; readonly told: string }
  /** Only the connection broke. `again` is a fresh one to the same sandbox; without it, the next use looks for it. */
  | { readonly gone: false; readonly why: string; again?(): Promise<S> };

/** The one sandbox of an environment: opened at the first use, never replaced silently when files are lost with it. */
export class SandboxKeeper<S> {
  readonly service: SandboxService<S>;
  #held: Promise<S> | undefined;
  /** What the next user has to be told before it gets a new sandbox. */
  #untold: string | undefined;
  #running = 0;
  #idle: NodeJS.Timeout | undefined;
  /** An idle sandbox on its way out. */
  #stopping: Promise<void> | undefined;
  #closed = false;

  constructor(service: SandboxService<S>) {
    this.service = service;
  }

  /** The sandbox, for something that will run in it; `release` when that is over. */
  async use(): Promise<{ readonly sandbox: S; release(): void }> {
    if (this.#closed) {
      const hint = "Open a new session.";
      throw new ToolError(`The ${this.service.label} environment is closed.`, { code: "unavailable", hint });
    }
    clearTimeout(this.#idle);
    const told = this.takeUntold();
    if (told !== undefined)
      throw new ToolError(told, { code: "unavailable", hint: "Call again to go on in a new sandbox." });
    this.#running += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      this.#running -= 1;
      this.#suspendWhenIdle();
    };
    try {
      return { sandbox: await this.#current(), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** What whoever asks next has to know before a sandbox without the old files is made. */
  takeUntold(): string | undefined {
    const told = this.#untold;
    this.#untold = undefined;
    return told;
  }

  /** Why something in this sandbox failed; undefined when the sandbox is there and nothing else was reported. */
  async examine(sandbox: S, error: unknown): Promise<SandboxLoss<S> | undefined> {
    const loss = await this.service.examine(sandbox, error);
    const held = await this.#held?.catch(() => undefined);
    if (loss === undefined || held === undefined) return loss;
    if (loss.gone && this.service.idOf(held) === this.service.idOf(sandbox)) {
      this.#held = undefined;
      this.#untold = loss.told;
    } else if (!loss.gone && held === sandbox) this.#held = loss.again?.();
    return loss;
  }

  async facts(): Promise<Readonly<Record<string, string>>> {
    return this.service.facts(await this.#held);
  }

  async snapshot(): Promise<{ readonly id: string }> {
    const { sandbox, release } = await this.use();
    try {
      return { id: await this.service.snapshot(sandbox) };
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#stopping;
    await this.service.close(await this.#letGo());
  }

  async #current(): Promise<S> {
    await this.#stopping;
    const held = await this.#held?.catch(() => undefined);
    if (held !== undefined) {
      if (this.#running === 1 && this.service.expires?.(held) === true) await this.#suspend();
      else await this.service.reach?.(held);
    }
    this.#held ??= this.service.open().catch((error: unknown) => {
      this.#held = undefined;
      throw this.service.error(`start a sandbox at ${this.service.label}`, error);
    });
    return await this.#held;
  }

  async #letGo(): Promise<S | undefined> {
    const held = this.#held;
    this.#held = undefined;
    return await held?.catch(() => undefined);
  }

  async #suspend(): Promise<void> {
    const sandbox = await this.#letGo();
    if (sandbox !== undefined) await this.service.suspend?.(sandbox);
  }

  #suspendWhenIdle(): void {
    const { idleStopMs } = this.service;
    if (this.#running > 0 || this.#closed || idleStopMs === undefined) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#running > 0) return;
      this.#stopping = this.#suspend()
        .catch((error: unknown) => {
          this.#untold = ToolError.isInstance(error) ? error.message : String(error);
        })
        .finally(() => {
          this.#stopping = undefined;
        });
    }, idleStopMs);
    this.#idle.unref();
  }
}
