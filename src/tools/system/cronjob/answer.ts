import type { Job, JobRun } from "../../../cron/types.js";

const PREVIEW_CHARS = 200;

export interface LastRunAnswer {
  readonly at: string;
  readonly status: string;
  readonly summary: string;
  readonly output?: string | undefined;
}

/** Fields that say nothing are left out. */
export interface JobAnswer {
  readonly job_id: string;
  readonly name: string;
  readonly schedule: string;
  readonly schedule_display: string;
  readonly state: string;
  readonly next_run_at: string | null;
  /** Why it does not run although its time has come. */
  readonly late?: string | undefined;
  /** Seconds one run may take. */
  readonly time_limit?: number | undefined;
  readonly runs: number;
  readonly repeat?: number | undefined;
  readonly tool_call?: Job["toolCall"] | undefined;
  readonly script?: string | undefined;
  readonly prompt?: string | undefined;
  readonly no_agent?: true | undefined;
  readonly deliver: string;
  readonly skills?: readonly string[] | undefined;
  readonly context_from?: readonly string[] | undefined;
  readonly enabled_toolsets?: readonly string[] | undefined;
  readonly workdir: string;
  readonly environment?: string | undefined;
  readonly profile?: string | undefined;
  readonly last_run?: LastRunAnswer | undefined;
}

export interface CronAnswer {
  readonly success: true;
  readonly status: "success";
  readonly job?: JobAnswer | undefined;
  readonly jobs?: readonly JobAnswer[] | undefined;
  readonly count?: number | undefined;
  /** Of run: whether a scheduler has taken it up. */
  readonly started?: boolean | undefined;
  readonly removed?: true | undefined;
  readonly note?: string | undefined;
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
      script: script === undefined ? undefined : cut(script),
      prompt: prompt === undefined ? undefined : cut(prompt),
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
    late: job.late,
    time_limit: job.timeLimit,
    runs: job.runs,
    repeat: job.repeat,
    tool_call: job.toolCall,
    script: job.script,
    prompt: job.prompt,
    no_agent: job.noAgent || undefined,
    deliver: job.deliver,
    skills: job.skills.length > 0 ? job.skills : undefined,
    context_from: job.contextFrom.length > 0 ? job.contextFrom : undefined,
    enabled_toolsets: job.enabledToolsets,
    workdir: job.workdir,
    environment: job.environment,
    profile: job.profile,
    last_run: job.lastRun && lastRun(job.lastRun),
  };
}

/** What a run came to, as programs see it. */
export function publicRun(run: JobRun) {
  const at = (time: number | undefined) => (time === undefined ? null : iso(time));
  return {
    run_id: run.id,
    job_id: run.jobId,
    status: run.status,
    due_at: at(run.dueAt),
    asked: run.asked,
    started_at: at(run.startedAt),
    ended_at: at(run.endedAt),
    summary: run.summary,
    output: run.outputPath ?? null,
  };
}

function lastRun(run: JobRun): LastRunAnswer {
  return {
    at: iso(run.startedAt ?? run.dueAt),
    status: run.status,
    summary: run.summary,
    output: run.outputPath,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function cut(text: string): string {
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS - 1)}…`;
}
