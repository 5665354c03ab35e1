import { visible, visibleWithColours } from "../../base/visible-text.js";
import type { Job } from "../../cron/types.js";
import { publicJob, publicRun } from "../../tools/system/cronjob/answer.js";
import type { CommandContext } from "../context.js";
import { positiveInteger } from "../input.js";
import { brief, type Output } from "../output.js";
import { clockTime, colouredStatus, tookOf, withJobs } from "./jobs.js";

const HEAD = ["id", "name", "state", "next run", "schedule", "last run", "does"];

export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  await withJobs(context, async (jobs, runtime) => {
    const all = await jobs.list();
    const { timezone } = runtime.config.values.cron;
    out.list({
      rows: options.all === true ? all : all.filter(({ state }) => state !== "finished"),
      asJson: publicJob,
      head: HEAD,
      cells: (job) => cells(job, { out, timezone }),
      empty: all.length === 0 ? "No jobs." : "No jobs are scheduled; those that are finished: --all",
    });
    for (const late of new Set(all.map((job) => job.late))) if (late !== undefined) out.note(`Late: ${late}`);
    if (all.length === 0) out.note("Make one: hermes cron add 'every 2h' --script 'git fetch --all'");
  });
}

function cells(
  job: Job,
  { out, timezone }: { readonly out: Output; readonly timezone: string },
): readonly string[] {
  const { lastRun } = job;
  return [
    job.id,
    brief(visible(job.name), 32),
    colouredStatus(out, job.state),
    clockTime(job.nextRunAt, timezone),
    brief(visible(job.scheduleDisplay), 40),
    lastRun === undefined
      ? "-"
      : `${colouredStatus(out, lastRun.status)} ${clockTime(lastRun.startedAt ?? lastRun.dueAt, timezone)}`,
    brief(visible(job.toolCall?.name ?? job.script ?? job.prompt ?? ""), 48),
  ];
}

export async function show(context: CommandContext): Promise<void> {
  const { out } = context;
  const [id = ""] = context.args;
  await withJobs(context, async (jobs, runtime) => {
    const job = await jobs.get(id);
    if (out.json) return out.value(publicJob(job));
    const { timezone } = runtime.config.values.cron;
    const { lastRun, toolCall, repeat } = job;
    const fields: [string, string | undefined][] = [
      ["job", `${visible(job.name)} (${job.id})`],
      ["state", colouredStatus(out, job.state)],
      ["schedule", `${visible(job.scheduleDisplay)} (${visible(job.schedule)})`],
      ["next run", clockTime(job.nextRunAt, timezone)],
      ["late", job.late],
      ["time limit", job.timeLimit === undefined ? undefined : `${job.timeLimit} s`],
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
          `${colouredStatus(out, lastRun.status)} ${clockTime(lastRun.startedAt ?? lastRun.dueAt, timezone)}`,
      ],
      ["came to", lastRun?.summary ? visible(lastRun.summary) : undefined],
      ["output", lastRun?.outputPath],
    ];
    out.table(fields.flatMap(([name, value]) => (value === undefined ? [] : [[out.color.dim(name), value]])));
  });
}

const MOST_RUNS = 200;

export async function runs(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const [id = ""] = context.args;
  const limit = Math.min(positiveInteger(options.limit, "--limit"), MOST_RUNS);
  await withJobs(context, async (jobs, runtime) => {
    const { timezone } = runtime.config.values.cron;
    out.list({
      rows: await jobs.runs(id, { limit }),
      asJson: publicRun,
      head: ["due", "by", "outcome", "took", "came to", "output"],
      cells: (run) => [
        clockTime(run.dueAt, timezone),
        run.asked ? "asked" : "schedule",
        colouredStatus(out, run.status),
        tookOf(run),
        brief(visible(run.summary), 60),
        run.outputPath ?? "-",
      ],
      empty: "It has not run yet.",
    });
  });
}
