/** How long folders of ended programs may lie around when no request comes along that could remove them. */
const MAX_LYING_MS = 2_000;

/** Folders in the sandbox that nobody needs any more; the next request removes them on its way. */
export class Leftovers {
  readonly #folders = new Set<string>();
  readonly #remove: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(remove: () => void) {
    this.#remove = remove;
  }

  add(folders: readonly string[]): void {
    for (const folder of folders) this.#folders.add(folder);
    if (this.#folders.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#remove();
    }, MAX_LYING_MS);
    this.#timer.unref();
  }

  /** Whoever takes them removes them, or gives them back. */
  take(): readonly string[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = [...this.#folders];
    this.#folders.clear();
    return taken;
  }
}
