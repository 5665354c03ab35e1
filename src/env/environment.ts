import type { ENVIRONMENT_KINDS } from "../config/environment-settings.gen.js";
import type { SandboxReport, Widening } from "./sandbox/types.js";

/**
 * Where tools act. A session lives and dies on one environment; losing it is an error, never a fallback
 * to another one. File and process tools reach the world only through this interface.
 */
export interface Environment {
  /** Name shown in every result, e.g. "local" or "docker". */
  readonly name: string;
  readonly kind: EnvironmentKind;
  readonly files: EnvironmentFiles;
  /** The files as the programs of one session see them, where that is not as everybody does. */
  filesOf?: ((session: SessionPlace & { readonly workspace: string }) => EnvironmentFiles) | undefined;
  /** A session is over: what it had here for itself can go. */
  endSession?: ((session: string) => void) | undefined;
  /** Programs may have a network that is not this machine's; whether a port is open is then asked in there. */
  readonly ownNetwork?: boolean | undefined;
  /** It heeds `ExecRequest.ready`. Where it does not, a command is handed over when its time has come. */
  readonly waitsForReady?: boolean | undefined;
  /** Runs one command to its end. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Starts a program that goes on by itself: in the background, or in a terminal. */
  spawn(request: SpawnRequest): Promise<RunningProcess>;
  /** Copies a file or a whole folder from here to this machine. */
  fetch(transfer: Transfer): Promise<TransferReport>;
  /** Copies a file or a whole folder of this machine to here. */
  push(transfer: Transfer): Promise<TransferReport>;
  /** Keeps the file system as it is now; only where the service behind it can. */
  snapshot?: (() => Promise<{ readonly id: string }>) | undefined;
  /**
   * Stops what costs something while nobody uses it; the next use starts it again with its files as they were,
   * temporary ones excepted. Left out where there is nothing to stop, or where more would be lost.
   */
  suspend?: (() => Promise<void>) | undefined;
  /** What it is, where it is, and whether it works; connects when it has to. */
  describe(): Promise<EnvironmentDescription>;
  /** Ends everything that was started here and leaves nothing behind that is not meant to last. */
  close(): Promise<void>;
}

export type BuiltinEnvironment = (typeof ENVIRONMENT_KINDS)[number];

/** An environment of a plugin is one elsewhere, unless it says "local" because its files are this machine's. */
export type EnvironmentKind = BuiltinEnvironment | "plugin";

/** Where a program runs and what it gets; shared by everything that starts one. */
export interface ProgramRequest {
  /** Text for a shell (`bash -c`; `sh` where there is no bash), or an argument vector that no shell touches. */
  readonly command: string | readonly string[];
  readonly cwd: string;
  /** On top of the environment's own variables; an undefined value takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The session's folder, the only one a sandboxed command may change; see `inTask`. */
  readonly workspace?: string | undefined;
  /** Whose program it is; see `inTask`. */
  readonly session?: SessionPlace | undefined;
  /** Opens the sandbox for this one command; only after the policy has let the `sandbox:widen` effect pass. */
  readonly sandbox?: Widening | undefined;
  /** Shuts this one program in, whatever the settings of the sandbox are; environments elsewhere ignore it. */
  readonly confine?: Confine | undefined;
}

/** What the programs of one session have for themselves. */
export interface SessionPlace {
  readonly id: string;
  /** Its own among Hermes' files: what they may read of what is hidden from them. */
  readonly visible: readonly string[];
}

/** A sandbox for code that nobody has read: it changes nothing and reaches nobody unless it is named here. */
export interface Confine {
  /** `auto`: without a sandbox where none works. `required`: then refuse (`unavailable`). */
  readonly mode: "auto" | "required";
  readonly network: boolean;
  /** Folders it may change. */
  readonly writable: readonly string[];
  readonly memoryBytes: number;
  /** Processes and threads, all together. */
  readonly processes: number;
}

