/** Requests that run calls now. One is stopped when its client goes away, all when the server stops. */
export class RunningRequests {
  readonly #controllers = new Set<AbortController>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#controllers.size;
  }

  async run<Result>(client: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    const stop = () => controller.abort();
    if (client.aborted) stop();
    client.addEventListener("abort", stop, { once: true });
    this.#controllers.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      client.removeEventListener("abort", stop);
      this.#controllers.delete(controller);
      if (this.#controllers.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  abortAll(): void {
    for (const controller of this.#controllers) controller.abort();
  }

  /** Resolves when nothing runs any more, or when the time is up. */
  async idle(withinMs: number): Promise<void> {
    if (this.#controllers.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
      timer = setTimeout(resolve, withinMs);
    });
    clearTimeout(timer);
  }
}
