import type { TerminalSize } from "../environment.js";

const MARK = 0x1e;
/** No terminal's name is longer. */
const MAX_HEAD_BYTES = 4096;

/**
 * The service gives every terminal the same size and cannot change it, so a program is started by a line that
 * sets the size first and tells the terminal's name, by which it can be changed later.
 */
export function inSizedTerminal(argv: readonly string[], size: TerminalSize): string[] {
  const resized = `stty rows ${size.rows} cols ${size.columns} 2>/dev/null`;
  const script = `${resized}; printf '\\036%s\\036' "$(tty)"; exec "$@"`;
  return ["sh", "-c", script, "sh", ...argv];
}

export function resizeCommand(terminal: string, size: TerminalSize): string[] {
  return ["stty", "-F", terminal, "rows", String(size.rows), "cols", String(size.columns)];
}

/** Takes the terminal's name out of the first bytes of its output. */
export class TerminalStart {
  /** The terminal's name; undefined when the program ended before it was told. */
  readonly shown: Promise<string | undefined>;
  #head: Uint8Array | undefined = new Uint8Array();
  #tell: (name: string | undefined) => void = () => {};

  constructor() {
    this.shown = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  /** The bytes that are the program's own. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#head === undefined) return bytes;
    const head = Buffer.concat([this.#head, bytes]);
    const first = head.indexOf(MARK);
    const second = first === -1 ? -1 : head.indexOf(MARK, first + 1);
    if (second === -1 && head.length < MAX_HEAD_BYTES) {
      this.#head = head;
      return new Uint8Array();
    }
    this.#head = undefined;
    const name = second === -1 ? "" : head.subarray(first + 1, second).toString();
    this.#tell(name.startsWith("/dev/") ? name : undefined);
    return second === -1 ? head : head.subarray(second + 1);
  }

  over(): void {
    this.#tell(undefined);
  }
}