export interface ExecRequest extends ProgramRequest {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The program is not started before this, and never when it rejects. */
  readonly ready?: Promise<unknown> | undefined;
  /** Standard input; empty when left out. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Characters of output kept: 40 % head, 60 % tail, the rest counted. */
  readonly maxOutputChars?: number | undefined;
  /** Keep stdout and stderr apart (search, git); default merges them as a terminal would. */
  readonly separateStderr?: boolean | undefined;
  onChunk?(chunk: string): void;
}

/** A lost connection is an error (`unavailable`), never a result. */
export interface ExecResult {
  readonly output: string;
  readonly stderr: string;
  /** 124 on timeout, 130 when cancelled, 128+n when killed by signal n. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  readonly totalBytes: number;
  readonly durationMs: number;
  /** Working directory after the command, when its shell could still tell. */
  readonly cwd?: string | undefined;
  /**
   * What the shell exported in the end where that differs from the environment's own variables, in the form
   * `ProgramRequest.env` takes; absent when the shell could not tell, and for argument vectors.
   */
  readonly exported?: Readonly<Record<string, string | undefined>> | undefined;
  /** What the command left running in its process group when its shell had ended by itself. */
  readonly stillRunning?: readonly { readonly pid: number; readonly command: string }[] | undefined;
  /** Present when the command ran in a sandbox. */
  readonly sandbox?: SandboxReport | undefined;
  /** Why nothing held the command back although something should have: in words, with what to do. */
  readonly unguarded?: string | undefined;
  /** What shut it in, when `confine` was asked for and something did. */
  readonly confinedBy?: string | undefined;
  /** Limits of `confine` that the kernel had to enforce, where it tells. */
  readonly reached?: readonly ("memory" | "processes")[] | undefined;
}

/** What is known of a program that has ended; of one that still runs, as if it had ended well. */
export type SeenEnd = Pick<ExecResult, "output" | "stderr" | "exitCode" | "timedOut" | "cancelled">;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface SpawnRequest extends ProgramRequest {
  /** Give it a terminal of this size; otherwise pipes, with stdout and stderr merged. */
  readonly pty?: TerminalSize | undefined;
  /** Every byte it prints, in order. What the listener throws is ignored. */
  onOutput(bytes: Uint8Array): void;
}

/** A program that was started and not awaited. Its whole tree belongs to it, whatever forked or changed session. */
export interface RunningProcess {
  /** In the environment, which need not be this machine. */
  readonly pid: number | undefined;
  /** Value of HERMES_EXEC_ID that everything it starts carries, so that it can be found after a crash. */
  readonly mark: string;
  readonly pty: boolean;
  /** What shuts it in, when something does: "bubblewrap". */
  readonly confinedBy?: string | undefined;
  /** The boundary around it, going by what has been seen of it; left out where programs have none. */
  readonly heldBy?: ((seen: SeenEnd) => Pick<ExecResult, "sandbox" | "unguarded">) | undefined;
  /** Resolves when it has ended and its output has arrived; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  write(data: string | Uint8Array): Promise<void>;
  /** End of input: closes the pipe; in a terminal, types the end-of-file character. */
  closeInput(): Promise<void>;
  /** Only in a terminal. */
  resize(size: TerminalSize): void;
  /** Stops and goes on reading its output, which makes the program wait. */
  pauseOutput(paused: boolean): void;
  /** True when it waits for input, false when it does not, undefined where that cannot be seen. */
  waitsForInput(): Promise<boolean | undefined>;
  /** Ends the whole tree, gently first. Answers with what could not be ended. */
  end(): Promise<readonly Survivor[]>;
}

export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

export interface ProcessEnd {
  readonly exitCode: number;
  /** Why it is not known how it ended: the connection or the environment was lost. */
  readonly lost?: string | undefined;
  /** Limits of `confine` that the kernel had to enforce, where it tells. */
  readonly reached?: ExecResult["reached"] | undefined;
}

export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly signal?: AbortSignal | undefined;
}

export interface TransferReport {
  readonly files: number;
  readonly bytes: number;
}

