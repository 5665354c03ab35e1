import type { ScheduledJobs } from "../cron/types.js";
import { HermesError, ToolError } from "../tool/errors.js";
import type { Runtime } from "./runtime.js";

/** The scheduled jobs of the Hermes home; nothing is loaded before the first use. */
export function jobsOf(runtime: Runtime): ScheduledJobs {
  const open = async (): Promise<ScheduledJobs> => {
    const { openJobs } = await import("../cron/jobs.js");
    return openJobs({
      store: await runtime.store(),
      timezone: runtime.config.values.cron.timezone,
      maxParallel: runtime.config.values.cron.max_parallel,
      checkToolsets: (names) => checkToolsets(runtime, names),
      changed: ({ job, name, action }) =>
        runtime.events.emit({ type: "job.changed", id: job, name, action, at: Date.now() }),
    });
  };
  let opening: Promise<ScheduledJobs> | undefined;
  const jobs = () => {
    opening ??= open();
    return opening;
  };
  return {
    create: async (...given) => (await jobs()).create(...given),
    list: async () => (await jobs()).list(),
    get: async (id) => (await jobs()).get(id),
    runs: async (...given) => (await jobs()).runs(...given),
    update: async (...given) => (await jobs()).update(...given),
    pause: async (id) => (await jobs()).pause(id),
    resume: async (id) => (await jobs()).resume(id),
    run: async (id) => (await jobs()).run(id),
    remove: async (id) => (await jobs()).remove(id),
  };
}

function checkToolsets(runtime: Runtime, names: readonly string[]): void {
  try {
    runtime.toolSelection.select(names);
  } catch (error) {
    if (!(error instanceof HermesError)) throw error;
    throw new ToolError(error.message, { code: "invalid_arguments" });
  }
}
