import { isAbandoned, type JobRow } from "./job-rows.js";
import { scheduleWords, storedSchedule } from "./schedule.js";
import type { Job, JobRun, JobState } from "./types.js";

/** A job as people and models see it. */
export function jobOf(
  row: JobRow,
  seen: { readonly lastRun: JobRun | undefined; readonly timezone: string; readonly now: number },
): Job {
  const { detail } = row;
  return {
    ...detail,
    id: row.id,
    name: row.name,
    schedule: row.schedule,
    scheduleDisplay: wordsOf(row, seen.timezone),
    state: stateOf(row, seen),
    createdAt: row.createdAt,
    nextRunAt: row.state === "scheduled" ? row.nextRunAt : undefined,
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
  if (row.state === "scheduled" && row.nextRunAt !== undefined) return "scheduled";
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
