/** What the thread is told when it starts. */
export interface ThreadData {
  /** Where the engine lies; the thread cannot look packages up by itself. */
  readonly corePath: string;
  readonly variantPath: string;
  readonly wasmPath: string;
  readonly prelude: string;
  /** Numbers that both threads see, at the places of `SHARED`. */
  readonly shared: SharedArrayBuffer;
  readonly memoryBytes: number;
}

export const SHARED = {
  /** Anything but 0 ends the running script. */
  stop: 0,
  /** How many messages the thread was sent; whoever sends one rouses a thread that sleeps here. */
  sent: 1,
  bytes: 8,
} as const;

export interface ThreadLimits {
  readonly memoryBytes: number;
  /** Time the script itself may compute; what it waits for is measured outside. */
  readonly computeMs: number;
  readonly maxToolCalls: number;
  readonly maxStdoutChars: number;
  readonly maxStderrChars: number;
}

export interface Order {
  readonly kind: "run";
  readonly code: string;
  /** JSON: the names of the tools, for scripts that want to list them. */
  readonly names: string;
  readonly limits: ThreadLimits;
}

/**
 * A string is the answer to a request: JSON of its number, whether it went well, and the value or error, which only
 * the sandbox parses. Requests and answers are plain strings because nothing else crosses to another thread as quickly.
 */
export type ToThread =
  | string
  | Order
  /** Wakes a script that waits, so that it notices the stop. */
  | { readonly kind: "stop" };

/** A thrown value as the script saw it. */
export interface ScriptFailure {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
}

export type Ending =
  /** `result` is JSON, absent when the script gave nothing back. */
  | { readonly how: "done"; readonly result?: string | undefined }
  | { readonly how: "failed"; readonly error: ScriptFailure }
  | { readonly how: "stopped" }
  | { readonly how: "out_of_time" }
  /** The engine itself gave way; the thread goes on with a new one. */
  | { readonly how: "broken"; readonly reason: string };

export interface Ended {
  readonly kind: "ended";
  readonly ending: Ending;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OutputPiece {
  readonly kind: "output";
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/**
 * A string is a request: a letter (`c`all, `s`earch, `d`escribe), its number, a blank, and JSON. The script wrote
 * it, so nothing about it is known yet.
 */
export type FromThread = string | OutputPiece | Ended;
