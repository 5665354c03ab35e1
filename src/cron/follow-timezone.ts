import type { JobRow, JobRows } from "./job-rows.js";
import { isWallTime, nextDue, onceIn, storedSchedule } from "./schedule.js";

/** Empty: that of this machine. */
export function zoneNamed(timezone: string): string {
  return timezone === "" ? new Intl.DateTimeFormat().resolvedOptions().timeZone : timezone;
}

/**
 * Times without a zone of their own, in cron expressions and of single runs, are those of a clock on the wall. When the
 * configured zone, or that of the machine, has changed, the runs to come move with it; what is due already stays due.
 */
export function followTimezone(
  rows: JobRows,
  { timezone, now }: { readonly timezone: string; readonly now: number },
): void {
  const zone = zoneNamed(timezone);
  for (const { id } of rows.list().filter((row) => isElsewhere(row, { zone, now }))) {
    rows.change(id, (row) => {
      const detail = { ...row.detail, timezone: zone };
      // The first look at a job, which was worked out in the zone of today.
      if (!isElsewhere(row, { zone, now }) || row.detail.timezone === undefined) return { detail };
      const anchorAt = row.kind === "once" ? onceIn(row.schedule, timezone) : row.anchorAt;
      if (anchorAt === undefined) return { detail };
      const nextRunAt =
        row.kind === "once" ? anchorAt : nextDue(storedSchedule(row), { after: now, timezone });
      return { detail, anchorAt, nextRunAt };
    });
  }
}

function isElsewhere(row: JobRow, { zone, now }: { readonly zone: string; readonly now: number }): boolean {
  return (
    row.state === "scheduled" &&
    row.owner === undefined &&
    (row.nextRunAt ?? 0) > now &&
    isWallTime(row) &&
    row.detail.timezone !== zone
  );
}
