/** What the page gets about jobs, permissions, logs, health and settings; the rest is in `dashboard-types.ts`. */
import type { Origin } from "../../config/types.js";
import type { LogLine } from "../../observe/log-ring.js";
import type { Scorecard } from "../../observe/scorecard.js";
import type { GrantRow } from "../../policy/grants/grant-row.js";
import type { Proposal } from "../../policy/profiles/propose.js";
import type { Simulation } from "../../policy/profiles/simulate.js";
import type { Finding } from "../../runtime/doctor.js";
import type { Effect } from "../../tool/effects.js";
import type { JobAnswer } from "../../tools/system/cronjob/answer.js";
import type { TraceLine } from "../dashboard-types.js";

export type { Finding, GrantRow, JobAnswer, LogLine, Simulation };

/** `GET /v1/cron` */
export interface CronJobsAnswer {
  readonly jobs: readonly JobAnswer[];
}

/** `GET /v1/cron/:id/runs` */
export interface CronRunsAnswer {
  /** Newest first; times are ISO texts. */
  readonly runs: readonly {
    readonly run_id: string;
    readonly job_id: string;
    readonly status: string;
    readonly due_at: string | null;
    readonly asked: boolean;
    readonly started_at: string | null;
    readonly ended_at: string | null;
    readonly summary: string;
    readonly output: string | null;
  }[];
}

/** `POST /v1/cron/:id` `{"action":"run|pause|resume|remove"}` */
export interface CronChanged {
  readonly job: JobAnswer;
  /** Of run: whether a scheduler has taken it up, and what to do when none has. */
  readonly started?: boolean | undefined;
  readonly note?: string | undefined;
}

export interface ProfileLine {
  readonly name: string;
  readonly active: boolean;
  readonly description: string;
  readonly extends: readonly string[];
  readonly source: "builtin" | "home" | "project" | "managed";
  readonly file: string;
  readonly line: number | null;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly approval_required: readonly string[];
  readonly restrictions: readonly string[];
}

/** `GET /v1/scorecards?days&tool` */
export interface ScorecardsAnswer {
  readonly days: number;
  readonly cards: readonly Scorecard[];
}

/** `GET /v1/permissions/grants` */
export interface GrantsAnswer {
  readonly grants: readonly GrantRow[];
  readonly problems: readonly string[];
}

/** `DELETE /v1/permissions/grants/:id` */
export interface GrantRevoked {
  readonly revoked: string;
  readonly file: string;
}

/** `GET /v1/permissions` */
export interface PermissionsAnswer {
  readonly profiles: readonly ProfileLine[];
  readonly current: string;
  /** Of the profile in force, with where each is written. */
  readonly rules: readonly {
    /** "global", or "profile:NAME". */
    readonly level: string;
    /** `allow`, `deny`, `approval_required`, `denied_paths` … */
    readonly list: string;
    readonly text: string;
    readonly reason?: string | undefined;
    readonly file: string;
    readonly line?: number | undefined;
  }[];
  readonly problems: readonly string[];
}

/** `POST /v1/permissions/explain` `{"tool","arguments","profile"?}` */
export interface ExplainAnswer {
  readonly name: string;
  readonly profile: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly reason: string | null;
  readonly effects: readonly Effect[];
  readonly trace: readonly TraceLine[];
}

/** `POST /v1/permissions/simulate` `{"profile","days"}` */
export interface SimulateAnswer extends Simulation {
  readonly days: number;
}

/** `POST /v1/permissions/propose` `{"days","name"}` */
export interface ProposalAnswer extends Proposal {
  readonly days: number;
}

/** `POST /v1/permissions/accept` `{"name","yaml"}` as the proposal showed them */
export interface ProposalAccepted {
  readonly name: string;
  readonly file: string;
  readonly changed: boolean;
}

/** `GET /v1/logs?level&limit&before` */
export interface LogsAnswer {
  /** Newest last. */
  readonly lines: readonly LogLine[];
  /** Earlier lines are no longer kept. */
  readonly dropped: boolean;
  readonly next_before?: number | undefined;
}

/** `GET /v1/doctor` */
export interface DoctorAnswer {
  readonly ok: boolean;
  readonly findings: readonly DoctorFinding[];
}

export interface DoctorFinding extends Finding {
  /** Name it in `POST /v1/doctor/fix`; absent where only a person can help. */
  readonly fix_id?: string | undefined;
}

/** `POST /v1/doctor/fix` `{"fix": fix_id}` */
export interface DoctorFixed extends DoctorAnswer {
  readonly mended: readonly string[];
}

/** One entry of `GET /v1/settings`. */
export interface Setting {
  readonly key: string;
  /** Null for a secret. */
  readonly value: unknown;
  readonly default: unknown;
  readonly origin: Origin;
  readonly description: string;
  /** JSON Schema of its value. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** True for what is never shown; `set` tells whether it has a value. */
  readonly secret?: true | undefined;
  readonly set?: boolean | undefined;
}

export type SettingsAnswer = readonly Setting[];

/** `POST /v1/settings` `{"key","value"}` */
export interface SettingChanged {
  readonly setting: Setting;
  readonly changed: boolean;
  readonly file: string;
  /** Why another value is in force all the same: a variable, a flag or the administrator counts more. */
  readonly note?: string | undefined;
}
