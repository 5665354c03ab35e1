import { join } from "node:path";
import { systemClock } from "../cron/clock.js";
import type { JobSession, PromptRequest } from "../cron/run-job.js";
import { Scheduler, type SchedulerLimits } from "../cron/scheduler.js";
import type { Job } from "../cron/types.js";
import type { OpenSessionOptions } from "./open-session-options.js";
import type { Runtime } from "./runtime.js";
import type { Session } from "./session.js";

export interface SchedulerSetting {
  /** Runs prompts; without it they are noted as waiting. */
  runPrompt?(request: PromptRequest): Promise<{ readonly ok: boolean; readonly output: string }>;
  readonly limits?: Partial<SchedulerLimits>;
}

export interface RuntimeScheduler {
  readonly scheduler: Scheduler;
  /** Lets what runs finish for a while, then stops it. Must be called before the runtime is closed. */
  stop(patience?: { readonly finishMs?: number; readonly abortMs?: number }): Promise<void>;
}

const LEASE_MS = 15_000;
const GIVE_UP_MS = 10_000;

/** A scheduler for the jobs of the runtime's home. It does nothing before `start`, `tick` or `runNow`. */
export async function schedulerFor(
  runtime: Runtime,
  setting: SchedulerSetting = {},
): Promise<RuntimeScheduler> {
  const { config, events, log, redact } = runtime;
  const { values, paths } = config;
  const scheduler = new Scheduler({
    store: await runtime.store(),
    clock: systemClock,
    log,
    timezone: values.cron.timezone,
    outputDir: join(paths.home, "cron", "output"),
    scriptsDir: join(paths.home, "scripts"),
    scriptTimeoutS: values.terminal.max_foreground_timeout,
    limits: {
      maxParallel: values.cron.max_parallel,
      tickMs: values.cron.tick_seconds * 1000,
      catchUpMs: values.cron.catch_up_seconds * 1000,
      leaseMs: LEASE_MS,
      runMs: values.cron.time_limit_seconds * 1000,
      giveUpMs: GIVE_UP_MS,
      ...setting.limits,
    },
    openSession: (job, onWaiting) => openJobSession(runtime, { job, onWaiting }),
    ...(setting.runPrompt !== undefined && { runPrompt: setting.runPrompt }),
    emit: (event) => events.emit(event),
    redact,
  });
  const stopListening = events.onType("job.changed", () => scheduler.wake());
  return {
    scheduler,
    async stop(patience) {
      stopListening();
      await scheduler.stop(patience);
    },
  };
}

/** Under the authority of whoever made the job, and never more; nobody sits there to be asked. */
export async function sessionOfJob(
  runtime: Runtime,
  options: {
    readonly job: Job;
    readonly onWaiting: (waiting: boolean) => void;
    /** What an agent brings along. */
    readonly agent?: Pick<OpenSessionOptions, "host" | "model" | "contextTokens" | "guardrails" | "heard">;
  },
): Promise<{ readonly session: Session; readonly outer: Session }> {
  const { job, onWaiting, agent = {} } = options;
  const outer = await runtime.openSession({
    ...agent,
    door: "cron",
    cwd: job.workdir,
    workspace: job.workspace ?? job.workdir,
    toolsets: job.enabledToolsets ?? runtime.config.values.platform_toolsets.cron,
    profile: job.profile,
    environment: job.environment,
    approver: runtime.approvals.unattended("cron_mode"),
  });
  const tools = job.tools === undefined ? {} : { tools: job.tools };
  return { outer, session: outer.openChild({ ...tools, door: "cron", onWaiting }) };
}

async function openJobSession(
  runtime: Runtime,
  options: { readonly job: Job; readonly onWaiting: (waiting: boolean) => void },
): Promise<JobSession> {
  const { session, outer } = await sessionOfJob(runtime, options);
  return {
    has: (tool) => session.view.statuses.get(tool)?.ok !== false && session.view.entries.has(tool),
    call: (request, options) => session.call(request, options),
    close() {
      session.close();
      outer.close();
    },
  };
}
