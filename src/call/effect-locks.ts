import { type EffectKey, KeyIndex } from "./effect-keys.js";

export type Release = () => void;

export interface LockRequest {
  readonly keys: readonly EffectKey[];
  /** Who asks; unique over all sessions. */
  readonly callId: string;
  /** The calls it is made from inside of, which it never waits for. */
  readonly ancestors: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Lets two calls run at the same time only if their effects do not clash. */
export interface EffectLocks {
  /** Resolves when nothing that clashes is running; with undefined when the signal came first. */
  acquire(request: LockRequest): Release | Promise<Release | undefined>;
}

/** A call that holds its keys or waits for them. */
interface Place {
  readonly keys: readonly EffectKey[];
  readonly callId: string;
  readonly ancestors: readonly string[];
  /** Who came before whom. */
  readonly arrival: number;
  /** Who waits for this one, of all that stand in their way. */
  readonly followers: Set<Place>;
  blocker: Place | undefined;
  admit: () => void;
}

/**
 * The locks of one process. First come, first served, so a
 * stream of readers cannot starve a writer. A call made from inside another one never waits for it.
 *
 * Each waiting call watches one of those in its way and looks for another only when that one leaves, so
 * thousands of calls that queue for one file do not each look at all the others again and again.
 */
export class InProcessLocks implements EffectLocks {
  readonly #holders = new KeyIndex<Place>();
  readonly #waiting = new KeyIndex<Place>();
  #arrivals = 0;

  acquire(request: LockRequest): Release | Promise<Release | undefined> {
    const { keys, callId, ancestors, signal } = request;
    const place: Place = {
      keys,
      callId,
      ancestors,
      arrival: this.#arrivals++,
      followers: new Set(),
      blocker: undefined,
      admit: () => undefined,
    };
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      this.#holders.delete(place, keys);
      this.#left(place);
    };
    place.blocker = this.#blockerOf(place);
    if (place.blocker === undefined) {
      this.#holders.add(place, keys);
      return release;
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        place.blocker?.followers.delete(place);
        this.#waiting.delete(place, keys);
        this.#left(place);
        resolve(undefined);
      };
      place.admit = () => {
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(place, keys);
        this.#holders.add(place, keys);
        resolve(release);
      };
      place.blocker?.followers.add(place);
      this.#waiting.add(place, keys);
      signal?.addEventListener("abort", giveUp, { once: true });
      if (signal?.aborted === true) {
        signal.removeEventListener("abort", giveUp);
        giveUp();
      }
    });
  }

  /** Somebody in the way of this call, or nobody. */
  #blockerOf({ keys, ancestors, arrival }: Place): Place | undefined {
    // A nested call must not queue behind strangers who wait for its own parent.
    if (ancestors.length === 0) {
      for (const places of this.#waiting.excluding(keys)) {
        // The last of them: those who wait for one file then form a chain.
        const ahead = places.findLast((other) => other.arrival < arrival);
        if (ahead !== undefined) return ahead;
      }
    }
    for (const places of this.#holders.excluding(keys)) {
      const other = places.find(({ callId }) => !ancestors.includes(callId));
      if (other !== undefined) return other;
    }
    return undefined;
  }

  /** Whoever watched the one that left now watches another, or may go. */
  #left(gone: Place): void {
    for (const place of gone.followers) {
      place.blocker = this.#blockerOf(place);
      if (place.blocker === undefined) place.admit();
      else place.blocker.followers.add(place);
    }
    gone.followers.clear();
  }
}
