import type { Writable } from "node:stream";
import { ToolError } from "../../tool/errors.js";

/** A program to start in a session of its own, with exactly these descriptors. */
export interface ChildStart {
  readonly argv: readonly string[];
  /** Absolute. Whether it is there is found out by starting. */
  readonly cwd: string;
  /** All variables it gets, its mark among them. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** Present when it is a shell that reports: one that waits already may take the line instead. */
  readonly line?: ShellLine | undefined;
  /** Nothing to read, these bytes, or what is written to `Child.input` later. */
  readonly input: "nothing" | "open" | { readonly bytes: string | Uint8Array };
  /** Give it a third descriptor, on which it reports. */
  readonly report: boolean;
  /** A descriptor of this process for the child, the next after the report. Closed here in any case. */
  readonly filter?: number | undefined;
  /** Of the launcher, inside of which it runs. */
  readonly boundary?: number | undefined;
  /** Files into which the child writes `0` before anything else, which puts it into groups of the kernel. */
  readonly joinFiles?: readonly string[];
  /** The bytes are only good until the listener returns. */
  onOutput(bytes: Buffer): void;
  /** Standard error apart; together with the output, in order, when left out. */
  onStderr?(bytes: Buffer): void;
}

export interface ShellLine {
  readonly command: string;
  /** Variables that every shell here gets, and what this line's request changes of them. */
  readonly base: Readonly<Record<string, string>>;
  readonly changes: Readonly<Record<string, string | undefined>>;
}

export interface Child {
  /** Also the number of its process group and session. */
  readonly pid: number;
  /** Value of EXEC_MARK that its tree carries. */
  readonly mark: string;
  /** Never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Resolves when nobody holds its output any more. */
  readonly outputEnded: Promise<unknown>;
  /** Present when input is "open". */
  readonly input: Writable | undefined;
  pauseOutput(paused: boolean): void;
  /**
   * Output is not wanted any more. A daemon may still hold the other end and closing ours would kill it at
   * its next line, so it is read into the void without keeping this process alive.
   */
  letGo(): void;
}

/** What came on the descriptor of the report, and the line of text that was put there first. */
export interface RawReport {
  readonly text: string;
  readonly secret: string;
}

export type ChildExit =
  | {
      readonly kind: "exited";
      readonly code: number;
      /** Number of the signal that ended it. */
      readonly signal?: number | undefined;
      readonly report: RawReport;
    }
  | ({ readonly kind: "failed" } & StartFailure)
  /** Whoever started it is gone, so nobody can tell how it ended. */
  | { readonly kind: "lost" };

/** Why a program could not be started. */
export interface StartFailure {
  /** Entering the folder, running the program, or what is needed for both. */
  readonly stage: "folder" | "program" | "resources";
  /** As in `ENOENT`. */
  readonly code: string;
}

/** Starting may also fail later: then `exited` says so. */
export type StartChild = (start: ChildStart) => Promise<Child | StartFailure>;

/** The same with a terminal as its input and output, which becomes its own. */
export type StartInTerminal = (start: {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly boundary?: number | undefined;
  /** See `ChildStart.filter`; whoever asks closes it. */
  readonly filter?: number | undefined;
  readonly path: string;
}) => Promise<Pick<Child, "pid" | "exited"> | StartFailure>;

const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';

/** A program that first puts itself into groups of the kernel, for those who cannot do it on its behalf. */
export function withGroupsJoined(argv: readonly string[], joinFiles: readonly string[]): readonly string[] {
  return joinFiles.length === 0 ? argv : ["/bin/sh", "-c", JOIN, "sh", ...joinFiles, "--", ...argv];
}

export function launcherLost(): ToolError {
  return new ToolError(
    "The helper process that starts commands ended in the middle; how this command ended is not known.",
    {
      code: "unavailable",
      hint: "Something killed it, perhaps because memory ran out. Look at what the command has done, then try again.",
    },
  );
}
