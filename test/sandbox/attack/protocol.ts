import type { Reached } from "./inspect.js";
import type { Furnishing } from "./machine.js";

export interface AttackRow {
  readonly id: string;
  readonly command: string;
  /** How long it goes on after its shell has ended, in milliseconds. */
  readonly after?: number | undefined;
}

/** How a set of rows is run. */
export interface Setting {
  readonly user: "root" | "person";
  readonly furnishing: Furnishing;
  /** False to see what rows reach where nothing holds them. */
  readonly guarded: boolean;
}

export interface WardenOrder extends Setting {
  /** The only folder that can be written. */
  readonly base: string;
  /** Where the bundled programs lie. */
  readonly programs: string;
  readonly timeoutMs: number;
  readonly rows: readonly AttackRow[];
}

/** Said of a row that did not run at all. */
export const NOT_RUN = /could not be (?:made|started)/;

export interface RowResult {
  readonly id: string;
  readonly reached: readonly Reached[];
  readonly exitCode: number;
  readonly timedOut: boolean;
  /** A program was not there, so that the row did less than it says. */
  readonly missing: boolean;
  /** What held it, as the environment reports. */
  readonly level: string | undefined;
  /** It ended the runtime itself; what it reached was looked at all the same. */
  readonly ended: boolean;
  readonly failed?: string | undefined;
  readonly output: string;
}

export interface RunnerSettings {
  readonly hermesHome: string;
  readonly workspace: string;
  readonly timeoutMs: number;
  readonly guarded: boolean;
}

export interface RunnerOrder {
  readonly command: string;
  /** In a new session, with nothing left of the rows before. */
  readonly fresh: boolean;
}

export interface RunnerReady {
  readonly ready: true;
  readonly heldBy: string;
}

export interface RunnerRow {
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly output: string;
  readonly level: string | undefined;
  readonly failed?: string | undefined;
  /** What came over the network. */
  readonly sent: string;
  /** Control sockets that somebody connected to. */
  readonly talked: readonly string[];
}
