import { StringDecoder } from "node:string_decoder";
import type { Canvas } from "./screen.js";

/** Pasted text is marked as such, so that its line breaks are not taken for Enter. */
const PASTE_MARKED = { on: "\x1b[?2004h", off: "\x1b[?2004l" };
const RESUMED_AFTER_MS = 50;
const DEFAULT_SIZE = { columns: 80, rows: 24 };

export interface TerminalEvents {
  typed(text: string): void;
  resized(): void;
  /** Back from the background. */
  resumed(): void;
  /** Whole lines that something else in this process has written to stderr: it would write into the live part. */
  remarked(lines: readonly string[]): void;
}

/**
 * The person's terminal while a chat has it: keys come one by one, and nothing else is switched. However the program
 * ends, the terminal is as it was before.
 */
export class ChatTerminal implements Canvas {
  readonly #events: TerminalEvents;
  #decoder = new StringDecoder("utf8");
  #isOpen = false;
  #remark = "";
  readonly #stderrWrite = process.stderr.write;
  readonly #typed = (bytes: Buffer) => this.#events.typed(this.#decoder.write(bytes));
  readonly #resized = () => this.#events.resized();
  readonly #exit = () => this.close();
  /** Stopped and let go on by somebody else, not by Ctrl-Z. */
  readonly #continued = () => this.#resume();

  constructor(events: TerminalEvents) {
    this.#events = events;
  }

  get columns(): number {
    return process.stdout.columns || DEFAULT_SIZE.columns;
  }

  get rows(): number {
    return process.stdout.rows || DEFAULT_SIZE.rows;
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    process.stdin.setRawMode(true);
    process.stdin.on("data", this.#typed);
    process.stdin.resume();
    process.stdout.on("resize", this.#resized);
    process.on("exit", this.#exit);
    process.on("SIGCONT", this.#continued);
    process.stderr.write = ((text: string | Uint8Array, ...rest: readonly unknown[]) => {
      this.#remarked(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
      const written = rest.at(-1);
      if (typeof written === "function") written();
      return true;
    }) as typeof process.stderr.write;
    this.write(PASTE_MARKED.on);
  }

  /** May be called at any moment, and more than once. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#decoder = new StringDecoder("utf8");
    process.stdin.off("data", this.#typed);
    process.stdin.pause();
    process.stdout.off("resize", this.#resized);
    process.off("exit", this.#exit);
    process.off("SIGCONT", this.#continued);
    process.stderr.write = this.#stderrWrite;
    // Writing to a terminal waits until it is done, also while the process exits.
    this.write(PASTE_MARKED.off);
    process.stdin.setRawMode(false);
  }

  /** Ctrl-Z: the shell gets a terminal as it knows it, and gives it back later. */
  suspend(): void {
    this.close();
    // The whole group, as the terminal itself would: what has started this program waits with it.
    process.kill(0, "SIGTSTP");
    // Runs when the shell lets us go on; at once where there is no shell that could.
    setTimeout(() => this.#resume(), RESUMED_AFTER_MS);
  }

  #remarked(text: string): void {
    const lines = (this.#remark + text).split("\n");
    this.#remark = lines.pop() ?? "";
    if (lines.length > 0) this.#events.remarked(lines);
  }

  /** Whoever had the terminal meanwhile may have left it in any state. */
  #resume(): void {
    this.close();
    this.open();
    this.#events.resumed();
  }
}
