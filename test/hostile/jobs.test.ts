import { expect, it } from "vitest";
import { promptRunner } from "../../src/agent/job-prompts.js";
import type { JobDraft } from "../../src/cron/types.js";
import { jobsOf } from "../../src/runtime/jobs.js";
import { schedulerFor } from "../../src/runtime/scheduler.js";
import { onTestEnd } from "../support/runtime.js";
import { type HostileJob, JOBS } from "./cases/jobs.js";
import { lookAtFrames, lookAtSecrets } from "./play.js";
import { keptFiles, openWorld } from "./world.js";

it.each(JOBS.map((row) => [`${row.from}, ${row.tries}`, row] as const))("a scheduled prompt: %s", (_, row) =>
  play(row),
);

async function play(row: HostileJob): Promise<void> {
  const world = await openWorld(row.given);
  const { runtime, places } = world;
  const files = keptFiles(places.person);
  const { scheduler, stop } = await schedulerFor(runtime, { runPrompt: promptRunner(runtime) });
  onTestEnd(() => stop({ finishMs: 0 }));
  const jobs = jobsOf(runtime);
  const run = async (draft: Partial<JobDraft>) => {
    const { id } = await jobs.create({ schedule: "every 1h", workdir: places.cwd, ...draft });
    return (await scheduler.runNow(id))?.run;
  };
  if (row.before !== undefined) await run(row.before);
  const { status, summary } = (await run(row.job)) ?? {};
  const made = await jobs.list();

  expect(status, summary).toBe(row.status);
  expect(world.model.complaints).toEqual([]);
  expect([...world.calls].map(String).sort(), "the calls that were made").toEqual(
    row.calls.map(String).sort(),
  );
  expect(keptFiles(places.person), "what outlives a run").toEqual(files);
  expect(made).toHaveLength(row.before === undefined ? 1 : 2);
  lookAtSecrets(world);
  lookAtFrames(row, world);
}
