import { publicRun } from "../../tools/system/cronjob/answer.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { printRun, withScheduler } from "./jobs.js";

/** Runs one job here and now, and waits for it. */
export async function run(context: CommandContext): Promise<void> {
  const [id = ""] = context.args;
  await withScheduler(context, async (scheduler) => {
    const report = await scheduler.runNow(id);
    if (report === undefined) {
      throw commandError(
        "unavailable",
        "The job is running at this moment",
        "It will run once more when that run has ended.",
      );
    }
    printRun(context.out, report);
    if (report.run.status === "failed") process.exitCode ??= EXIT.toolError;
  });
}

/** Runs what is due at this moment, once, without a server. */
export async function tick(context: CommandContext): Promise<void> {
  const { out } = context;
  await withScheduler(context, async (scheduler) => {
    const reports = await scheduler.tick();
    if (out.json) out.values(reports.map(({ job, run }) => ({ name: job.name, ...publicRun(run) })));
    else if (reports.length === 0) out.line("Nothing is due.");
    else for (const report of reports) printRun(out, report);
  });
}
