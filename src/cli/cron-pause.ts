import { changeJob, labelOf } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";

export async function run(context: CommandContext, [id = ""]: readonly string[]): Promise<void> {
  await changeJob(context, { change: (jobs) => jobs.pause(id), said: (job) => `${labelOf(job)} is paused` });
}
