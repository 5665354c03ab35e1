import type { TerminalSize } from "../environment.js";

/**
 * One way to start programs somewhere else: `docker exec`, an ssh channel, a sandbox of a cloud service.
 * Everything above it (shell lines, time limits, ending trees, files) is the same for all of them and lives
 * in this folder.
 */
export interface Transport {
  /**
   * Connects if needed. Rejects with a ToolError (`unavailable`) that says why and what to do. Many may be
   * asked for at the same time. Programs start in any folder and with the variables of the place itself; folder
   * and variables of a command are set by the layer above.
   */
  start(request: TransportStart): Promise<TransportProcess>;
  /** True once everything that was started over it must be taken for lost; the next start connects anew. */
  readonly broken?: boolean;
}

export interface TransportStart {
  /**
   * The program and its arguments, exactly; a transport that goes through a shell quotes them. At most a few
   * kilobytes, except for long paths: commands and variables travel on standard input.
   */
  readonly argv: readonly string[];
  /**
   * All bytes of standard input (the end of input follows them), or "open" for writing later; empty, and at its
   * end at once, when left out. Text that is not "open" is sent as UTF-8.
   */
  readonly stdin?: Uint8Array | string | "open" | undefined;
  /** Stdout and stderr then both arrive as stdout. */
  readonly pty?: TerminalSize | undefined;
  /**
   * Bytes as they arrive, in order; the two streams apart unless there is a terminal. Never called before
   * `start` was called, may be called before its promise resolves, never after `ended` has resolved. The bytes
   * may be kept by the listener.
   */
  onStdout(bytes: Uint8Array): void;
  onStderr(bytes: Uint8Array): void;
}

export interface TransportProcess {
  /** Resolves when the program is over and its output has arrived; never rejects. */
  readonly ended: Promise<TransportEnd>;
  /** Resolves when the bytes are on their way and more may be given; what a program no longer reads is dropped. */
  write(data: string | Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  resize(size: TerminalSize): void;
  /** Bytes that are already here may still be delivered; no more are taken from the other side while paused. */
  pauseOutput(paused: boolean): void;
  /**
   * Lets go although it has not ended, because something there still holds its streams. What still arrives
   * is dropped; `ended` resolves.
   */
  abandon(): void;
}

export type TransportEnd =
  /** 128+n when signal n ended it; 126 or 127 when the program could not be started. */
  | { readonly exitCode: number }
  /** The connection, the container or the service went away before the program had ended. */
  | { readonly lost: string };
