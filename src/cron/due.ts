import type { JobRow } from "./job-rows.js";
import { nextDue, storedSchedule } from "./schedule.js";

/** What is to be done about a job whose time has come. */
export interface DuePlan {
  /** The due time to run for; undefined when all of them are too long ago. */
  readonly dueAt: number | undefined;
  /** The earliest due time that nobody ran, when there is one to tell of. */
  readonly missed: number | undefined;
  readonly nextRunAt: number | undefined;
}

export interface DueRules {
  readonly now: number;
  readonly timezone: string;
  /** A due time is still run for when it is at most this long ago. */
  readonly lateMs: number;
}

/** Of several due times that have passed, the latest is run for, once. */
export function planDue(row: JobRow, rules: DueRules): DuePlan {
  const { now, timezone, lateMs } = rules;
  const schedule = storedSchedule(row);
  const first = row.nextRunAt ?? now;
  const oldest = now - lateMs;
  const next = (after: number) => nextDue(schedule, { after, timezone });
  let dueAt = first >= oldest ? first : next(oldest - 1);
  if (dueAt !== undefined && dueAt > now) dueAt = undefined;
  for (let later = dueAt; later !== undefined && later <= now; later = next(later)) dueAt = later;
  const lastRun = row.repeat !== undefined && row.runs + (dueAt === undefined ? 0 : 1) >= row.repeat;
  // What came due while the job itself was running is left out without a word.
  const tells = dueAt !== first && (row.lastEndedAt === undefined || row.lastEndedAt < first);
  return {
    dueAt,
    missed: tells ? first : undefined,
    nextRunAt: lastRun ? undefined : next(Math.max(now, first)),
  };
}
