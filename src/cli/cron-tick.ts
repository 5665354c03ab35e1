import { publicRun, withScheduler } from "./cron-jobs.js";
import { sayRun } from "./cron-report.js";
import type { CommandContext } from "./globals.js";

/** Runs what is due at this moment, once, without a server. */
export async function run(context: CommandContext): Promise<void> {
  const { out } = context;
  await withScheduler(context, async (scheduler) => {
    const reports = await scheduler.tick();
    if (out.json) out.values(reports.map(({ job, run }) => ({ name: job.name, ...publicRun(run) })));
    else if (reports.length === 0) out.line("Nothing is due.");
    else for (const report of reports) sayRun(out, report);
  });
}
