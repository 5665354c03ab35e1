import { ToolError } from "../../tool/errors.js";
import { KEPT_CHARS } from "./output-ring.js";
import type { TrackedProcess } from "./types.js";

export interface ProcessLimits {
  /** Followed at the same time, finished ones included. */
  readonly tracked: number;
  /** How long a finished one can still be looked at. */
  readonly finishedKeptMs: number;
  readonly keepChars: number;
  /** How many processes one session may leave behind. */
  readonly handOffs: number;
}

export const DEFAULT_PROCESS_LIMITS: ProcessLimits = {
  tracked: 64,
  finishedKeptMs: 1_800_000,
  keepChars: KEPT_CHARS,
  handOffs: 3,
};

export function noRoom(limit: number, oldest: readonly TrackedProcess[]): ToolError {
  const names = oldest.map(({ info }) => `${info.id} (${info.command})`).join(", ");
  return new ToolError(`${limit} background processes run already, which is the most there may be.`, {
    code: "over_budget",
    hint: `End one with the process tool and the action kill; the oldest: ${names}. The limit is terminal.max_processes.`,
  });
}

export function tooManyHandOffs(limit: number): ToolError {
  return new ToolError(`A session may hand off ${limit} processes, and this one has.`, {
    code: "over_budget",
    hint: "Kill what is not needed when the session ends.",
  });
}
