import type { Progress } from "../../tool/tool.js";

/** Between two reports; what comes faster is put together, the last word wins. */
const INTERVAL_MS = 40;
const MESSAGE_CHARS = 500;

export interface ProgressReport {
  /** Percent where the tool says how far it is, otherwise a count of reports. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string | undefined;
}

/** Turns what a tool says of its progress into reports that only ever grow, as the protocol wants them. */
export class ProgressReporter {
  readonly #send: (report: ProgressReport) => void;
  #pending: Progress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #last = -1;
  #percent = false;

  constructor(send: (report: ProgressReport) => void) {
    this.#send = send;
  }

  report(update: Progress): void {
    const before = this.#pending;
    this.#pending = { ...before, ...update, ...joinedChunks(before, update) };
    if (this.#timer !== undefined) return;
    this.#flush();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#pending !== undefined) this.report({});
    }, INTERVAL_MS);
  }

  /** Nothing may be reported after the result. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending !== undefined) this.#flush();
  }

  #flush(): void {
    const { fraction, message, chunk } = this.#pending ?? {};
    this.#pending = undefined;
    const text = (message ?? chunk)?.slice(-MESSAGE_CHARS);
    const position = this.#position(fraction);
    if (position !== undefined) this.#send({ ...position, message: text });
  }

  /** Undefined once it stands at the end: there is no way to grow beyond it. */
  #position(fraction: number | undefined): Pick<ProgressReport, "progress" | "total"> | undefined {
    if (fraction !== undefined && Number.isFinite(fraction)) {
      const percent = Math.min(Math.max(fraction, 0), 1) * 100;
      // From a count to percent there is no way that only grows, unless the count is still small.
      if (percent > this.#last) {
        this.#percent = true;
        this.#last = percent;
        return { progress: percent, total: 100 };
      }
    }
    const next = this.#percent ? this.#last + (100 - this.#last) / 1000 : this.#last + 1;
    if (next <= this.#last) return undefined;
    this.#last = next;
    return this.#percent ? { progress: next, total: 100 } : { progress: next };
  }
}

/** Pieces of output that come between two reports are one piece. */
function joinedChunks(before: Progress | undefined, update: Progress): Pick<Progress, "chunk"> {
  if (before?.chunk === undefined || update.chunk === undefined) return {};
  return { chunk: (before.chunk + update.chunk).slice(-MESSAGE_CHARS) };
}
