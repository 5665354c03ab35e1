import type {
  Environment,
  ProcessEnd,
  RunningProcess,
  SpawnRequest,
  Survivor,
  TerminalSize,
} from "../environment.js";
import type { ScreenState } from "../pty/screen.js";

/** How to tell that something started in the background is ready to be used. */
export interface Readiness {
  /** Something accepts connections on this port of the environment's loopback address. */
  readonly port?: number | undefined;
  /** A line of its output matches (RE2 syntax). */
  readonly pattern?: string | undefined;
  /** It is still alive after this many seconds. */
  readonly aliveSeconds?: number | undefined;
  /** How long to wait; 30 s when left out. Everything that is given must come true. */
  readonly timeoutSeconds?: number | undefined;
}

/** What waiting for readiness came to. */
export interface ReadyReport {
  readonly ready: boolean;
  /** Why it counts as ready, or what has not happened. */
  readonly why: string;
}

export interface StartProcess extends Omit<SpawnRequest, "onOutput"> {
  readonly environment: Environment;
  /** As the person or model wrote it, for lists. */
  readonly title: string;
  readonly notifyOnComplete?: boolean | undefined;
  readonly watchPatterns?: readonly string[] | undefined;
  readonly ready?: Readiness | undefined;
  /** Ends the wait for readiness early, and the process with it. */
  readonly signal?: AbortSignal | undefined;
  /** Every byte it prints, besides what is kept. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /** The call that started it. */
  readonly callId?: string | undefined;
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
  readonly endedAt?: number | undefined;
  /** -15 when it was killed on request. */
  readonly exitCode?: number | undefined;
  readonly lost?: string | undefined;
  /** Kept alive when its session ends. */
  readonly handedOff: boolean;
  readonly outputBytes: number;
}

/** One background process as its session uses it. */
export interface TrackedProcess {
  readonly info: ProcessInfo;
  /** Present when readiness was asked for; a process that died meanwhile is never ready. */
  readonly ready: ReadyReport | undefined;
  /** What the caller should know about how it was started. */
  readonly notes: readonly string[];
  readonly ended: Promise<ProcessEnd>;
  /** See `RunningProcess.heldBy`. */
  readonly heldBy: RunningProcess["heldBy"];
  /** Milliseconds since it last printed something, or since it started. */
  readonly quietMs: number;
  /** Text without escape codes; the last characters. */
  tail(chars: number): string;
  /** Lines of what is kept, and how many there are in all. Without an offset, the last ones. */
  lines(range: { readonly offset?: number | undefined; readonly limit: number }): {
    readonly lines: readonly string[];
    readonly total: number;
    /** Earlier output is no longer kept. */
    readonly dropped: boolean;
  };
  /** What is kept of its output, byte by byte, for whoever draws a terminal. */
  bytes(): Buffer;
  /** Told of everything it prints from now on, until it has ended or the returned function is called. */
  listen(listener: (bytes: Uint8Array) => void): () => void;
  /** What a person would see; only of a terminal. */
  screen(): Promise<ScreenState> | undefined;
  write(data: string): Promise<void>;
  closeInput(): Promise<void>;
  resize(size: TerminalSize): void;
  waitsForInput(): Promise<boolean | undefined>;
  kill(): Promise<readonly Survivor[]>;
  /** It outlives its session: a child's goes to the session above, any other lives until the runtime ends. */
  handOff(): void;
  /** What was typed since the last whole command was sent off. Policy judges it together with what is typed next. */
  readonly pendingInput: string;
  /** The whole commands that were typed before that. */
  readonly sentInput: string;
}

/** Something a session wanted to be told about a process of its. */
export interface ProcessNotice {
  readonly process: string;
  readonly session: string;
  readonly kind: "completed" | "matched" | "watch-ended";
  readonly command: string;
  /** One or two sentences. */
  readonly message: string;
  readonly exitCode?: number | undefined;
  /** The end of its output, or the lines that matched. */
  readonly output: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The background processes of one session and of the sessions below it. */
export interface SessionProcesses {
  start(request: StartProcess): Promise<TrackedProcess>;
  list(): readonly ProcessInfo[];
  /** By id or a unique beginning of it; a ToolError (`not_found`) with what there is otherwise. */
  get(id: string): TrackedProcess;
  /** Empty for unknown ids: whoever asks only wants to judge. */
  pendingInput(id: string): string;
  sentInput(id: string): string;
  /** Somebody was told that it has ended: a notice of its end would only repeat that. */
  seenEnd(id: string): void;
  /** What has come up since the last time it was asked; each notice is given once. */
  takeNotices(): readonly ProcessNotice[];
}
