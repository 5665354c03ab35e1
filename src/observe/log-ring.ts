import type { Logger, LogLevel } from "./log.js";

/** One line as it was logged; masked already. */
export interface LogLine {
  /** Grows by one with each line of the process. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
}

const MOST_LINES = 1_000;
const MOST_CHARS = 4_000;
const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** The last lines of this process, whatever level is written elsewhere. */
export class LogRing {
  readonly #listeners = new Set<(line: LogLine) => void>();
  #lines: LogLine[] = [];
  #seq = 0;

  /** A logger that keeps what it is told and passes it on. */
  before(log: Logger): Logger {
    const at = (level: LogLevel) => (message: string) => {
      this.#keep(level, message);
      log[level](message);
    };
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }

  on(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The last lines of this level or a graver one, oldest first; `dropped` when earlier ones are kept no longer. */
  read(query: { readonly level?: LogLevel; readonly limit: number; readonly before?: number | undefined }): {
    readonly lines: readonly LogLine[];
    readonly dropped: boolean;
  } {
    const { level = "debug", limit, before = Number.POSITIVE_INFINITY } = query;
    const found = this.#lines.filter((line) => line.seq < before && ORDER[line.level] >= ORDER[level]);
    return { lines: found.slice(-limit), dropped: this.#seq > this.#lines.length };
  }

  #keep(level: LogLevel, message: string): void {
    this.#seq += 1;
    const text = message.length > MOST_CHARS ? `${message.slice(0, MOST_CHARS)}…` : message;
    const line: LogLine = { seq: this.#seq, at: Date.now(), level, text };
    this.#lines.push(line);
    // Moving the list costs its length, so it is done when much can go at once.
    if (this.#lines.length > MOST_LINES * 2) this.#lines = this.#lines.slice(-MOST_LINES);
    for (const listener of this.#listeners) listener(line);
  }
}
