import { randomBytes } from "node:crypto";
import type { EnvironmentFiles } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { Kept } from "../../../tool/tool.js";
import { PendingChanges, type WatchEvent } from "./pending.js";

const MAX_WATCHES = 20;
/** A save is a burst of events; it is over when nothing has come for this long. */
const QUIET_MS = 120;
/** Longer waits are made of several; timers cannot do more. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Where it is never quiet, this is a burst, too. */
const LONGEST_BURST_MS = 2_000;

export interface WatchRequest {
  readonly files: EnvironmentFiles;
  /** As the caller named it; changes are told below this path. */
  readonly path: string;
  /** Where that really is. */
  readonly real: string;
  readonly recursive: boolean;
  /** Ends it early; only for a watch that no later call asks about. */
  readonly signal?: AbortSignal;
  /** Which of the changes are told. */
  wanted(event: WatchEvent): boolean;
}

/** One place that is being watched. */
export class Watch {
  readonly id = `watch_${randomBytes(4).toString("hex")}`;
  readonly path: string;
  readonly startedAt = new Date().toISOString();
  readonly #stop = new AbortController();
  readonly #pending = new PendingChanges();
  readonly #wanted: (event: WatchEvent) => boolean;
  #told = 0;
  #problem: unknown;
  #over = false;
  #lastAt = 0;
  #wake = () => {};

  private constructor(request: WatchRequest) {
    this.path = request.path;
    this.#wanted = request.wanted;
  }

  /** Resolves when nothing that happens from now on is missed. */
  static async start(request: WatchRequest): Promise<Watch> {
    const watch = new Watch(request);
    await new Promise<void>((resolve, reject) => {
      void watch.#follow(request, resolve).then(() => {
        // Whoever waits for the beginning hears of an end before it; later nobody listens.
        if (watch.#problem !== undefined) reject(watch.#problem);
        else resolve();
      });
    });
    return watch;
  }

  async #follow(request: WatchRequest, onReady: () => void): Promise<void> {
    const { files, path, real, recursive } = request;
    const signal =
      request.signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, request.signal]);
    try {
      for await (const found of files.watch(real, { signal, recursive, onReady })) {
        const change = { ...found, path: path + found.path.slice(real.length) };
        this.#pending.add(change);
        if (this.#wanted({ ...change, at: "" })) this.#lastAt = performance.now();
        this.#wake();
      }
    } catch (error) {
      this.#problem = error;
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  get waiting(): number {
    return this.#pending.count(this.#wanted);
  }

  get told(): number {
    return this.#told;
  }

  get ended(): boolean {
    return this.#over;
  }

  /**
   * What has happened since the last time. Waits for as long as allowed until something has, and then until the
   * burst is over; with `atLeast`, until there is as much.
   */
  async events(wait: {
    readonly ms: number;
    readonly atLeast: number;
    readonly most: number;
    readonly signal: AbortSignal;
  }): Promise<{ readonly events: readonly WatchEvent[]; readonly dropped: number }> {
    const deadline = performance.now() + wait.ms;
    let burstEnd = Number.POSITIVE_INFINITY;
    for (;;) {
      wait.signal.throwIfAborted();
      const now = performance.now();
      const quiet = now - this.#lastAt >= QUIET_MS;
      const enough = this.#pending.count(this.#wanted) >= Math.max(1, wait.atLeast);
      if (enough) burstEnd = Math.min(burstEnd, now + LONGEST_BURST_MS);
      if (this.#over || now >= Math.min(deadline, burstEnd) || (enough && quiet)) break;
      await this.#somethingOr(
        Math.min(deadline - now, enough ? QUIET_MS : Number.POSITIVE_INFINITY),
        wait.signal,
      );
    }
    if (this.#problem !== undefined && this.#pending.size === 0) throw this.#problem;
    const { dropped } = this.#pending;
    const events = this.#pending.take(this.#wanted, wait.most);
    this.#told += events.length;
    return { events, dropped };
  }

  stop(): void {
    this.#stop.abort();
  }

  #somethingOr(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(1, ms), MAX_TIMER_MS));
      this.#wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** The watches of a session that go on between calls. */
export class Watches implements Kept {
  readonly #watches = new Map<string, Watch>();

  async start(request: WatchRequest): Promise<Watch> {
    if (this.#watches.size >= MAX_WATCHES) {
      throw new ToolError(`There are ${MAX_WATCHES} watches already.`, {
        hint: 'End one with action: "stop".',
        details: { watches: [...this.#watches.keys()] },
      });
    }
    const watch = await Watch.start(request);
    this.#watches.set(watch.id, watch);
    return watch;
  }

  list(): readonly Watch[] {
    return [...this.#watches.values()];
  }

  /** By id, or a beginning of it that only one has; without one, the only watch there is. */
  get(id = ""): Watch {
    const found = this.list().filter((watch) => watch.id.startsWith(id));
    if (found.length === 1 && found[0] !== undefined) return found[0];
    const ids = [...this.#watches.keys()];
    const unclear =
      found.length > 1 ? "Say which watch is meant." : `There is no watch${id === "" ? "" : ` ${id}`}.`;
    throw new ToolError(unclear, {
      code: found.length > 1 ? "invalid_arguments" : "not_found",
      hint: ids.length === 0 ? "Start one with background: true." : `There are: ${ids.join(", ")}.`,
    });
  }

  stop(watch: Watch): void {
    watch.stop();
    this.#watches.delete(watch.id);
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.stop();
    this.#watches.clear();
  }
}
