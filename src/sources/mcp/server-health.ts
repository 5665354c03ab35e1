import { stripControls } from "../../base/visible-text.js";
import { ToolError } from "../../tool/errors.js";
import type { SourceHost, SourceState } from "../types.js";
import { sourceOf } from "./names.js";

export interface Trouble {
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
}

/** How one server is doing; every change is told to whoever listens. */
export class ServerHealth {
  readonly #server: string;
  readonly #host: SourceHost;
  #state: SourceState = "configured";
  #trouble: Trouble = {};
  /** What was last warned of. */
  #warned: string | undefined;
  /** Milliseconds since 1970. */
  nextRetry: number | undefined;

  constructor(server: string, host: SourceHost) {
    this.#server = server;
    this.#host = host;
  }

  get state(): SourceState {
    return this.#state;
  }

  get report(): Trouble & { readonly state: SourceState; readonly next_retry?: number | undefined } {
    return {
      state: this.#state,
      ...this.#trouble,
      next_retry: this.nextRetry,
    };
  }

  become(state: SourceState, trouble: Trouble = {}): void {
    const isNews = state !== this.#state || trouble.reason !== this.#trouble.reason;
    this.#state = state;
    this.#trouble = trouble;
    if (!isNews) return;
    const { reason } = trouble;
    const words = `MCP server ${this.#server} is ${state}${reason === undefined ? "" : `: ${reason}`}`;
    // Each new try fails for the same reason: that is worth one warning, until it works or fails differently.
    const isTrouble = state === "failed" || state === "parked";
    if (isTrouble && reason !== this.#warned) this.#host.log.warn(words);
    else this.#host.log.debug(words);
    if (isTrouble) this.#warned = reason;
    else if (state === "ready" || state === "degraded") this.#warned = undefined;
    this.#host.events.emit({
      type: "source.changed",
      source: sourceOf(this.#server),
      state,
      reason,
      at: Date.now(),
    });
  }

  /** What a call is told that cannot be made. */
  notConnected(): ToolError {
    const { reason = "it has not answered yet", fix = `Run "hermes mcp test ${this.#server}".` } =
      this.#trouble;
    const seconds = this.nextRetry === undefined ? 0 : Math.round((this.nextRetry - Date.now()) / 1000);
    const again = seconds > 0 ? ` It is tried again in ${seconds} s.` : "";
    return new ToolError(`MCP server ${this.#server} is not connected (${this.#state}): ${reason}`, {
      code: "unavailable",
      hint: `${fix}${again}`,
    });
  }
}

export const INITIAL_TRIES = 3;
export const RECONNECT_TRIES = 5;
export const PARKED_MS = 300_000;

const FIRST_MS = 300;
const LONGEST_MS = 60_000;
const GROWTH = 3;

/** How long to wait before the next try: soon at first, then longer, and never in step with others. */
export function retryDelay(failures: number, random: () => number = Math.random): number {
  const step = Math.min(FIRST_MS * GROWTH ** Math.max(0, failures - 1), LONGEST_MS);
  return Math.round(step * (0.75 + random() * 0.25));
}

const KEPT_LINES = 20;
const LONGEST_LINE = 500;

/** The last lines a server wrote to its standard error, readable and without secrets. */
export class StderrLines {
  readonly #redact: (text: string) => string;
  readonly #lines: string[] = [];
  #unfinished = "";

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(chunk: string): void {
    const parts = (this.#unfinished + chunk).split("\n");
    this.#unfinished = (parts.pop() ?? "").slice(0, LONGEST_LINE * 4);
    for (const line of parts.slice(-KEPT_LINES))
      if (line.trim() !== "") this.#lines.push(line.slice(0, LONGEST_LINE * 4));
    this.#lines.splice(0, this.#lines.length - KEPT_LINES);
  }

  /** Cleaned for those who look, and not before: of a flood only the last lines stay. */
  get lines(): readonly string[] {
    return [...this.#lines, this.#unfinished]
      .map((line) => this.#readable(line))
      .filter((line) => line !== "")
      .slice(-KEPT_LINES);
  }

  #readable(raw: string): string {
    const line = stripControls(raw.slice(0, LONGEST_LINE * 4)).replaceAll("\n", " ");
    return this.#redact(line).trim().slice(0, LONGEST_LINE);
  }
}
