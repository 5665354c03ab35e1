import { NameWatch } from "./name-watch.js";
import { putBack, type WatchedName, watchNames } from "./watched-names.js";

const LOOK_EVERY_MS = 250;

export interface UnheldNamesOptions {
  /** Whether a change of this name is no command's doing. */
  readonly isMeant: (path: string) => boolean;
  /** Whether something goes on whose command has ended. */
  readonly leftRunning: () => boolean;
}

/** Start-up files that no mount can hold: looked at while programs run, and taken away when they appear. */
export class UnheldNames {
  readonly #options: UnheldNamesOptions;
  #names: readonly WatchedName[];
  readonly #watch: NameWatch;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #taken: string[] = [];
  #suspicious = false;

  constructor(unheld: readonly string[], options: UnheldNamesOptions) {
    this.#options = options;
    this.#names = watchNames(unheld);
    this.#watch = new NameWatch(unheld);
  }

  enter(): () => void {
    this.#running += 1;
    this.#timer ??= setInterval(() => this.#onTime(), LOOK_EVERY_MS).unref();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
      this.#onTime();
    };
  }

  /** What a command has left running may wait for its end before it writes. */
  #onTime(): void {
    const isOver = this.#running === 0 && !this.#options.leftRunning();
    this.#look();
    if (isOver) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Nothing runs any more. */
  close(): void {
    if (this.#timer !== undefined) this.#look();
    this.#rest();
  }

  taken(): readonly string[] {
    const taken = this.#taken;
    this.#taken = [];
    return taken;
  }

  #look(): void {
    const changed = new Set(this.#watch.changed());
    if (changed.size === 0 && !this.#suspicious) return;
    const meant = (path: string) => changed.has(path) && this.#options.isMeant(path);
    this.#names = this.#names.filter(({ path }) => !meant(path));
    const taken = putBack(this.#names);
    this.#taken.push(...taken.filter((path) => !this.#taken.includes(path)));
    // Whoever makes a name again the moment it is gone has it known as what it was: all are looked at once more.
    this.#suspicious = taken.length > 0;
  }
}
