import { pause, unlessAborted } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import type { Logger } from "../observe/log.js";
import type { Gateway, Receiver } from "./gateway.js";
import type { GatewayStore } from "./gateway-store.js";
import type { GatewayState } from "./health.js";

/** How often a good receive is written down at most. */
const NOTE_EVERY_MS = 1_000;

/** Thrown by a gateway whose platform refuses it for good: a wrong token, a right that is missing. */
export class GatewayRefused extends Error {
  override readonly name = "GatewayRefused";
}

export interface SupervisorParts {
  readonly gateway: Gateway;
  readonly receiver: Omit<Receiver, "alive">;
  readonly store: GatewayStore;
  readonly log: Logger;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
}

/**
 * Keeps one gateway receiving: whatever it throws concerns no other one, and it is started again, later each time. One that
 * hears nothing any more is started again too, also when it believes to be connected.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #restarts = 0;
  #failures = 0;
  #lastReceivedAt: number | undefined;
  #notedAt = 0;
  #state: GatewayState = "starting";
  #since = Date.now();
  /** By a clock that nobody sets. */
  #heardAt = 0;
  #error: string | undefined;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the gateway stops"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { gateway, log, backoff } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#receive();
        if (!signal.aborted) throw new Error("it stopped receiving");
      } catch (error) {
        if (signal.aborted) return;
        this.#failures += 1;
        this.#restarts += 1;
        const isRefused = error instanceof GatewayRefused;
        this.#become(isRefused ? "refused" : "waiting", messageOf(error));
        const waitMs = isRefused
          ? backoff.maxMs
          : Math.min(backoff.firstMs * 2 ** (this.#failures - 1), backoff.maxMs);
        log.warn(`${gateway.name}: ${messageOf(error)}; started again in ${Math.ceil(waitMs / 1000)} s`);
        await pause(waitMs, signal);
      }
    }
  }

  async #receive(): Promise<void> {
    const { gateway, receiver } = this.#parts;
    const attempt = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, attempt.signal]);
    this.#heardAt = performance.now();
    const { silenceMs } = gateway.traits;
    const watch = Number.isFinite(silenceMs)
      ? setInterval(() => {
          const quietMs = performance.now() - this.#heardAt;
          if (quietMs > silenceMs)
            attempt.abort(new Error(`nothing was received for ${Math.round(quietMs / 1000)} s`));
        }, silenceMs / 4).unref()
      : undefined;
    try {
      // One that does not heed its signal is left behind.
      await unlessAborted(gateway.receive({ ...receiver, alive: () => this.#alive() }, signal), signal);
      signal.throwIfAborted();
    } finally {
      clearInterval(watch);
      attempt.abort(new Error("this attempt is over"));
    }
  }

  #alive(): void {
    const now = Date.now();
    this.#lastReceivedAt = now;
    this.#heardAt = performance.now();
    this.#failures = 0;
    if (this.#state !== "running") this.#become("running", undefined);
    else if (now - this.#notedAt >= NOTE_EVERY_MS) this.#note();
  }

  #become(state: GatewayState, error: string | undefined): void {
    this.#state = state;
    this.#since = Date.now();
    this.#error = error;
    this.#note();
  }

  #note(): void {
    const { gateway, store, log } = this.#parts;
    this.#notedAt = Date.now();
    const health = {
      gateway: gateway.name,
      state: this.#state,
      since: this.#since,
      lastReceivedAt: this.#lastReceivedAt,
      restarts: this.#restarts,
      error: this.#error,
    };
    store
      .write(() => store.health.note(health))
      .catch((error: unknown) => log.error(`${gateway.name}: ${messageOf(error)}`));
  }
}
