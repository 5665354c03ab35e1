import { anyExclude, type EffectKey, keysExclude } from "./effect-keys.js";

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

/** A call that holds its keys or waits for them. Those who wait form a list, in order of arrival. */
interface Place {
  readonly keys: readonly EffectKey[];
  readonly callId: string;
  readonly ancestors: readonly string[];
  /** Who waits for this one, of all that stand in their way. */
  readonly followers: Set<Place>;
  blocker: Place | undefined;
  ahead: Place | undefined;
  behind: Place | undefined;
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
  readonly #holders = new Holders();
  #last: Place | undefined;

  acquire(request: LockRequest): Release | Promise<Release | undefined> {
    const { keys, callId, ancestors, signal } = request;
    const place: Place = {
      keys,
      callId,
      ancestors,
      followers: new Set(),
      blocker: undefined,
      ahead: this.#last,
      behind: undefined,
      admit: () => undefined,
    };
    const release = () => {
      if (this.#holders.delete(place)) this.#left(place);
    };
    place.blocker = this.#blockerOf(place);
    if (place.blocker === undefined) {
      place.ahead = undefined;
      this.#holders.add(place);
      return release;
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        place.blocker?.followers.delete(place);
        this.#leaveQueue(place);
        this.#left(place);
        resolve(undefined);
      };
      place.admit = () => {
        signal?.removeEventListener("abort", giveUp);
        this.#leaveQueue(place);
        this.#holders.add(place);
        resolve(release);
      };
      place.blocker?.followers.add(place);
      if (this.#last !== undefined) this.#last.behind = place;
      this.#last = place;
      signal?.addEventListener("abort", giveUp, { once: true });
      if (signal?.aborted === true) {
        signal.removeEventListener("abort", giveUp);
        giveUp();
      }
    });
  }

  /** Somebody in the way of this call, or nobody. */
  #blockerOf(place: Place): Place | undefined {
    // A nested call must not queue behind strangers who wait for its own parent.
    if (place.ancestors.length === 0) {
      for (let other = place.ahead; other !== undefined; other = other.ahead) {
        if (anyExclude(place.keys, other.keys)) return other;
      }
    }
    return this.#holders.inTheWayOf(place);
  }

  #leaveQueue(place: Place): void {
    if (place.ahead !== undefined) place.ahead.behind = place.behind;
    if (place.behind !== undefined) place.behind.ahead = place.ahead;
    if (this.#last === place) this.#last = place.ahead;
    place.ahead = undefined;
    place.behind = undefined;
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

/** Those who run, by space and by whether they write there: readers need not look at one another. */
class Holders {
  readonly #all = new Set<Place>();
  readonly #readers = new Map<string, Set<Place>>();
  readonly #writers = new Map<string, Set<Place>>();

  add(place: Place): void {
    this.#all.add(place);
    for (const key of place.keys) {
      const spaces = key.write ? this.#writers : this.#readers;
      const places = spaces.get(key.space);
      if (places === undefined) spaces.set(key.space, new Set([place]));
      else places.add(place);
    }
  }

  delete(place: Place): boolean {
    for (const key of place.keys) {
      const spaces = key.write ? this.#writers : this.#readers;
      const places = spaces.get(key.space);
      places?.delete(place);
      if (places?.size === 0) spaces.delete(key.space);
    }
    return this.#all.delete(place);
  }

  inTheWayOf(place: Place): Place | undefined {
    for (const key of place.keys) {
      const found =
        clashing(this.#writers, key, place) ?? (key.write ? clashing(this.#readers, key, place) : undefined);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function clashing(
  spaces: ReadonlyMap<string, ReadonlySet<Place>>,
  key: EffectKey,
  place: Place,
): Place | undefined {
  for (const other of spaces.get(key.space) ?? []) {
    if (place.ancestors.includes(other.callId)) continue;
    if (other.keys.some((held) => keysExclude(key, held))) return other;
  }
  return undefined;
}
