export interface GroupCommitSteps<Item> {
  /** Commits all items at once, or none and throws. */
  write(items: readonly Item[]): void;
  /** Resolves when everything written so far is on the disk. */
  sync(): Promise<void>;
  /** Called once per group whose write or sync failed; returns what its members are told. */
  failed(items: readonly Item[], failure: { readonly written: boolean; readonly error: unknown }): Error;
}

interface Group<Item> {
  readonly items: Item[];
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Collects items while the previous group is on its way to the disk, so that one write and one sync pay for
 * all calls that end at about the same time. Everybody in a group waits for the same promise.
 */
export class GroupCommit<Item> {
  readonly #steps: GroupCommitSteps<Item>;
  #open: Group<Item> | undefined;
  #flushing: Promise<void> | undefined;

  constructor(steps: GroupCommitSteps<Item>) {
    this.#steps = steps;
  }

  add(item: Item): Promise<void> {
    const group = this.#collecting();
    group.items.push(item);
    return group.done;
  }

  /** The promise of the group that is being collected, for an item that is already in it. */
  pending(): Promise<void> {
    return this.#collecting().done;
  }

  /** Waits until nothing is under way; the members of the groups learn about failures themselves. */
  async drain(): Promise<void> {
    while (this.#open !== undefined || this.#flushing !== undefined) {
      await (this.#flushing ?? this.#open?.done.catch(ignore));
    }
  }

  #collecting(): Group<Item> {
    if (this.#open !== undefined) return this.#open;
    this.#open = newGroup();
    if (this.#flushing === undefined) setImmediate(() => this.#flush());
    return this.#open;
  }

  #flush(): void {
    const group = this.#open;
    if (group === undefined || this.#flushing !== undefined) return;
    this.#open = undefined;
    this.#flushing = this.#commit(group).finally(() => {
      this.#flushing = undefined;
      // Members that were just released may add their next item first, in this turn of the loop.
      if (this.#open !== undefined) setImmediate(() => this.#flush());
    });
  }

  async #commit(group: Group<Item>): Promise<void> {
    let written = false;
    try {
      this.#steps.write(group.items);
      written = true;
      await this.#steps.sync();
      group.resolve();
    } catch (error) {
      group.reject(this.#steps.failed(group.items, { written, error }));
    }
  }
}

function newGroup<Item>(): Group<Item> {
  let resolve: () => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const done = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  // A caller that does not wait must not bring the process down when the disk is full.
  done.catch(ignore);
  return { items: [], done, resolve, reject };
}

function ignore(): void {}
