import { visible } from "../base/visible-text.js";
import type { Job } from "../cron/types.js";
import { publicJob } from "../tools/system/cronjob/answer.js";
import { clockTime, painted, withJobs } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";
import { brief, type Output, table } from "./output.js";

export async function run(
  context: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  await withJobs(context, async (jobs, runtime) => {
    const all = await jobs.list();
    const shown = options.all === true ? all : all.filter(({ state }) => state !== "finished");
    if (out.json) {
      out.values(shown.map(publicJob));
      return;
    }
    if (shown.length === 0) {
      out.line(all.length === 0 ? "No jobs." : "No jobs are scheduled; those that are finished: --all");
      if (all.length === 0) out.note("Make one: hermes cron add 'every 2h' --script 'git fetch --all'");
      return;
    }
    const { timezone } = runtime.config.values.cron;
    const head = ["id", "name", "state", "next run", "schedule", "last run", "does"];
    for (const line of table([head, ...shown.map((job) => rowOf(job, { out, timezone }))])) out.line(line);
  });
}

function rowOf(
  job: Job,
  { out, timezone }: { readonly out: Output; readonly timezone: string },
): readonly string[] {
  const { lastRun } = job;
  return [
    job.id,
    brief(visible(job.name), 32),
    painted(out, job.state),
    clockTime(job.nextRunAt, timezone),
    brief(visible(job.scheduleDisplay), 40),
    lastRun === undefined
      ? "-"
      : `${painted(out, lastRun.status)} ${clockTime(lastRun.startedAt ?? lastRun.dueAt, timezone)}`,
    brief(visible(job.toolCall?.name ?? job.script ?? job.prompt ?? ""), 48),
  ];
}
