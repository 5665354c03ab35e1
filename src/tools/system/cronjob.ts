import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { askIfHeard, type Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { type CronAnswer, type JobAnswer, jobAnswer, jobsAnswer } from "./cronjob/answer.js";
import { type CronArguments, changeFrom, draftFrom } from "./cronjob/draft.js";

const ACTIONS = ["create", "list", "update", "pause", "resume", "run", "remove"] as const;
const names = { type: "array", items: { type: "string", minLength: 1 }, maxItems: 32 } as const;

export default defineTool({
  name: "cronjob",
  aliases: ["cron_scheduler", "cronjob_manage"],
  toolset: "cronjob",
  emoji: "⏰",
  description:
    "Schedule work that `hermes serve` runs with nobody there: what needs approval is refused then. create takes a " +
    "schedule and a tool_call, script or prompt; update changes what is given; run: now, once.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ACTIONS },
      job_id: { type: "string" },
      name: { type: "string" },
      schedule: {
        type: "string",
        description: "30m (once, in 30 minutes), every 2h, 0 9 * * 1-5 (cron) or 2030-01-31T09:00 (once).",
      },
      tool_call: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1 },
          arguments: { type: "object" },
        },
        required: ["name"],
        additionalProperties: false,
      },
      script: {
        type: "string",
        description:
          "Command line, or file in the scripts folder of the Hermes home. Beside prompt: its input.",
      },
      prompt: {
        type: "string",
        description: "Task for an agent that knows nothing of this conversation.",
      },
      no_agent: { type: "boolean" },
      repeat: {
        type: "integer",
        minimum: 0,
        maximum: 1_000_000,
        description: "Runs; default: for ever.",
      },
      deliver: {
        type: "string",
        description: "local (a file), notification (also on the desktop), or a target of send_message.",
      },
      skills: names,
      context_from: { ...names, description: "Jobs whose last output the prompt gets." },
      enabled_toolsets: names,
      workdir: { type: "string" },
      paused: { type: "boolean" },
    },
    required: ["action"],
    additionalProperties: false,
  },
  stays: true,
  permissions: ["cron:read", "cron:write", "message:send"],
  effects({ action, job_id, name, deliver = "local", prompt }, { heard = [] }): readonly Effect[] {
    if (action === "list") return [{ action: "cron:read", resource: "jobs", mode: "read" }];
    const resource = job_id ?? name ?? "a new job";
    const isMessage = deliver !== "local" && deliver !== "notification";
    return [
      {
        action: "cron:write",
        resource,
        mode: "write",
        reversible: action !== "remove",
        ...(prompt !== undefined && { detail: prompt }),
        ...askIfHeard(heard),
      },
      // Whoever gets the outcome later is said now, while somebody can say no.
      ...(isMessage
        ? [{ action: "message:send", resource: deliver, mode: "write", reversible: false } as const]
        : []),
    ];
  },
  examples: [
    {
      title: "Check for outdated packages on weekday mornings",
      arguments: {
        action: "create",
        name: "outdated packages",
        schedule: "0 9 * * 1-5",
        script: "npm outdated",
      },
      result: {
        success: true,
        job: {
          name: "outdated packages",
          schedule: "0 9 * * 1-5",
          schedule_display: "At 09:00, Monday through Friday",
          state: "scheduled",
        },
      },
    },
    {
      title: "Search for TODO notes every two hours, three times",
      arguments: {
        action: "create",
        name: "todo notes",
        schedule: "every 2h",
        repeat: 3,
        tool_call: { name: "search_files", arguments: { pattern: "TODO" } },
      },
      result: { success: true, job: { schedule_display: "every 2 hours", repeat: 3, runs: 0 } },
    },
  ],

  async handler(args, ctx): Promise<CronAnswer> {
    const { action } = args;
    if (action === "list") return jobsAnswer(await ctx.jobs.list());
    refuseInsideJob(ctx);
    if (action === "create") {
      const job = await ctx.jobs.create(await draftFrom(args, ctx), { paused: args.paused === true });
      return jobAnswer(job);
    }
    const which = jobNamed(args);
    switch (action) {
      case "update":
        return jobAnswer(await updated(which, { args, ctx }));
      case "pause":
        return jobAnswer(await ctx.jobs.pause(which));
      case "resume":
        return jobAnswer(await ctx.jobs.resume(which));
      case "run": {
        const { job, taken, note } = await ctx.jobs.run(which);
        return { ...jobAnswer(job), started: taken, note };
      }
      case "remove":
        return { ...jobAnswer(await ctx.jobs.remove(which)), removed: true };
    }
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

async function updated(which: string, call: { readonly args: CronArguments; readonly ctx: CallContext }) {
  const { args, ctx } = call;
  const change = await changeFrom(args, ctx);
  const isEmpty = Object.values(change).every((value) => value === undefined);
  if (isEmpty && args.paused === undefined) {
    throw new ToolError("The action update was given nothing to change.", {
      code: "invalid_arguments",
      hint: "Give job_id and what is to be different, such as schedule or script.",
    });
  }
  const job = isEmpty ? await ctx.jobs.get(which) : await ctx.jobs.update(which, change);
  if (args.paused === undefined || args.paused === (job.state === "paused")) return job;
  return args.paused ? ctx.jobs.pause(job.id) : ctx.jobs.resume(job.id);
}

/** Jobs that make jobs would never come to an end, and nobody would have asked for them. */
function refuseInsideJob({ session }: CallContext): void {
  if (session.door !== "cron") return;
  throw new ToolError("A scheduled run may look at jobs, but not make or change them.", {
    code: "denied",
    hint: "Put into the output what should be scheduled; a person can do it.",
  });
}

function jobNamed({ action, job_id, name }: CronArguments): string {
  const which = job_id ?? name;
  if (which !== undefined && which.trim() !== "") return which;
  throw new ToolError(`The action ${action} needs a job.`, {
    code: "invalid_arguments",
    hint: "Give job_id or name; the action list shows them.",
  });
}

/** A table of jobs, or one job line by line. */
function humanText(out: CronAnswer): string {
  if (out.jobs !== undefined) {
    if (out.jobs.length === 0) return "no jobs";
    const head = ["job", "name", "state", "schedule", "next run", "last run"].map(mark.strong);
    return columns([head, ...out.jobs.map(rowOf)]);
  }
  const { job } = out;
  if (job === undefined) return "";
  const lines = columns([
    [mark.dim("job"), `${job.name} ${mark.dim(job.job_id)}`],
    [mark.dim("schedule"), `${job.schedule_display} ${mark.dim(job.schedule)}`],
    [mark.dim("state"), out.removed === true ? mark.warning("removed") : stateOf(job)],
    ...(out.removed === true ? [] : [[mark.dim("next run"), job.next_run_at ?? "-"]]),
    [mark.dim("does"), workOf(job)],
    ...(job.last_run === undefined ? [] : [[mark.dim("last run"), lastRunOf(job)]]),
  ]);
  return out.note === undefined ? lines : `${lines}\n${mark.warning(out.note)}`;
}

function rowOf(job: JobAnswer): readonly string[] {
  return [job.job_id, job.name, stateOf(job), job.schedule_display, job.next_run_at ?? "-", lastRunOf(job)];
}

function stateOf({ state }: JobAnswer): string {
  if (state === "running") return mark.good(state);
  return state === "scheduled" ? state : mark.warning(state);
}

function lastRunOf({ last_run }: JobAnswer): string {
  if (last_run === undefined) return "-";
  const status = last_run.status === "ok" ? mark.good("ok") : mark.bad(last_run.status);
  return last_run.summary === "" ? status : `${status} ${last_run.summary.slice(0, 80)}`;
}

function workOf({ tool_call, script, prompt }: JobAnswer): string {
  if (tool_call !== undefined) return `${tool_call.name} ${JSON.stringify(tool_call.arguments)}`;
  return [script, prompt].filter((part) => part !== undefined).join(" → ");
}
