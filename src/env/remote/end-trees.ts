import type { Survivor } from "../environment.js";
import { RUNTIME_MARK } from "../local/marks.js";
import { type CollectEnd, collect } from "./run-script.js";
import { END_TREES } from "./scripts.gen.js";
import type { Transport, TransportProcess } from "./transport.js";

/** TERM, a second of grace, KILL for three seconds, and time for the way there and back. */
const ENDING_LIMIT_MS = 20_000;

export interface EndThere {
  readonly transport: Transport;
  /** `NAME=value` of the variables that the trees carry. */
  readonly marks: readonly string[];
  /** Process ids of their wrappers that have certainly not ended yet: a number may soon belong to another. */
  readonly wrappers: readonly number[];
}

/** Ends whole trees there. Answers with what could not be ended, or that the connection is gone. */
export async function endThere(
  request: EndThere,
): Promise<{ readonly survivors: readonly Survivor[] } | { readonly lost: string }> {
  const end: CollectEnd = await collect({
    transport: request.transport,
    argv: ["sh", "-c", END_TREES, "sh", request.wrappers.join(" "), ...request.marks],
    limitMs: ENDING_LIMIT_MS,
  });
  if ("lost" in end) return end;
  const lines = end.stdout.toString().split("\n");
  if (!lines.includes("done")) {
    return {
      lost: `processes could not be ended there (exit code ${end.exitCode}) ${end.stderr.slice(0, 200)}`,
    };
  }
  return {
    survivors: lines.flatMap((line) => {
      const match = /^(\d+) (.*)$/.exec(line);
      return match === null ? [] : [{ pid: Number(match[1]), command: match[2] ?? "?" }];
    }),
  };
}

/**
 * Waits for the end of its input, which comes when this runtime or the connection is gone, and then ends
 * everything of this runtime. Nobody reads its output by then.
 */
const WAIT_FOR_END = "trap '' HUP INT TERM; cat >/dev/null 2>&1; exec >/dev/null 2>&1; ";

/** A runtime that is killed cannot end what it started elsewhere; this program does it in its place. */
export class RuntimeWatcher {
  readonly #transport: Transport;
  readonly #mark: string;
  #holding: Promise<TransportProcess | undefined> | undefined;

  constructor(transport: Transport, mark: string) {
    this.#transport = transport;
    this.#mark = mark;
  }

  /** Starts it unless it is there. A place that cannot run it does without. */
  hold(): void {
    this.#holding ??= this.#start();
  }

  /** Lets it end by itself; everything else must have ended before. */
  async release(): Promise<void> {
    const holding = this.#holding;
    this.#holding = undefined;
    const process = await holding;
    await process?.closeInput();
    process?.abandon();
  }

  async #start(): Promise<TransportProcess | undefined> {
    try {
      const process = await this.#transport.start({
        argv: ["sh", "-c", WAIT_FOR_END + END_TREES, "sh", "", `${RUNTIME_MARK}=${this.#mark}`],
        stdin: "open",
        onStdout: () => undefined,
        onStderr: () => undefined,
      });
      void process.ended.then(() => {
        this.#holding = undefined;
      });
      return process;
    } catch {
      this.#holding = undefined;
      return undefined;
    }
  }
}
