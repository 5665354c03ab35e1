import type { Environment, ProcessEnd, SpawnRequest, Survivor, TerminalSize } from "../environment.js";

/** How to tell that something started in the background is ready to be used. */
export interface Readiness {
  /** Something accepts connections on this port of the environment's loopback address. */
  readonly port?: number;
  /** A line of its output matches (RE2 syntax). */
  readonly pattern?: string;
  /** It is still alive after this many seconds. */
  readonly aliveSeconds?: number;
  /** How long to wait for any of it. */
  readonly timeoutSeconds?: number;
}

export interface StartProcess extends Omit<SpawnRequest, "onOutput"> {
  readonly environment: Environment;
  /** As the person or model wrote it, for lists. */
  readonly title: string;
  readonly notifyOnComplete?: boolean;
  readonly watchPatterns?: readonly string[];
  readonly ready?: Readiness;
  /** The call that started it. */
  readonly callId?: string;
}

export type ProcessStatus = "running" | "exited" | "lost";

export interface ProcessInfo {
  readonly id: string;
  readonly session: string;
  readonly command: string;
  readonly cwd: string;
  readonly environment: string;
  readonly pid: number | undefined;
  readonly pty: boolean;
  readonly status: ProcessStatus;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly exitCode?: number;
  readonly lost?: string;
  /** Kept alive when its session ends. */
  readonly handedOff: boolean;
  readonly outputBytes: number;
}

/** One background process as its session uses it. */
export interface TrackedProcess {
  readonly info: ProcessInfo;
  readonly ended: Promise<ProcessEnd>;
  /** Text without escape codes; the last characters. */
  tail(chars: number): string;
  /** Lines of what is kept, and how many there are in all. */
  lines(range: { readonly offset?: number; readonly limit: number }): {
    readonly lines: readonly string[];
    readonly total: number;
    readonly dropped: boolean;
  };
  /** What a person would see; only of a terminal. */
  screen(): Promise<string> | undefined;
  write(data: string): Promise<void>;
  closeInput(): Promise<void>;
  resize(size: TerminalSize): void;
  waitsForInput(): Promise<boolean | undefined>;
  kill(): Promise<readonly Survivor[]>;
  handOff(): void;
  /** What was typed since the last line was sent off. Policy judges it together with what is typed next. */
  readonly pendingInput: string;
}

/** The background processes of one session. */
export interface SessionProcesses {
  start(request: StartProcess): Promise<TrackedProcess>;
  list(): readonly ProcessInfo[];
  /** By id or a unique beginning of it; a ToolError (`not_found`) with what there is otherwise. */
  get(id: string): TrackedProcess;
  /** Empty for unknown ids: whoever asks only wants to judge. */
  pendingInput(id: string): string;
}
