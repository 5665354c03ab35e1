/** Another process's answer is seen after at most this long. */
const POLL_MS = 200;

/** Waits for answers: woken at once by those given in this process, looking regularly for those of others. */
export class ApprovalWatch {
  readonly #isAnswered: (id: string) => boolean;
  readonly #waiting = new Map<string, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(isAnswered: (id: string) => boolean) {
    this.#isAnswered = isAnswered;
  }

  ids(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** The timer keeps the process alive: a program that only waits for an answer must not end meanwhile. */
  add(id: string, answered: () => void): () => void {
    if (this.#closed) {
      queueMicrotask(answered);
      return () => undefined;
    }
    this.#waiting.set(id, answered);
    this.#timer ??= setInterval(() => this.#look(), POLL_MS);
    return () => this.#remove(id);
  }

  wake(id: string): void {
    const answered = this.#waiting.get(id);
    this.#remove(id);
    answered?.();
  }

  close(): void {
    this.#closed = true;
    for (const id of this.ids()) this.wake(id);
  }

  #look(): void {
    for (const id of this.ids()) {
      try {
        if (this.#isAnswered(id)) this.wake(id);
      } catch {
        // A database that is busy now can be read the next time; the deadline of the question stands.
      }
    }
  }

  #remove(id: string): void {
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
