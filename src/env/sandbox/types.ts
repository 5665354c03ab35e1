import type { Confine } from "../environment.js";
import type { PrivateFolder } from "./private-tmp.js";

/** Descriptor on which bubblewrap finds the filter of system calls. */
export const FILTER_DESCRIPTOR = 4;

/**
 * off: none. guard: commands work as ever, but Hermes' own files, credentials, start-up files and system folders are out
 * of their reach. strict: no network, and nothing but the workspace can be changed. auto: strict where that works, guard elsewhere.
 * required: strict, and no command may leave it.
 */
export type SandboxMode = "off" | "guard" | "auto" | "strict" | "required";

export interface SandboxLimits {
  /** Processes and threads of one command. The kernel does not count those of root. */
  readonly processes: number;
  /** Bytes of the largest file a command may write. */
  readonly fileBytes: number;
  /** Bytes of the private folder for temporary files, which lies in memory. */
  readonly temporaryBytes: number;
  /** Bytes of address space per process; none by default, since many runtimes reserve far more than they use. */
  readonly memoryBytes?: number;
  /** Bytes of memory per process that nobody else can see, whether used or not. */
  readonly dataBytes?: number;
  /** Open files per process. */
  readonly descriptors?: number;
  /** Ended before others when the machine runs out of memory. */
  readonly firstToGo?: boolean;
}

export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** Commands may use the network. */
  readonly network?: boolean;
  /** Folders or files commands may change besides the workspace; `~` is the home folder. */
  readonly writable?: readonly string[];
  /** The workspace of requests that bring none. Without any, nothing but temporary files can be changed. */
  readonly workspace?: string;
  /** Folders that commands must not see, such as Hermes' own. */
  readonly hidden?: readonly string[];
  /** What stays readable inside hidden folders. */
  readonly visible?: readonly string[];
  /** What Hermes itself is made of: commands in the guard do not change it. */
  readonly ownFiles?: readonly string[];
  readonly limits?: Partial<SandboxLimits>;
  /** Where bubblewrap is, when it is not in a system folder. */
  readonly program?: string;
}

/** What one command may do beyond the sandbox; set by a tool after the policy has let it pass. */
export interface Widening {
  readonly network?: boolean | undefined;
  readonly write?: readonly string[];
  /** Make these visible, read-only, wherever they lie. */
  readonly read?: readonly string[];
  /** Run without the sandbox. */
  readonly off?: boolean | undefined;
}

/** A command that is about to start. */
export interface ConfineRequest {
  readonly cwd: string;
  readonly workspace?: string | undefined;
  /** Protected files that it may replace. */
  readonly lifted?: readonly string[] | undefined;
  /** Temporary folders that it shares with other commands; otherwise they are empty. */
  readonly tmp?: readonly PrivateFolder[] | undefined;
  /** Folders it must not see besides those of the settings. */
  readonly hidden?: readonly string[] | undefined;
  /** It is started in a closed network that it shares with other commands. */
  readonly inNetwork?: boolean | undefined;
  /** See `SessionPlace`. */
  readonly visible?: readonly string[] | undefined;
  readonly widening?: Widening | undefined;
  /** Shut in for itself: instead of the workspace, the widening and the settings. */
  readonly confine?: Confine | undefined;
  /** A program that a tool starts by its path, which may lie where commands see nothing. */
  readonly program?: string | undefined;
  /** The environment's own PATH, which no command has changed. */
  readonly path?: string | undefined;
  /** The complete environment of the command. */
  readonly env: Readonly<Record<string, string>>;
}

/** What the sandbox did to a command. */
export interface SandboxReport {
  readonly active: true;
  readonly level: "guard" | "strict";
  /** What the sandbox has probably refused. */
  readonly denied?: "network" | "read" | "write" | "other";
  /** The path that could not be written, when the output names it. */
  readonly deniedPath?: string | undefined;
  /** Of a strict one: whether the command had the network. */
  readonly network?: boolean | undefined;
  /** Programs that still ran when the command ended; they ended with it. */
  readonly ended?: readonly string[];
}

export const DEFAULT_LIMITS: SandboxLimits = {
  processes: 2_048,
  fileBytes: 16 * 1024 ** 3,
  temporaryBytes: 1024 ** 3,
};
