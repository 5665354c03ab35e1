import { ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CallContext } from "../../tool/tool.js";
import { cleanLine } from "./clean-text.js";
import type { Connection } from "./connect.js";
import { codeOf, isRefusal, statusOf } from "./connect-errors.js";
import { type CallLimits, RunningCall } from "./running-call.js";
import type { RemoteCalls } from "./tool-value.js";

export interface ServerCallsOptions {
  readonly server: string;
  readonly limits: CallLimits;
  /** The connection to use; waits for one that is being made, and throws when there will be none soon. */
  readonly connection: (context: CallContext) => Connection | Promise<Connection>;
  readonly onAnswer: () => void;
  /** A call was given up: the server may only be slow, or it may hang for good. */
  readonly onSilence: () => void;
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
    const { server, onSilence, onDoubt, onLost } = this.#options;
    if (ToolError.isInstance(thrown)) return thrown;
    const givenUp = at.call.givenUp(server, at.what);
    if (givenUp !== undefined) {
      if (givenUp.code === "timeout") onSilence();
      return givenUp;
    }
    const { error, connection } = readCallError(thrown, { server, what: at.what });
    if (connection === "lost") onLost(at.connection, error.message);
    else if (connection === "unsure") onDoubt();
    return error;
  }
}

const INVALID_PARAMS = -32_602;

/** What a failed request says about the connection it was made on. */
interface CallFailure {
  readonly error: ToolError;
  /** `lost`: connect anew. `unsure`: look whether the server still answers. */
  readonly connection: "fine" | "unsure" | "lost";
}

function readCallError(
  thrown: unknown,
  where: { readonly server: string; readonly what: string },
): CallFailure {
  const { server, what } = where;
  const { message } = describeThrown(thrown);
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED" || message === "Not connected") {
    return {
      connection: "lost",
      error: new ToolError(`MCP server ${server} stopped while ${what} was running`, {
        hint: "It is being started again. Whether the call has done its work is not known: look before you repeat it.",
        cause: thrown,
      }),
    };
  }
  if (isRefusal(thrown)) {
    return {
      connection: "fine",
      error: new ToolError(`MCP server ${server} refused ${what}: ${message}`, {
        code: code === INVALID_PARAMS ? "invalid_arguments" : "failed",
        cause: thrown,
      }),
    };
  }
  if (thrown instanceof Error && thrown.name === "UnauthorizedError") {
    return {
      connection: "lost",
      error: new ToolError(`MCP server ${server} needs a login`, {
        code: "unavailable",
        hint: `Run "hermes mcp login ${server}".`,
        cause: thrown,
      }),
    };
  }
  const isGone = statusOf(thrown) === 404 || codeOf(thrown) !== undefined;
  return {
    connection: isGone ? "lost" : "unsure",
    error: new ToolError(`${what} on MCP server ${server} failed: ${message}`, { cause: thrown }),
  };
}
