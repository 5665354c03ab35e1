import { invalid } from "./check-draft.js";
import { findJob } from "./find-job.js";
import type { JobDetail, JobRow } from "./job-rows.js";
import type { Schedule } from "./schedule.js";
import type { JobDraft } from "./types.js";

export function anchorOf(schedule: Schedule, now: number): number {
  return schedule.kind === "once" ? schedule.at : now;
}

export function isUsedUp({ repeat, runs }: JobRow): boolean {
  return repeat !== undefined && runs >= repeat;
}

export function repeatOf(given: number | undefined, schedule: Schedule): number | undefined {
  if (schedule.kind === "once") {
    if (given === undefined || given === 0 || given === 1) return 1;
    throw invalid(
      `A job at a single time cannot run ${given} times.`,
      'Use a schedule that comes again, such as "every 30m" or "0 9 * * *".',
    );
  }
  return given === 0 ? undefined : given;
}

/** Other work takes the place of what was there; a prompt beside a script, and a script beside a prompt, stays. */
export function withChange(detail: JobDetail, change: Partial<JobDraft>): JobDetail {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  if (change.toolCall !== undefined) return { ...detail, script: undefined, prompt: undefined, ...given };
  if (change.script === undefined && change.prompt === undefined) return { ...detail, ...given };
  return { ...detail, toolCall: undefined, ...given };
}

export function detailOf(draft: Omit<JobDraft, "schedule">, rows: readonly JobRow[]): JobDetail {
  const { toolCall, script, prompt, timeLimit, workdir, workspace, environment, profile, tools } = draft;
  return {
    toolCall,
    script,
    prompt,
    timeLimit,
    noAgent: draft.noAgent === true,
    deliver: draft.deliver ?? "local",
    skills: draft.skills ?? [],
    contextFrom: (draft.contextFrom ?? []).map((job) => findJob(rows, job).id),
    enabledToolsets: draft.enabledToolsets,
    workdir,
    workspace,
    environment,
    profile,
    tools,
  };
}

/** Names find jobs, so two jobs must not share one. */
export function ownName(
  given: string,
  { rows, id }: { readonly rows: readonly JobRow[]; readonly id: string },
): string {
  const name = given.trim();
  const other = rows.find((row) => row.id !== id && row.name.toLowerCase() === name.toLowerCase());
  if (other === undefined) return name;
  throw invalid(
    `There is already a job called ${JSON.stringify(other.name)} (${other.id}).`,
    "Choose another name, or change that job with the action update.",
  );
}

export function freeName(wanted: string, rows: readonly JobRow[]): string {
  const taken = new Set(rows.map(({ name }) => name.toLowerCase()));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted} ${number}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}
