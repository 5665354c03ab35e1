import { columns, mark } from "../../../tool/marked-text.js";
import type { CronAnswer, JobAnswer } from "./answer.js";

/** A table of jobs, or one job line by line. */
export function humanText(out: CronAnswer): string {
  if (out.jobs !== undefined) {
    if (out.jobs.length === 0) return "no jobs";
    const head = ["job", "name", "state", "schedule", "next run", "last run"].map(mark.strong);
    return columns([head, ...out.jobs.map(rowOf)]);
  }
  const { job } = out;
  if (job === undefined) return "";
  const lines = columns([
    [mark.dim("job"), `${job.name} ${mark.dim(job.job_id)}`],
    [mark.dim("schedule"), `${job.schedule_display} ${mark.dim(job.schedule)}`],
    [mark.dim("state"), out.removed === true ? mark.warning("removed") : stateOf(job)],
    ...(out.removed === true ? [] : [[mark.dim("next run"), job.next_run_at ?? "-"]]),
    [mark.dim("does"), workOf(job)],
    ...(job.last_run === undefined ? [] : [[mark.dim("last run"), lastRunOf(job)]]),
  ]);
  return out.note === undefined ? lines : `${lines}\n${mark.warning(out.note)}`;
}

function rowOf(job: JobAnswer): readonly string[] {
  return [job.job_id, job.name, stateOf(job), job.schedule_display, job.next_run_at ?? "-", lastRunOf(job)];
}

function stateOf({ state }: JobAnswer): string {
  if (state === "running") return mark.good(state);
  return state === "scheduled" ? state : mark.warning(state);
}

function lastRunOf({ last_run }: JobAnswer): string {
  if (last_run === undefined) return "-";
  const status = last_run.status === "ok" ? mark.good("ok") : mark.bad(last_run.status);
  return last_run.summary === "" ? status : `${status} ${last_run.summary.slice(0, 80)}`;
}

function workOf({ tool_call, script, prompt }: JobAnswer): string {
  if (tool_call !== undefined) return `${tool_call.name} ${JSON.stringify(tool_call.arguments)}`;
  return [script, prompt].filter((part) => part !== undefined).join(" → ");
}
