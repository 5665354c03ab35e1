import type { RunningContainer } from "./container.js";
import { type EngineApi, isGone } from "./engine-api.js";

/** The longest that a timer takes. */
const FOR_EVER_MS = 2_147_483_647;

interface Watch {
  readonly listeners: Set<() => void>;
  stop(): void;
}

/** Asks the engine to tell when a container ends: once for all who want to know, and only while somebody does. */
export class ContainerEnds {
  readonly #api: EngineApi;
  readonly #watches = new Map<RunningContainer, Watch>();

  constructor(api: EngineApi) {
    this.#api = api;
  }

  /** Returns how to stop listening. */
  listen(run: RunningContainer, listener: () => void): () => void {
    const watch = this.#watches.get(run) ?? this.#begin(run);
    watch.listeners.add(listener);
    return () => {
      watch.listeners.delete(listener);
      if (watch.listeners.size > 0) return;
      this.#forget(run, watch);
      watch.stop();
    };
  }

  #begin(run: RunningContainer): Watch {
    const stopping = new AbortController();
    const watch: Watch = { listeners: new Set(), stop: () => stopping.abort() };
    this.#watches.set(run, watch);
    void this.#hasEnded(run, stopping.signal).then((ended) => {
      this.#forget(run, watch);
      if (ended) for (const tell of watch.listeners) tell();
    });
    return watch;
  }

  #forget(run: RunningContainer, watch: Watch): void {
    if (this.#watches.get(run) === watch) this.#watches.delete(run);
  }

  /** False when it was not told: an engine that goes away closes all streams as well. */
  async #hasEnded({ id }: RunningContainer, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#api.send({
        method: "POST",
        path: `/containers/${id}/wait`,
        timeoutMs: FOR_EVER_MS,
        signal,
      });
      return true;
    } catch (error) {
      return isGone(error);
    }
  }
}
