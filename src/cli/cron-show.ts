import { visible, visibleWithColours } from "../base/visible-text.js";
import { publicJob } from "../tools/system/cronjob/answer.js";
import { clockTime, painted, withJobs } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

export async function run(context: CommandContext, [id = ""]: readonly string[]): Promise<void> {
  const { out } = context;
  await withJobs(context, async (jobs, runtime) => {
    const job = await jobs.get(id);
    if (out.json) {
      out.value(publicJob(job));
      return;
    }
    const { timezone } = runtime.config.values.cron;
    const { lastRun, toolCall, repeat } = job;
    const fields: [string, string | undefined][] = [
      ["job", `${visible(job.name)} (${job.id})`],
      ["state", painted(out, job.state)],
      ["schedule", `${visible(job.scheduleDisplay)} (${visible(job.schedule)})`],
      ["next run", clockTime(job.nextRunAt, timezone)],
      ["runs", `${job.runs}${repeat === undefined ? "" : ` of ${repeat}`}`],
      ["tool call", toolCall && visible(`${toolCall.name} ${JSON.stringify(toolCall.arguments)}`)],
      ["script", job.script && visibleWithColours(job.script)],
      ["prompt", job.prompt && visibleWithColours(job.prompt)],
      ["deliver", job.deliver],
      ["folder", job.workdir],
      ["environment", job.environment],
      ["profile", job.profile],
      ["toolsets", job.enabledToolsets?.join(", ")],
      ["skills", job.skills.join(", ") || undefined],
      ["context from", job.contextFrom.join(", ") || undefined],
      [
        "last run",
        lastRun &&
          `${painted(out, lastRun.status)} ${clockTime(lastRun.startedAt ?? lastRun.dueAt, timezone)}`,
      ],
      ["came to", lastRun?.summary ? visible(lastRun.summary) : undefined],
      ["output", lastRun?.outputPath],
    ];
    const rows = fields.flatMap(([name, value]) =>
      value === undefined ? [] : [[out.color.dim(name), value]],
    );
    for (const line of table(rows)) out.line(line);
  });
}
