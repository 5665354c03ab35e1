/** Above this many new names, sorting anew is quicker than inserting. */
const FEW = 64;

/** A map whose keys are there in order, kept between questions: with thousands of tools most changes add one. */
export class SortedMap<Value> extends Map<string, Value> {
  #sorted: readonly string[] = [];
  #added: string[] = [];
  #hasLost = false;

  override set(name: string, value: Value): this {
    if (!this.has(name)) this.#added.push(name);
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    const was = super.delete(name);
    this.#hasLost ||= was;
    return was;
  }

  override clear(): void {
    super.clear();
    this.#hasLost = true;
  }

  sortedKeys(): readonly string[] {
    if (this.#hasLost || this.#added.length > FEW) this.#sorted = [...this.keys()].sort();
    else if (this.#added.length > 0) {
      const sorted = [...this.#sorted];
      for (const name of this.#added) sorted.splice(placeOf(name, sorted), 0, name);
      this.#sorted = sorted;
    }
    this.#added = [];
    this.#hasLost = false;
    return this.#sorted;
  }
}

function placeOf(name: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
