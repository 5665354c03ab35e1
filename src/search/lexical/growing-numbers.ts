/** Whole numbers in the order they came, without a box around each. */
export class GrowingInts {
  #items = new Int32Array(4_096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length] = value;
    this.#length += 1;
  }

  /** What came so far; later numbers may or may not show in it. */
  view(): Int32Array {
    return this.#items.subarray(0, this.#length);
  }
}
