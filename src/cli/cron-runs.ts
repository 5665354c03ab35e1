import { clockTime, painted, publicRun, tookOf, withJobs } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";
import { visible } from "./visible-text.js";

const MOST_RUNS = 200;

export async function run(
  context: CommandContext,
  [id = ""]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  const asked = Number(options.limit);
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MOST_RUNS) : 20;
  await withJobs(context, async (jobs, runtime) => {
    const runs = await jobs.runs(id, { limit });
    if (out.json) {
      out.values(runs.map(publicRun));
      return;
    }
    if (runs.length === 0) {
      out.line("It has not run yet.");
      return;
    }
    const { timezone } = runtime.config.values.cron;
    const rows = runs.map((run) => [
      clockTime(run.dueAt, timezone),
      run.asked ? "asked" : "schedule",
      painted(out, run.status),
      tookOf(run),
      brief(visible(run.summary), 60),
      run.outputPath ?? "-",
    ]);
    for (const line of table([["due", "by", "outcome", "took", "came to", "output"], ...rows]))
      out.line(line);
  });
}
