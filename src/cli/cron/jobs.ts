import { visible } from "../../base/visible-text.js";
import type { RunReport, Scheduler } from "../../cron/scheduler.js";
import type { Job, JobRun, ScheduledJobs } from "../../cron/types.js";
import { jobsOf } from "../../runtime/jobs.js";
import type { Runtime } from "../../runtime/runtime.js";
import { schedulerFor } from "../../runtime/scheduler.js";
import { ToolError } from "../../tool/errors.js";
import { publicJob, publicRun } from "../../tools/system/cronjob/answer.js";
import { type CommandContext, exitSoon } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import type { Output } from "../output.js";
import { assertPerson } from "../person.js";
import { waitForServers } from "../wait-for-servers.js";

/** The jobs of this home for one command. */
export async function withJobs(
  context: CommandContext,
  work: (jobs: ScheduledJobs, runtime: Runtime) => Promise<void>,
): Promise<void> {
  const runtime = await context.runtime({ wait: false });
  try {
    await work(jobsOf(runtime), runtime);
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    throw commandError(error.code, error.message.replace(/\.$/, ""), hintFor(error.hint));
  } finally {
    await runtime.close();
  }
}

/** A scheduler for one command. Ctrl-C stops what runs and notes how far it came. */
export async function withScheduler(
  context: CommandContext,
  work: (scheduler: Scheduler) => Promise<void>,
): Promise<void> {
  assertPersonChangesJobs();
  await withJobs(context, async (_jobs, runtime) => {
    // A job may call a tool of a server that was never met.
    await waitForServers({ runtime, out: context.out });
    const { promptRunner } = await import("../../agent/job-prompts.js");
    const { scheduler, stop } = await schedulerFor(runtime, { runPrompt: promptRunner(runtime) });
    const interrupt = () => {
      process.exitCode = EXIT.interrupted;
      void scheduler.stop({ finishMs: 0 });
    };
    for (const signal of STOP_SIGNALS) process.once(signal, interrupt);
    try {
      await work(scheduler);
    } finally {
      for (const signal of STOP_SIGNALS) process.removeListener(signal, interrupt);
      await stop();
      exitSoon();
    }
  });
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Hints speak of the tool's actions; here they are commands. */
function hintFor(hint: string | undefined): string | undefined {
  return hint?.replace("Use the action list to see the jobs.", "See what there is: hermes cron list --all");
}

/** A model has the tool cronjob, whose calls are judged; its terminal must not be a way around that. */
function assertPersonChangesJobs(): void {
  assertPerson("Jobs are changed here by a person", "Use the tool cronjob.");
}

/** One command on one job: changes it and says what it is now. */
export async function changeJob(
  context: CommandContext,
  {
    change,
    said,
  }: { readonly change: (jobs: ScheduledJobs) => Promise<Job>; readonly said: (job: Job) => string },
): Promise<void> {
  assertPersonChangesJobs();
  const { out } = context;
  await withJobs(context, async (jobs) => {
    const job = await change(jobs);
    out.result(publicJob(job), `${out.mark("ok")} ${said(job)}`);
  });
}

/** `2026-11-16 09:00:00`, in the time zone of the jobs. */
export function clockTime(at: number | undefined, timezone: string): string {
  if (at === undefined) return "-";
  const zone = timezone === "" ? {} : { timeZone: timezone };
  return new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", ...zone }).format(at);
}

export function labelOf({ id, name }: Pick<Job, "id" | "name">): string {
  return `${visible(name)} (${id})`;
}

export function colouredStatus(out: Output, status: string): string {
  const { color } = out;
  if (status === "ok" || status === "running") return color.green(status);
  return status === "scheduled" || status === "finished" ? status : color.yellow(status);
}

/** How long a run took. */
export function tookOf({ startedAt, endedAt }: JobRun): string {
  return startedAt === undefined || endedAt === undefined
    ? "-"
    : `${((endedAt - startedAt) / 1000).toFixed(1)} s`;
}

/** What one run came to, in a line or two. */
export function printRun(out: Output, { job, run }: RunReport): void {
  const level = run.status === "ok" ? "ok" : run.status === "failed" ? "error" : "warning";
  const summary = run.summary === "" ? run.status : visible(run.summary);
  const text = `${out.mark(level)} ${labelOf(job)} ${tookOf(run)}: ${summary}`;
  out.result({ name: job.name, ...publicRun(run) }, text);
  if (run.outputPath !== undefined) out.line(out.color.dim(`  ${run.outputPath}`));
}
