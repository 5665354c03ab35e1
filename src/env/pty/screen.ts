import { setTimeout as delay } from "node:timers/promises";
import type { IBuffer, Terminal } from "@xterm/headless";
import type { TerminalSize } from "../environment.js";

const SCROLLBACK_LINES = 1_000;
/** Takes about 3 ms in the worst case, which is short lines. */
const SLICE_BYTES = 16_384;
/** What waits to be drawn. A flood beyond it scrolls by undrawn; the end of it is what a person would see. */
const MAX_PENDING_BYTES = 524_288;
/** While nobody looks, drawing takes at most a quarter of the event loop. */
const REST_FACTOR = 3;

export interface ScreenOptions {
  /**
   * What the terminal answers when a program asks it something (where its cursor is, for one); to be typed
   * into the program. Only for a screen that has seen everything from the start: old questions are not asked
   * again.
   */
  onReply?(text: string): void;
}

export interface ScreenState {
  /** The lines as a person sees them, without what is empty at their end and below. */
  readonly text: string;
  /** Counted from 1. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** A full-screen program (an editor, a pager) has the screen. */
  readonly fullScreen: boolean;
  /** How arrow keys are to be sent; see `expandKeys`. */
  readonly applicationCursor: boolean;
}

/**
 * What a terminal shows. Bytes are taken at any speed and drawn in small pieces. Nothing makes the program
 * wait: when it prints faster than can be drawn, the oldest bytes are dropped at a line's end, and of those
 * only the switched modes (such as the alternate screen) count. Below half a megabyte per glance everything
 * is drawn.
 */
export class Screen {
  readonly #options: ScreenOptions;
  #size: TerminalSize;
  #opening: Promise<Terminal> | undefined;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Counted since the start; drawn includes what was dropped. */
  #fed = 0;
  #drawn = 0;
  #drawing: Promise<void> | undefined;
  /** Who waits until this much is drawn. */
  #watchers: readonly { readonly wanted: number; seen(): void }[] = [];
  #disposed = false;

  constructor(size: TerminalSize, options: ScreenOptions = {}) {
    this.#size = size;
    this.#options = options;
  }

  feed(bytes: Uint8Array): void {
    if (this.#disposed || bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#fed += bytes.length;
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#dropOldest();
    this.#drawing ??= this.#draw();
  }

  async text(): Promise<string> {
    return (await this.state()).text;
  }

  async state(): Promise<ScreenState> {
    const terminal = await this.#upToDate();
    const { active } = terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < terminal.rows; row += 1) lines.push(lineAt(active, active.baseY + row));
    return {
      text: withoutEmptyEnd(lines).join("\n"),
      cursor: { row: active.cursorY + 1, column: active.cursorX + 1 },
      fullScreen: active.type === "alternate",
      applicationCursor: terminal.modes.applicationCursorKeysMode,
    };
  }

  /** The last lines printed, also those that have scrolled off; long lines are whole again. */
  async scrollback(lines: number): Promise<string> {
    const { normal } = (await this.#upToDate()).buffer;
    const whole: string[] = [];
    for (let row = 0; row < normal.length; row += 1) {
      const goesOn = normal.getLine(row + 1)?.isWrapped === true;
      const text = lineAt(normal, row, !goesOn);
      if (normal.getLine(row)?.isWrapped === true) whole.push((whole.pop() ?? "") + text);
      else whole.push(text);
    }
    return withoutEmptyEnd(whole).slice(-Math.max(1, lines)).join("\n");
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    void this.#opening?.then((terminal) => {
      if (!this.#disposed) terminal.resize(size.columns, size.rows);
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#countDrawn();
    void this.#opening?.then((terminal) => terminal.dispose());
  }

  /** Waits for what was fed until now, not for what comes while it waits. */
  async #upToDate(): Promise<Terminal> {
    const wanted = this.#fed;
    if (this.#drawn < wanted && !this.#disposed) {
      await new Promise<void>((seen) => {
        this.#watchers = [...this.#watchers, { wanted, seen }];
      });
    }
    return this.#open();
  }

  async #draw(): Promise<void> {
    const terminal = await this.#open();
    while (this.#pendingBytes > 0) {
      const slice = this.#take();
      const started = performance.now();
      await new Promise<void>((resolve) => terminal.write(slice, resolve));
      this.#countDrawn();
      if (this.#watchers.length === 0) await delay((performance.now() - started) * REST_FACTOR);
    }
    this.#drawing = undefined;
  }

  #countDrawn(): void {
    this.#drawn = this.#fed - this.#pendingBytes;
    const done = this.#watchers.filter(({ wanted }) => wanted <= this.#drawn);
    this.#watchers = this.#watchers.filter(({ wanted }) => wanted > this.#drawn);
    for (const { seen } of done) seen();
  }

  /** Programs often print in very small pieces; each slice costs a turn of the event loop. */
  #take(): Uint8Array {
    let count = 0;
    let bytes = 0;
    while (count < this.#pending.length && bytes < SLICE_BYTES) bytes += this.#pending[count++]?.length ?? 0;
    const taken = Buffer.concat(this.#pending.splice(0, count));
    const slice = taken.subarray(0, SLICE_BYTES);
    if (slice.length < taken.length) this.#pending.unshift(taken.subarray(SLICE_BYTES));
    this.#pendingBytes -= slice.length;
    return slice;
  }

  #dropOldest(): void {
    const kept = cutToTail(Buffer.concat(this.#pending), MAX_PENDING_BYTES / 2);
    this.#pending = [kept];
    this.#pendingBytes = kept.length;
  }

  #open(): Promise<Terminal> {
    this.#opening ??= import("@xterm/headless").then(({ default: headless }) => {
      const terminal = new headless.Terminal({
        cols: this.#size.columns,
        rows: this.#size.rows,
        scrollback: SCROLLBACK_LINES,
        allowProposedApi: true,
        // It would print remarks on broken sequences into the runtime's own output.
        logLevel: "off",
      });
      const { onReply } = this.#options;
      if (onReply !== undefined) terminal.onData((text) => onReply(text));
      return terminal;
    });
    return this.#opening;
  }
}

function lineAt(buffer: IBuffer, row: number, trimmed = true): string {
  return buffer.getLine(row)?.translateToString(trimmed) ?? "";
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1]?.trim() === "") end -= 1;
  return lines.slice(0, end).map((line) => line.trimEnd());
}

const NEW_LINE = 0x0a;
/** Ends whatever sequence the cut has torn. */
const CANCEL = "\u0018";
const PRIVATE_MODES = /\u001b\[\?([\d;]{1,64})([hl])/g;

/**
 * The last bytes of terminal output, from the beginning of a line, with the modes that the dropped part has
 * switched put in front: without them the rest would be drawn on the wrong screen.
 */
export function cutToTail(bytes: Buffer, keep: number): Buffer {
  if (bytes.length <= keep) return bytes;
  const from = bytes.length - keep;
  const lineEnd = bytes.indexOf(NEW_LINE, from);
  const start = lineEnd === -1 ? from : lineEnd + 1;
  const modes = new Map<string, string>();
  for (const [, numbers = "", direction = ""] of bytes.toString("latin1", 0, start).matchAll(PRIVATE_MODES)) {
    for (const number of numbers.split(";")) modes.set(number, direction);
  }
  const switches = [...modes].map(([number, direction]) => `\u001b[?${number}${direction}`).join("");
  return Buffer.concat([Buffer.from(CANCEL + switches, "latin1"), bytes.subarray(start)]);
}
