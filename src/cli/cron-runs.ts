import { visible } from "../base/visible-text.js";
import { failure, HermesError } from "../tool/errors.js";
import { clockTime, painted, publicRun, tookOf, withJobs } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

const MOST_RUNS = 200;

export async function run(
  context: CommandContext,
  [id = ""]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  const asked = Number(options.limit);
  if (!Number.isInteger(asked) || asked < 1) {
    throw new HermesError(
      failure("bad_request", `--limit must be a positive number, not ${JSON.stringify(options.limit)}`),
    );
  }
  const limit = Math.min(asked, MOST_RUNS);
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
