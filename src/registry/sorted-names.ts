/** Above this many new names, sorting anew is quicker than inserting. */
const FEW = 64;

/** The keys of a map in order, kept between questions: with thousands of tools most changes add one. */
export class SortedNames {
  #sorted: readonly string[] = [];
  #known = new Set<string>();

  sorted(names: ReadonlyMap<string, unknown>): readonly string[] {
    const added: string[] = [];
    for (const name of names.keys()) if (!this.#known.has(name)) added.push(name);
    const nothingLeft = this.#known.size + added.length === names.size;
    if (nothingLeft && added.length === 0) return this.#sorted;
    if (nothingLeft && added.length <= FEW) {
      const sorted = [...this.#sorted];
      for (const name of added) sorted.splice(placeOf(name, sorted), 0, name);
      this.#sorted = sorted;
      for (const name of added) this.#known.add(name);
    } else {
      this.#sorted = [...names.keys()].sort();
      this.#known = new Set(this.#sorted);
    }
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
