import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { readCallError } from "./call-errors.js";
import { cleanLine } from "./clean-text.js";
import type { Connection } from "./connect.js";
import { type CallLimits, RunningCall } from "./running-call.js";
import type { RemoteCalls } from "./tool-value.js";

export interface ServerCallsOptions {
  readonly server: string;
  readonly limits: CallLimits;
  /** The connection to use; waits for one that is being made, and throws when there will be none soon. */
  readonly connection: (context: CallContext) => Connection | Promise<Connection>;
  readonly onAnswer: () => void;
  /** Whether the server still answers should be looked into. */
  readonly onDoubt: () => void;
  readonly onLost: (connection: Connection, how: string) => void;
}

/** The calls that run on one server. */
export class ServerCalls implements RemoteCalls {
  readonly running = new Set<RunningCall>();
  readonly #options: ServerCallsOptions;
  readonly #idle = new Set<() => void>();

  constructor(options: ServerCallsOptions) {
    this.#options = options;
  }

  async run<Result>(request: Parameters<RemoteCalls["run"]>[0]): Promise<Result> {
    const found = this.#options.connection(request.context);
    const connection = found instanceof Promise ? await found : found;
    request.before?.();
    const call = new RunningCall(request.context, this.#options.limits);
    this.running.add(call);
    try {
      const result = await request.work(connection, call);
      this.#options.onAnswer();
      return result as Result;
    } catch (thrown) {
      throw this.#explain(thrown, { call, connection, what: cleanLine(request.what, 100) });
    } finally {
      this.running.delete(call);
      call.end();
      if (this.running.size === 0 && this.#idle.size > 0) this.#tellIdle();
    }
  }

  /** Resolves when no call runs. */
  idle(): Promise<void> {
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  #tellIdle(): void {
    for (const tell of this.#idle) tell();
    this.#idle.clear();
  }

  #explain(
    thrown: unknown,
    at: { readonly call: RunningCall; readonly connection: Connection; readonly what: string },
  ): unknown {
    const { server, onDoubt, onLost } = this.#options;
    if (ToolError.isInstance(thrown)) return thrown;
    const givenUp = at.call.givenUp(server, at.what);
    if (givenUp !== undefined) {
      // It may only be slow, or it may hang for good.
      if (givenUp.code === "timeout") onDoubt();
      return givenUp;
    }
    const { error, connection } = readCallError(thrown, { server, what: at.what });
    if (connection === "lost") onLost(at.connection, error.message);
    else if (connection === "unsure") onDoubt();
    return error;
  }
}
