/** Numbers in the order they came, without a box around each. */
export class GrowingNumbers<A extends Int32Array | Float32Array> {
  #items: A;
  #length = 0;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#items = make(4_096);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = this.#make(2 * this.#length);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length] = value;
    this.#length += 1;
  }

  /** What came so far; later numbers may or may not show in it. */
  view(): A {
    return this.#items.subarray(0, this.#length) as A;
  }
}

export function growingInts(): GrowingNumbers<Int32Array> {
  return new GrowingNumbers((length) => new Int32Array(length));
}

export function growingFloats(): GrowingNumbers<Float32Array> {
  return new GrowingNumbers((length) => new Float32Array(length));
}
