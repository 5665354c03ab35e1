/** What a scheduled job does when its time has come. Exactly one of the three. */
export interface JobWork {
  /** One call through the whole path, in a session of the door "cron". */
  readonly toolCall?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** A command line or a script file, run through the terminal tool. */
  readonly script?: string;
  /** For an agent; kept and shown, and run once there is one. */
  readonly prompt?: string;
}

export type JobState = "scheduled" | "running" | "paused" | "finished";

/** One job as people and models see it. */
export interface Job extends JobWork {
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
  readonly lastRunAt: number | undefined;
  readonly lastOutcome: string | undefined;
  /** Runs left; undefined: for ever. */
  readonly repeat: number | undefined;
  readonly runs: number;
  readonly workdir: string;
  readonly environment: string | undefined;
  readonly profile: string | undefined;
  readonly deliver: string | undefined;
  readonly skills: readonly string[];
  readonly contextFrom: readonly string[];
  readonly enabledToolsets: readonly string[] | undefined;
}

/** What a job is made of, or changed to. */
export type JobDraft = JobWork & {
  readonly schedule: string;
  readonly name?: string;
  readonly repeat?: number;
  readonly workdir: string;
} & Partial<Pick<Job, "environment" | "profile" | "deliver" | "skills" | "contextFrom" | "enabledToolsets">>;

/** The jobs of one Hermes home, for tools. Ids may be shortened to a unique beginning; names work too. */
export interface ScheduledJobs {
  create(draft: JobDraft, options?: { readonly paused?: boolean }): Promise<Job>;
  list(): Promise<readonly Job[]>;
  get(idOrName: string): Promise<Job>;
  update(idOrName: string, change: Partial<JobDraft>): Promise<Job>;
  pause(idOrName: string): Promise<Job>;
  resume(idOrName: string): Promise<Job>;
  /** Makes it due now; answers once a scheduler has taken it up, or says that none is running. */
  run(idOrName: string): Promise<Job>;
  remove(idOrName: string): Promise<Job>;
}
