/**
 * What a scheduled job does when its time has come: a tool call, a script, or a prompt. A script together with a
 * prompt gathers what the prompt works on.
 */
export interface JobWork {
  /** One call through the whole path, in a session of the door "cron". */
  readonly toolCall?:
    | { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
    | undefined;
  /** A command line, or a file below the scripts folder of the Hermes home; run through the terminal tool. */
  readonly script?: string | undefined;
  /** For an agent; kept and shown, and run once there is one. */
  readonly prompt?: string | undefined;
  /** Seconds one run may take, waiting for a person not counted; `cron.time_limit_seconds` when left out. */
  readonly timeLimit?: number | undefined;
}

/**
 * `late`: its time has come and it does not run, see `late` of the job. `waiting`: its time has come, and there is no
 * agent yet for its prompt.
 */
export type JobState = "scheduled" | "late" | "running" | "paused" | "waiting" | "finished";

/**
 * `missed`: nobody ran it in time. `unknown`: the process that ran it died, and what it did is not known.
 * `waiting`: an agent is to run it, and there is none yet.
 */
export type RunStatus = "running" | "ok" | "failed" | "missed" | "unknown" | "waiting";

/** One due time of a job and what became of it. Times are milliseconds since 1970. */
export interface JobRun {
  readonly id: string;
  readonly jobId: string;
  readonly dueAt: number;
  /** True when somebody asked for it, instead of the schedule. */
  readonly asked: boolean;
  readonly status: RunStatus;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly summary: string;
  /** The file that holds its whole output. */
  readonly outputPath: string | undefined;
}

/** Under which authority and where a job runs: never more than whoever made it had. */
export interface JobPlace {
  readonly workdir: string;
  /** The folder it may write to unasked; `workdir` when left out. */
  readonly workspace?: string | undefined;
  readonly environment?: string | undefined;
  readonly profile?: string | undefined;
  /** Tools that the session which made it could use; all that are configured when left out. */
  readonly tools?: readonly string[] | undefined;
}

/** One job as people and models see it. */
export interface Job extends JobWork, JobPlace {
  readonly id: string;
  readonly name: string;
  /** As it was given: "30m", "every 2h", "0 9 * * 1-5", an ISO time. */
  readonly schedule: string;
  /** In words: "every 2 hours". */
  readonly scheduleDisplay: string;
  readonly state: JobState;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly nextRunAt: number | undefined;
  /** Why it does not run although its time has come. */
  readonly late?: string | undefined;
  readonly lastRun: JobRun | undefined;
  /** How often it runs altogether; undefined: for ever. */
  readonly repeat: number | undefined;
  /** How often the schedule has run it. */
  readonly runs: number;
  /** True when a script runs without the prompt that stands beside it. */
  readonly noAgent: boolean;
  readonly deliver: string;
  readonly skills: readonly string[];
  readonly contextFrom: readonly string[];
  readonly enabledToolsets: readonly string[] | undefined;
}

/** What a job is made of. A repeat of 0 means for ever. */
export interface JobDraft extends JobWork, JobPlace {
  readonly schedule: string;
  readonly name?: string | undefined;
  readonly repeat?: number | undefined;
  readonly noAgent?: boolean | undefined;
  readonly deliver?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly contextFrom?: readonly string[] | undefined;
  readonly enabledToolsets?: readonly string[] | undefined;
}

/** What became of the request to run a job now. */
export interface RunRequestOutcome {
  readonly job: Job;
  /** True once a scheduler has taken it up. */
  readonly taken: boolean;
  /** What to do or to expect when none has. */
  readonly note?: string | undefined;
}

/** The jobs of one Hermes home. Ids may be shortened to a unique beginning; names work too. */
export interface ScheduledJobs {
  create(draft: JobDraft, options?: { readonly paused?: boolean }): Promise<Job>;
  list(): Promise<readonly Job[]>;
  get(idOrName: string): Promise<Job>;
  /** Newest first. */
  runs(idOrName: string, options?: { readonly limit?: number }): Promise<readonly JobRun[]>;
  update(idOrName: string, change: Partial<JobDraft>): Promise<Job>;
  pause(idOrName: string): Promise<Job>;
  resume(idOrName: string): Promise<Job>;
  /** Makes it due now; answers once a scheduler has taken it up, or says that none is running. */
  run(idOrName: string): Promise<RunRequestOutcome>;
  /** A run that is under way is stopped. What runs have written stays. */
  remove(idOrName: string): Promise<Job>;
}
