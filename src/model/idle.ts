import { ModelError } from "./model-client.js";

/**
 * A stream can die with its socket open. Aborts when no byte has come for a while: `signal` goes with the request, each
 * byte is a `beat`, and `reason` tells afterwards whether it was this.
 */
export class IdleWatch {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.beat();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined while bytes come. */
  get reason(): ModelError | undefined {
    return this.signal.aborted ? (this.signal.reason as ModelError) : undefined;
  }

  beat(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else if (this.#ms > 0)
      this.#timer = setTimeout(() => {
        const seconds = this.#ms / 1_000;
        this.#controller.abort(
          new ModelError("broken_off", `nothing came from the model's server for ${seconds} s`),
        );
      }, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
