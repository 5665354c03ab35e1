import type { SandboxReport, Widening } from "./sandbox/types.js";

/**
 * Where tools act. A session lives and dies on one environment; losing it is an error, never a fallback
 * to another one. File and process tools reach the world only through this interface.
 */
export interface Environment {
  /** Name shown in every result, e.g. "local" or "docker:build". */
  readonly name: string;
  readonly kind: "local" | "docker" | "ssh" | "singularity" | "modal" | "daytona";
  readonly files: EnvironmentFiles;
  exec(request: ExecRequest): Promise<ExecResult>;
  close(): Promise<void>;
}

export interface ExecRequest {
  /** Text for `bash -c`, or an argument vector that no shell touches. */
  readonly command: string | readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly stdin?: string | Uint8Array;
  /** Added to the allow-listed child environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Characters of output kept: 40 % head, 60 % tail, the rest counted. */
  readonly maxOutputChars?: number;
  /** Keep stdout and stderr apart (search, git); default merges them as a terminal would. */
  readonly separateStderr?: boolean;
  /** The session's folder, the only one a sandboxed command may change; see `inWorkspace`. */
  readonly workspace?: string;
  /** Opens the sandbox for this one command; only after the policy has let the `sandbox:widen` effect pass. */
  readonly sandbox?: Widening;
  onChunk?(chunk: string): void;
}

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
  /** Working directory after the command, when the environment tracks it. */
  readonly cwd?: string;
  /** What the command left running in its process group when its shell had ended by itself. */
  readonly stillRunning?: readonly { readonly pid: number; readonly command: string }[];
  /** Present when the command ran in a sandbox. */
  readonly sandbox?: SandboxReport;
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
  list(path: string): Promise<readonly { readonly name: string; readonly type: FileStat["type"] }[]>;
  /** Bytes [start, end) of a file; all of them without a range. */
  read(path: string, range?: ReadRange): Promise<Uint8Array>;
  /** Large files in order, without holding them. */
  stream(path: string, range?: Omit<ReadRange, "end">): AsyncIterable<Uint8Array>;
  /**
   * Whole-file atomic replace (temp file, fsync, rename), parents created, mode kept. With `expected`, the
   * write happens only if the file still holds those bytes (undefined = must not exist).
   *
   * What is changed is named by its real path, as `realpath` gives it: here, and for the folders of `remove`
   * and `rename`. A link on the way means that somebody has changed it since, and is refused.
   */
  write(
    path: string,
    data: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ readonly created: boolean; readonly dirsCreated: boolean }>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export interface ReadRange {
  readonly start?: number;
  readonly end?: number;
  /** The path is real, as `realpath` gives it: a link on the way by now is refused. */
  readonly real?: boolean;
}

export interface WriteOptions {
  readonly expected?: { readonly sha256: string | undefined };
}
