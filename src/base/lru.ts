/** A map that keeps the `max` entries that were set or asked for last. */
export class LruMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;
  /**
   * Goes on from one that leaves to the next: a new one would pass the places of all that have left since the table was last
   * made anew. Given up by whatever else happens, as it keeps alive all tables there have been since its last step.
   */
  #oldestFirst: MapIterator<Key> | undefined;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) {
      super.delete(key);
      super.set(key, value);
      this.#oldestFirst = undefined;
    }
    return value;
  }

  /** Looks without counting as a use, which is quicker. */
  peek(key: Key): Value | undefined {
    return super.get(key);
  }

  override set(key: Key, value: Value): this {
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#max) this.dropOldest();
    else this.#oldestFirst = undefined;
    return this;
  }

  /** Takes out what was neither set nor asked for the longest. */
  dropOldest(): Value | undefined {
    this.#oldestFirst ??= this.keys();
    const { value: oldest, done } = this.#oldestFirst.next();
    if (done === true) {
      // It has come to the end of a map that was empty, and stays there.
      this.#oldestFirst = undefined;
      return this.size === 0 ? undefined : this.dropOldest();
    }
    const dropped = super.get(oldest);
    super.delete(oldest);
    return dropped;
  }
}
