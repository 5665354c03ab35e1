/** A map that keeps the `max` entries that were set or asked for last. */
export class LruMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) {
      super.delete(key);
      super.set(key, value);
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
    if (this.size > this.#max) {
      const oldest = this.keys().next();
      if (oldest.done !== true) super.delete(oldest.value);
    }
    return this;
  }
}