export interface EnvironmentDescription {
  readonly name: string;
  readonly kind: EnvironmentKind;
  readonly ok: boolean;
  /** Why it does not work, and what to do. */
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  /** Where commands start when nothing else is said. */
  readonly cwd?: string | undefined;
  readonly home?: string | undefined;
  /** Facts worth showing, e.g. `image: debian:12`, `user: root`, `isolation: bubblewrap`. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface FileStat {
  readonly type: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly inode: string;
}

export interface EnvironmentFiles {
  /** Absolute, `~` expanded, relative to `cwd`; symlinks are not resolved. */
  resolve(path: string, cwd: string): string;
  /** Real path of the deepest existing ancestor plus the rest. */
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<FileStat | undefined>;
  /** With `details` also what is known of each entry without asking again; environments may leave that out. */
  list(path: string, options?: { readonly details?: boolean }): Promise<readonly FolderEntry[]>;
  /**
   * Stat and, of a file with at most `maxBytes`, the content, in one question; undefined when nothing is there. Left out
   * where asking twice costs nothing.
   */
  look?(path: string, options: { readonly maxBytes: number }): Promise<FileLook | undefined>;
  /** The same files for one call: what it has asked for is given up when the signal comes. Left out where nothing waits. */
  until?(signal: AbortSignal): EnvironmentFiles;
  /** Bytes [start, end) of a file; all of them without a range. */
  read(path: string, range?: ReadRange): Promise<Uint8Array>;
  /** Large files in order, without holding them. */
  stream(path: string, range?: StreamRange): AsyncIterable<Uint8Array>;
  /**
   * Whole-file atomic replace (temp file, fsync, rename), parents created, mode kept. With `expected`, the
   * write happens only if the file still holds those bytes (undefined = must not exist).
   *
   * What is changed is named by its real path, as `realpath` gives it: here, and for the folders of `remove`
   * and `rename`. A link on the way means that somebody has changed it since, and is refused.
   */
  write(path: string, data: Uint8Array, options?: WriteOptions): Promise<WriteReport>;
  /**
   * The same, begun before it may happen: the bytes are put on the disk beside the file meanwhile, and nothing that
   * has a name of its own changes until `ready` resolves. Left out where that cannot be done; callers then wait.
   */
  writeWhenReady?(
    path: string,
    data: Uint8Array,
    options: WriteOptions & { readonly ready: Promise<unknown> },
  ): Promise<WriteReport>;
  /**
   * Keeps a file as it is now under a name of this machine, without copying where that is possible; it does not
   * change with what is put in the file's place later. Left out where only reading and copying does that.
   */
  keepAside?(path: string, copy: string): Promise<void>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /**
   * Tells of changes below a folder, or of one file, until the signal ends it. Environments that cannot be
   * told look again and again.
   */
  watch(path: string, options: WatchOptions): AsyncIterable<FileChange>;
}

export interface FolderEntry {
  readonly name: string;
  readonly type: FileStat["type"];
  readonly stat?: FileStat | undefined;
  /** Real path of what a link leads to. */
  readonly target?: string | undefined;
}

export interface FileLook {
  readonly stat: FileStat;
  readonly bytes?: Uint8Array | undefined;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly recursive?: boolean | undefined;
  /** Told once, when everything that happens from now on will be seen. */
  onReady?(): void;
}

export interface FileChange {
  readonly path: string;
  readonly change: "created" | "changed" | "removed";
}

export interface ReadRange {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The path is real, as `realpath` gives it: a link on the way by now is refused. */
  readonly real?: boolean | undefined;
}

export interface StreamRange extends Omit<ReadRange, "end"> {
  /**
   * Memory to read the pieces into, in turn: a piece is overwritten when as many more have been asked for. It
   * spares a long read the collecting of a thousand pieces. Environments elsewhere use memory of their own.
   */
  readonly into?: readonly Uint8Array[] | undefined;
}

export interface WriteReport {
  readonly created: boolean;
  readonly dirsCreated: boolean;
  /** The file that was put in place, where that can be told and it was found there untouched after all was done. */
  readonly stat?: FileStat | undefined;
}

export interface WriteOptions {
  readonly expected?: { readonly sha256: string | undefined } | undefined;
  /** Permission bits; without them a replaced file keeps its own and a new one gets the usual. */
  readonly mode?: number | undefined;
}
