import type { Kept } from "../../../tool/tool.js";
import type { Kernel } from "./kernel.js";

interface Entry {
  readonly kernel: Kernel;
  usedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export interface OpenedKernel {
  readonly kernel: Kernel;
  /** Set when it has just been started: why, in words. */
  readonly fresh?: string;
}

const MOST_REMEMBERED = 100;

/** The interpreters that a session keeps between calls. */
export class Kernels implements Kept {
  readonly #open = new Map<string, Entry>();
  /** Why those are gone whose state somebody may still count on. */
  readonly #lost = new Map<string, string>();
  #closed = false;

  get names(): readonly string[] {
    return [...this.#open.keys()];
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /** The kernel of this name, started when there is none. One that nobody has used for long makes room. */
  async take(request: {
    readonly name: string;
    readonly reset: boolean;
    readonly max: number;
    readonly start: () => Promise<Kernel>;
  }): Promise<OpenedKernel> {
    const { name, reset, max, start } = request;
    const known = this.#open.get(name);
    if (known !== undefined && !reset && known.kernel.gone === undefined) {
      clearTimeout(known.timer);
      return { kernel: known.kernel };
    }
    if (known !== undefined) {
      if (reset) await this.end(name);
      else await this.#end(name, known.kernel.gone ?? "it is gone");
    }
    await this.#makeRoom(max - 1);
    const kernel = await start();
    if (this.#closed) {
      await kernel.end("the session is closed");
      throw new Error("the session is closed");
    }
    const why = this.#lost.get(name);
    this.#lost.delete(name);
    this.#open.set(name, { kernel, usedAt: performance.now(), timer: undefined });
    return { kernel, fresh: why === undefined || reset ? "new" : `new: the one before is gone, ${why}` };
  }

  /** After each use: says when it is ended if nobody comes back. */
  release(name: string, idleSeconds: number): void {
    const entry = this.#open.get(name);
    if (entry === undefined) return;
    entry.usedAt = performance.now();
    if (entry.kernel.gone !== undefined) {
      void this.#end(name, entry.kernel.gone);
      return;
    }
    const why = `nobody used it for ${idleSeconds} s`;
    entry.timer = setTimeout(() => void this.#end(name, why), Math.min(idleSeconds * 1000, 2_147_483_647));
    entry.timer.unref();
  }

  async end(name: string): Promise<void> {
    await this.#end(name, "it was reset");
    this.#lost.delete(name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.names.map((name) => this.#end(name, "the session is closed")));
  }

  async #makeRoom(most: number): Promise<void> {
    while (this.#open.size > most) {
      const idle = [...this.#open].filter(([, { kernel }]) => !kernel.busy);
      const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt);
      if (oldest === undefined) return;
      await this.#end(oldest[0], "it made room for another one (code_execution.max_kernels)");
    }
  }

  async #end(name: string, why: string): Promise<void> {
    const entry = this.#open.get(name);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    this.#open.delete(name);
    if (this.#lost.size < MOST_REMEMBERED) this.#lost.set(name, why);
    await entry.kernel.end(why);
  }
}
