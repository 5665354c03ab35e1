import type { ScheduledJobs } from "../../cron/types.js";
import { jobsOf } from "../../runtime/jobs.js";
import { failure } from "../../tool/errors.js";
import { publicJob, publicRun } from "../../tools/system/cronjob/answer.js";
import { readObject } from "../body.js";
import type { CronChanged, CronJobsAnswer, CronRunsAnswer } from "../dashboard-types.js";
import { badRequest, isProblem, maskedResponse, orNotFound, problemResponse } from "../problem.js";
import { numberFrom } from "../query.js";
import type { Route } from "../route.js";

const ID_PARAMETER = {
  in: "path",
  required: true,
  name: "id",
  description: "Of the job, a unique beginning of it, or its name.",
  schema: { type: "string" },
} as const;

export const cronRoute: Route = {
  method: "GET",
  path: "/v1/cron",
  summary: "Scheduled jobs of this home, also those that are finished, as `hermes cron list --all --json`.",
  answer: {
    description: "With their next and last run.",
    type: "application/json",
    schema: { type: "object", required: ["jobs"] },
  },

  async handle(_context, { runtime }) {
    const answer: CronJobsAnswer = { jobs: (await jobsOf(runtime).list()).map(publicJob) };
    return maskedResponse(answer, runtime.redact);
  },
};

export const cronRunsRoute: Route = {
  method: "GET",
  path: "/v1/cron/:id/runs",
  summary: "What became of the runs of a job.",
  query: [
    ID_PARAMETER,
    {
      name: "limit",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    },
  ],
  answer: {
    description: "Newest first.",
    type: "application/json",
    schema: { type: "object", required: ["runs"] },
  },
  problems: ["NotFound"],

  async handle(context, { runtime }) {
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 50, min: 1, max: 200 }));
    const runs = await orNotFound(() => jobsOf(runtime).runs(context.req.param("id") ?? "", { limit }));
    if (isProblem(runs)) return problemResponse(runs);
    const answer: CronRunsAnswer = { runs: runs.map(publicRun) };
    return maskedResponse(answer, runtime.redact);
  },
};

const ACTIONS: Readonly<Record<string, (jobs: ScheduledJobs, id: string) => Promise<CronChanged>>> = {
  run: async (jobs, id) => {
    const { job, taken, note } = await jobs.run(id);
    return { job: publicJob(job), started: taken, note };
  },
  pause: async (jobs, id) => ({ job: publicJob(await jobs.pause(id)) }),
  resume: async (jobs, id) => ({ job: publicJob(await jobs.resume(id)) }),
  remove: async (jobs, id) => ({ job: publicJob(await jobs.remove(id)) }),
};

export const cronActionRoute: Route = {
  method: "POST",
  path: "/v1/cron/:id",
  approves: true,
  summary: "Runs a job now, pauses it, lets it go on, or removes it.",
  query: [ID_PARAMETER],
  requestSchema: {
    type: "object",
    required: ["action"],
    properties: { action: { enum: Object.keys(ACTIONS) } },
    additionalProperties: false,
  },
  answer: {
    description: "The job as it is now.",
    type: "application/json",
    schema: { type: "object", required: ["job"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["action"] });
    if (isProblem(body)) return problemResponse(body);
    const wanted = String(body.given.action);
    const act = Object.hasOwn(ACTIONS, wanted) ? ACTIONS[wanted] : undefined;
    if (act === undefined) {
      const known = Object.keys(ACTIONS).join(", ");
      return problemResponse(badRequest(failure("bad_request", `action must be one of ${known}`)));
    }
    const done = await orNotFound(() => act(jobsOf(runtime), context.req.param("id") ?? ""));
    return isProblem(done) ? problemResponse(done) : maskedResponse(done, runtime.redact);
  },
};
