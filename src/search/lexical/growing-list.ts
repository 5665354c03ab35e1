/** Numbers in the order they came, without a box around each. */
export class GrowingInts {
  #items = new Int32Array(1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Int32Array(2 * this.#items.length);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length] = value;
    this.#length += 1;
  }

  toArray(): Int32Array {
    return this.#items.slice(0, this.#length);
  }
}
