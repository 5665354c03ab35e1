/** Counts through a session: what a ref of an earlier page named is never named by it again. */
export class RefNumbers {
  #last = 0;

  next(): string {
    this.#last += 1;
    return `e${this.#last}`;
  }

  wasGiven(ref: string): boolean {
    const number = Number(ref.slice(1));
    return number >= 1 && number <= this.#last;
  }
}

/**
 * The refs of one tab: `e1`, `e2` … in all its frames. The library's own names for elements change their form with frames
 * and documents (`f3e28`); an element keeps its ref for as long as snapshots show it.
 */
export class Refs {
  readonly #numbers: RefNumbers;
  #byName: ReadonlyMap<string, string> = new Map();
  #names: ReadonlyMap<string, string> = new Map();

  constructor(numbers: RefNumbers) {
    this.#numbers = numbers;
  }

  /** For one snapshot. Names that it does not come upon are forgotten when it is `done`. */
  begin(): RefNaming {
    const before = this.#byName;
    const byName = new Map<string, string>();
    return {
      of: (name) => {
        const ref = byName.get(name) ?? before.get(name) ?? this.#numbers.next();
        byName.set(name, ref);
        return ref;
      },
      keep: (name) => {
        const ref = before.get(name);
        if (ref !== undefined) byName.set(name, ref);
      },
      done: () => {
        this.#byName = byName;
        this.#names = new Map([...byName].map(([name, ref]) => [ref, name]));
      },
    };
  }

  /** As the library calls the element; undefined when the last snapshot did not show it. */
  nameOf(ref: string): string | undefined {
    return this.#names.get(ref);
  }

  refOf(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** Some snapshot of this session had it. */
  wasGiven(ref: string): boolean {
    return this.#numbers.wasGiven(ref);
  }
}

export interface RefNaming {
  /** The ref of an element that is shown. */
  of(name: string): string;
  /** It is there, though not shown with a ref this time. */
  keep(name: string): void;
  done(): void;
}
