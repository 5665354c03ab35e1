import type { Job, JobRun } from "../../../cron/types.js";

const PREVIEW_CHARS = 200;

export interface LastRunAnswer {
  readonly at: string;
  readonly status: string;
  readonly summary: string;
  readonly output?: string;
}

/** Fields that say nothing are left out. */
export interface JobAnswer {
  readonly job_id: string;
  readonly name: string;
  readonly schedule: string;
  readonly schedule_display: string;
  readonly state: string;
  readonly next_run_at: string | null;
  readonly runs: number;
  readonly repeat?: number;
  readonly tool_call?: Job["toolCall"];
  readonly script?: string;
  readonly prompt?: string;
  readonly no_agent?: true;
  readonly deliver: string;
  readonly skills?: readonly string[];
  readonly context_from?: readonly string[];
  readonly enabled_toolsets?: readonly string[];
  readonly workdir: string;
  readonly environment?: string;
  readonly profile?: string;
  readonly last_run?: LastRunAnswer;
}

export interface CronAnswer {
  readonly success: true;
  readonly status: "success";
  readonly job?: JobAnswer;
  readonly jobs?: readonly JobAnswer[];
  readonly count?: number;
  /** Of run: whether a scheduler has taken it up. */
  readonly started?: boolean;
  readonly removed?: true;
  readonly note?: string;
}

export function jobAnswer(job: Job): CronAnswer & { readonly job: JobAnswer } {
  return { success: true, status: "success", job: publicJob(job) };
}

/** Long texts are cut in a list. */
export function jobsAnswer(jobs: readonly Job[]): CronAnswer {
  const listed = jobs.map((job) => {
    const { script, prompt, ...rest } = publicJob(job);
    return {
      ...rest,
      ...(script !== undefined && { script: cut(script) }),
      ...(prompt !== undefined && { prompt: cut(prompt) }),
    };
  });
  return { success: true, status: "success", jobs: listed, count: listed.length };
}

export function publicJob(job: Job): JobAnswer {
  return {
    job_id: job.id,
    name: job.name,
    schedule: job.schedule,
    schedule_display: job.scheduleDisplay,
    state: job.state,
    next_run_at: job.nextRunAt === undefined ? null : iso(job.nextRunAt),
    runs: job.runs,
    ...(job.repeat !== undefined && { repeat: job.repeat }),
    ...(job.toolCall !== undefined && { tool_call: job.toolCall }),
    ...(job.script !== undefined && { script: job.script }),
    ...(job.prompt !== undefined && { prompt: job.prompt }),
    ...(job.noAgent && { no_agent: true }),
    deliver: job.deliver,
    ...(job.skills.length > 0 && { skills: job.skills }),
    ...(job.contextFrom.length > 0 && { context_from: job.contextFrom }),
    ...(job.enabledToolsets !== undefined && { enabled_toolsets: job.enabledToolsets }),
    workdir: job.workdir,
    ...(job.environment !== undefined && { environment: job.environment }),
    ...(job.profile !== undefined && { profile: job.profile }),
    ...(job.lastRun !== undefined && { last_run: lastRun(job.lastRun) }),
  };
}

function lastRun(run: JobRun): LastRunAnswer {
  return {
    at: iso(run.startedAt ?? run.dueAt),
    status: run.status,
    summary: run.summary,
    ...(run.outputPath !== undefined && { output: run.outputPath }),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function cut(text: string): string {
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS - 1)}…`;
}
