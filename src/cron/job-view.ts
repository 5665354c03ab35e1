import { isAbandoned, type JobRow } from "./job-rows.js";
import { scheduleWords, storedSchedule } from "./schedule.js";
import type { Job, JobRun, JobState } from "./types.js";

/** A scheduler is never exactly on time: this much is not late. */
export const ON_TIME_MS = 5_000;

const DAMAGED =
  "what it was to do was damaged on the disk, so that its runs do nothing; remove it and make it again";

/** A job as people and models see it. */
export function jobOf(
  row: JobRow,
  seen: {
    readonly lastRun: JobRun | undefined;
    readonly timezone: string;
    readonly now: number;
    /** Why it would not run now, if its time has come. */
    readonly late?: string | undefined;
  },
): Job {
  const { timezone: _zone, damaged, ...detail } = row.detail;
  const state = stateOf(row, seen);
  return {
    ...detail,
    id: row.id,
    name: row.name,
    schedule: row.schedule,
    scheduleDisplay: wordsOf(row, seen.timezone),
    state,
    createdAt: row.createdAt,
    nextRunAt: row.state === "scheduled" ? row.nextRunAt : undefined,
    late: damaged === true ? DAMAGED : state === "late" ? seen.late : undefined,
    lastRun: seen.lastRun,
    repeat: row.repeat,
    runs: row.runs,
    enabledToolsets: detail.enabledToolsets,
  };
}

function stateOf(
  row: JobRow,
  seen: { readonly lastRun: JobRun | undefined; readonly now: number },
): JobState {
  if (row.owner !== undefined && !isAbandoned(row, seen.now)) return "running";
  if (row.state === "paused") return "paused";
  if (row.state === "scheduled" && row.nextRunAt !== undefined) {
    return row.nextRunAt < seen.now - ON_TIME_MS ? "late" : "scheduled";
  }
  return seen.lastRun?.status === "waiting" ? "waiting" : "finished";
}

/** A schedule that can no longer be read, as after a change of the time zone, is shown as it was written. */
function wordsOf(row: JobRow, timezone: string): string {
  try {
    return scheduleWords(storedSchedule(row), timezone);
  } catch {
    return row.schedule;
  }
}

/** Why a job has to wait for others. */
export function placesTaken(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => JSON.stringify(name));
  return `All ${names.length} places are taken, by ${shown.join(", ")}. It runs when one of them has ended.`;
}
