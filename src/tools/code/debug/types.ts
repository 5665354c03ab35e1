import type { CallContext } from "../../../tool/tool.js";

/** What is to be debugged; paths are absolute, in the environment. */
export interface DebugPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly breakpoints: readonly Breakpoint[];
  readonly exceptions: ExceptionStops;
  /** Expressions for the innermost frame of each stop. */
  readonly evaluate: readonly string[];
}

/** Where a program is debugged, and what ends it whatever it is doing. */
export interface DebugRoom {
  readonly ctx: CallContext;
  readonly stop: AbortSignal;
}

export type ExceptionStops = "uncaught" | "all" | "none";

export interface Breakpoint {
  readonly file: string;
  readonly line: number;
  readonly condition?: string | undefined;
}

export interface BreakpointReport extends Breakpoint {
  /** False when the debugger has found no code there. */
  readonly verified: boolean;
  /** Where it really stops, when that is not the line that was asked for. */
  readonly actual_line?: number | undefined;
}

export interface Frame {
  readonly function: string;
  readonly file: string;
  readonly line: number;
  /** The line itself. */
  readonly source?: string | undefined;
}

export interface Evaluation {
  readonly expression: string;
  readonly value?: string;
  readonly error?: string | undefined;
}

export interface Stop {
  readonly reason: "breakpoint" | "exception" | "pause" | "timeout";
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly exception?: string | undefined;
  readonly stack: readonly Frame[];
  /** Name → value, written as the language would; long and deep values are cut. */
  readonly locals: Readonly<Record<string, string>>;
  readonly evaluations: readonly Evaluation[];
}

export type DebugEvent =
  | { readonly kind: "stopped"; readonly stop: Stop }
  | { readonly kind: "ended"; readonly exitCode: number | null };

/** A program under a debugger, stopped or running. */
export interface Debuggee {
  readonly breakpoints: readonly BreakpointReport[];
  /** The next stop, or the end; rejects when the debugger itself is lost. */
  next(): Promise<DebugEvent>;
  resume(): Promise<void>;
  /** Asks for a stop wherever it is. */
  pause(): Promise<void>;
  output(): { readonly text: string; readonly truncated: boolean };
  /** Ends the program and everything it has started. */
  end(): Promise<void>;
}

export const LIMITS = {
  frames: 20,
  locals: 50,
  /** Elements of one list, attributes of one object. */
  members: 20,
  valueChars: 500,
  evaluationChars: 2_000,
  sourceChars: 200,
  outputChars: 20_000,
} as const;

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}
