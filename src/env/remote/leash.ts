import { RUNTIME_MARK } from "../local/marks.js";
import { END_SCRIPT } from "./end-there.js";
import type { Transport, TransportProcess } from "./transport.js";

/**
 * Waits for the end of its input, which comes when this runtime or the connection is gone, and then ends
 * everything of this runtime. Nobody reads its output by then.
 */
const WATCH = `trap '' HUP INT TERM; cat >/dev/null 2>&1; exec >/dev/null 2>&1; `;

/** A runtime that is killed cannot end what it started elsewhere; this program does it in its place. */
export class Leash {
  readonly #transport: Transport;
  readonly #mark: string;
  #holding: Promise<TransportProcess | undefined> | undefined;

  constructor(transport: Transport, mark: string) {
    this.#transport = transport;
    this.#mark = mark;
  }

  /** Starts it unless it is there. A place that cannot run it does without. */
  hold(): void {
    this.#holding ??= this.#start();
  }

  /** Lets it end by itself; everything else must have ended before. */
  async release(): Promise<void> {
    const holding = this.#holding;
    this.#holding = undefined;
    const process = await holding;
    await process?.closeInput();
    process?.abandon();
  }

  async #start(): Promise<TransportProcess | undefined> {
    try {
      const process = await this.#transport.start({
        argv: ["sh", "-c", WATCH + END_SCRIPT, "sh", "", `${RUNTIME_MARK}=${this.#mark}`],
        stdin: "open",
        onStdout: () => undefined,
        onStderr: () => undefined,
      });
      void process.ended.then(() => {
        this.#holding = undefined;
      });
      return process;
    } catch {
      this.#holding = undefined;
      return undefined;
    }
  }
}
