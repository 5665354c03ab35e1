import { visible } from "../../base/visible-text.js";
import type { EventBus, RuntimeEvent } from "../../observe/events.js";
import { EXIT } from "../errors.js";
import { brief, type Output } from "../output.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const DEFAULT_COLUMNS = 80;
/** Spinner, emoji, blanks and the time. */
const ROOM_FOR_THE_REST = 18;
const SHOW_AFTER_MS = { terminal: 150, plain: 1_000 };

interface Running {
  readonly label: string;
  readonly startedAt: number;
  shown: boolean;
}

/** A live line per running call on a terminal; elsewhere a plain line for calls that take long. */
export class ProgressDisplay {
  readonly #out: Output;
  readonly #live: boolean;
  readonly #running = new Map<string, Running>();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  #frame = 0;
  #drawnLines = 0;
  #paused = false;

  constructor(events: EventBus, out: Output) {
    this.#out = out;
    this.#live = process.stderr.isTTY === true && !out.ascii && process.env.CI === undefined;
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    this.#timer.unref();
    this.#unsubscribe = events.on((event) => this.#track(event));
  }

  /** Nothing is drawn while the terminal belongs to a question. */
  async pausedWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#erase();
    this.#paused = true;
    try {
      return await work();
    } finally {
      this.#paused = false;
    }
  }

  /** What is written stands above the live lines, which are drawn anew. */
  above(write: () => void): true {
    this.#erase();
    write();
    return true;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#erase();
  }

  #draw(): void {
    if (this.#paused) return;
    this.#frame += 1;
    this.#erase();
    for (const call of this.#running.values()) {
      const elapsed = performance.now() - call.startedAt;
      if (elapsed < SHOW_AFTER_MS[this.#live ? "terminal" : "plain"]) continue;
      if (this.#live)
        this.#drawLine(`${FRAMES[this.#frame % FRAMES.length]} ${call.label}  ${seconds(elapsed)}`);
      else if (!call.shown) process.stderr.write(`... ${call.label}\n`);
      call.shown = true;
    }
  }

  #drawLine(line: string): void {
    process.stderr.write(`${line}\n`);
    this.#drawnLines += 1;
  }

  #erase(): void {
    if (this.#drawnLines > 0) process.stderr.write(`\x1b[${this.#drawnLines}A\x1b[J`);
    this.#drawnLines = 0;
  }

  #track(event: RuntimeEvent): void {
    if (event.type === "call.started") {
      const emoji = this.#out.emoji(event.emoji);
      const label = brief(`${visible(event.name)}  ${visible(firstArgument(event.preview))}`, roomForLabel());
      this.#running.set(event.id, {
        label: `${emoji}${label.trimEnd()}`,
        startedAt: performance.now(),
        shown: false,
      });
    }
    if (event.type !== "call.finished") return;
    const call = this.#running.get(event.id);
    this.#running.delete(event.id);
    if (call?.shown !== true) return;
    this.#erase();
    const { exit_code: exitCode = 0 } = event;
    const mark = this.#out.mark(
      !event.ok || exitCode === EXIT.timeout ? "error" : exitCode === 0 ? "ok" : "warning",
    );
    const exit = exitCode === 0 ? "" : `  exit code ${exitCode}`;
    process.stderr.write(`${mark} ${call.label}  ${seconds(event.duration_ms)}${exit}\n`);
  }
}

/** A line that wraps would take two rows, and only one would be erased. */
function roomForLabel(): number {
  return Math.max((process.stderr.columns || DEFAULT_COLUMNS) - ROOM_FOR_THE_REST, 20);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

function firstArgument(preview: string): string {
  return /^\{"[^"]*":"?([^"]*)/.exec(preview)?.[1]?.replace(/\}$/, "") ?? "";
}
