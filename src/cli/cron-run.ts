import { failure, HermesError } from "../tool/errors.js";
import { withScheduler } from "./cron-jobs.js";
import { sayRun } from "./cron-report.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";

/** Runs one job here and now, and waits for it. */
export async function run(context: CommandContext, [id = ""]: readonly string[]): Promise<void> {
  await withScheduler(context, async (scheduler) => {
    const report = await scheduler.runNow(id);
    if (report === undefined) {
      throw new HermesError(
        failure(
          "unavailable",
          "The job is running at this moment",
          "It will run once more when that run has ended.",
        ),
      );
    }
    sayRun(context.out, report);
    if (report.run.status === "failed") process.exitCode ??= EXIT.toolError;
  });
}
