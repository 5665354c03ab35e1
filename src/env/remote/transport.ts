import type { TerminalSize } from "../environment.js";

/**
 * One way to start programs somewhere else: `docker exec`, an ssh channel, a sandbox of a cloud service.
 * Everything above it (shell lines, time limits, ending trees, files) is the same for all of them and lives
 * in this folder.
 */
export interface Transport {
  /** Connects if needed. Rejects with a ToolError (`unavailable`) that says why and what to do. */
  start(request: TransportStart): Promise<TransportProcess>;
  /** True once everything that was started over it must be taken for lost; the next start connects anew. */
  readonly broken?: boolean;
}

export interface TransportStart {
  /** The program and its arguments, exactly; a transport that goes through a shell quotes them. */
  readonly argv: readonly string[];
  /** All bytes of standard input, or "open" for writing later; empty when left out. */
  readonly stdin?: Uint8Array | string | "open";
  /** Stdout and stderr then both arrive as stdout. */
  readonly pty?: TerminalSize;
  onStdout(bytes: Uint8Array): void;
  onStderr(bytes: Uint8Array): void;
}

export interface TransportProcess {
  /** Resolves when the program is over and its output has arrived; never rejects. */
  readonly ended: Promise<TransportEnd>;
  write(data: string | Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  resize(size: TerminalSize): void;
  pauseOutput(paused: boolean): void;
  /**
   * Lets go although it has not ended, because something there still holds its streams. What still arrives
   * is dropped; `ended` resolves.
   */
  abandon(): void;
}

export type TransportEnd =
  | { readonly exitCode: number }
  /** The connection, the container or the service went away before the program had ended. */
  | { readonly lost: string };
