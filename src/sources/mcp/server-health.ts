import { ToolError } from "../../tool/errors.js";
import type { SourceHost, SourceState } from "../types.js";
import { sourceOf } from "./names.js";

export interface Why {
  readonly reason?: string;
  readonly fix?: string;
}

/** How one server is doing; every change is told to whoever listens. */
export class ServerHealth {
  readonly #server: string;
  readonly #host: SourceHost;
  #state: SourceState = "configured";
  #why: Why = {};
  /** Milliseconds since 1970. */
  nextRetry: number | undefined;

  constructor(server: string, host: SourceHost) {
    this.#server = server;
    this.#host = host;
  }

  get state(): SourceState {
    return this.#state;
  }

  get report(): Why & { readonly state: SourceState; readonly next_retry?: number } {
    return {
      state: this.#state,
      ...this.#why,
      ...(this.nextRetry !== undefined && { next_retry: this.nextRetry }),
    };
  }

  become(state: SourceState, why: Why = {}): void {
    const isNews = state !== this.#state || why.reason !== this.#why.reason;
    this.#state = state;
    this.#why = why;
    if (!isNews) return;
    const { reason } = why;
    const words = `MCP server ${this.#server} is ${state}${reason === undefined ? "" : `: ${reason}`}`;
    if (state === "failed" || state === "parked") this.#host.log.warn(words);
    else this.#host.log.debug(words);
    this.#host.events.emit({
      type: "source.changed",
      source: sourceOf(this.#server),
      state,
      ...(reason !== undefined && { reason }),
      at: Date.now(),
    });
  }

  /** What a call is told that cannot be made. */
  notConnected(): ToolError {
    const { reason = "it has not answered yet", fix = `Run "hermes mcp test ${this.#server}".` } = this.#why;
    const seconds = this.nextRetry === undefined ? 0 : Math.round((this.nextRetry - Date.now()) / 1000);
    const again = seconds > 0 ? ` It is tried again in ${seconds} s.` : "";
    return new ToolError(`MCP server ${this.#server} is not connected (${this.#state}): ${reason}`, {
      code: "unavailable",
      hint: `${fix}${again}`,
    });
  }
}
