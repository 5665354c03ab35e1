import { anyClash, type EffectKey } from "./effect-keys.js";

interface Holder {
  readonly keys: readonly EffectKey[];
  readonly callId: string;
}

interface Waiter extends Holder {
  readonly ancestors: readonly string[];
  readonly admit: () => void;
}

export type Release = () => void;

/**
 * Lets two calls run at the same time only if their effects do not clash. First come, first served, so a
 * stream of readers cannot starve a writer. A call made from inside another one never waits for it.
 */
export class EffectLocks {
  readonly #holders = new Set<Holder>();
  readonly #waiters: Waiter[] = [];

  acquire(request: {
    readonly keys: readonly EffectKey[];
    readonly callId: string;
    readonly ancestors: readonly string[];
    readonly signal?: AbortSignal | undefined;
  }): Release | Promise<Release | undefined> {
    const { keys, callId, ancestors, signal } = request;
    const holder: Holder = { keys, callId };
    const release = () => {
      this.#holders.delete(holder);
      this.#admitWaiters();
    };
    if (!this.#mustWait(holder, ancestors, this.#waiters)) {
      this.#holders.add(holder);
      return release;
    }
    return new Promise((resolve) => {
      const waiter: Waiter = {
        ...holder,
        ancestors,
        admit: () => {
          signal?.removeEventListener("abort", giveUp);
          this.#holders.add(holder);
          resolve(release);
        },
      };
      const giveUp = () => {
        const index = this.#waiters.indexOf(waiter);
        if (index < 0) return;
        this.#waiters.splice(index, 1);
        resolve(undefined);
        this.#admitWaiters();
      };
      this.#waiters.push(waiter);
      signal?.addEventListener("abort", giveUp, { once: true });
      if (signal?.aborted === true) giveUp();
    });
  }

  #mustWait(holder: Holder, ancestors: readonly string[], ahead: readonly Holder[]): boolean {
    for (const other of this.#holders) {
      if (!ancestors.includes(other.callId) && anyClash(holder.keys, other.keys)) return true;
    }
    // A nested call must not queue behind strangers who wait for its own parent.
    return ancestors.length === 0 && ahead.some((other) => anyClash(holder.keys, other.keys));
  }

  #admitWaiters(): void {
    for (let index = 0; index < this.#waiters.length; ) {
      const waiter = this.#waiters[index];
      if (waiter === undefined || this.#mustWait(waiter, waiter.ancestors, this.#waiters.slice(0, index))) {
        index += 1;
        continue;
      }
      this.#waiters.splice(index, 1);
      waiter.admit();
    }
  }
}
