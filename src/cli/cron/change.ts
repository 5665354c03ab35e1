import { isRecord } from "../../base/record.js";
import type { JobWork } from "../../cron/types.js";
import { runningServer } from "../../runtime/running-server.js";
import { HermesError } from "../../tool/errors.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { listOf, readCallArguments } from "../input.js";
import { changeJob, labelOf } from "./jobs.js";

/** `hermes cron add "every 2h" --tool NAME key=value …`; runs in this folder, with the rights of the profile. */
export async function add(context: CommandContext): Promise<void> {
  const { flags, options } = context;
  const [schedule = "", ...words] = context.args;
  const work = await workFrom(words, options);
  if (work.toolCall !== undefined) await assertCallable(context, work.toolCall);
  const text = (name: string) => (typeof options[name] === "string" ? options[name] : undefined);
  const names = (given: string | undefined) => (given === undefined ? undefined : listOf(given));
  await changeJob(context, {
    change: (jobs) =>
      jobs.create(
        {
          ...work,
          schedule,
          name: text("name"),
          deliver: text("deliver"),
          workdir: text("workdir") ?? process.cwd(),
          noAgent: options.agent === false,
          repeat: wholeNumber(text("repeat"), "--repeat"),
          timeLimit: wholeNumber(text("timeLimit"), "--time-limit"),
          skills: names(text("skills")),
          contextFrom: names(text("contextFrom")),
          profile: flags.profile,
          environment: flags.env,
          enabledToolsets: names(flags.toolsets),
        },
        { paused: options.paused === true },
      ),
    said: (job) => {
      const next =
        job.nextRunAt === undefined ? "it is paused" : `next run ${new Date(job.nextRunAt).toISOString()}`;
      return `${labelOf(job)}: ${job.scheduleDisplay}; ${next}`;
    },
  });
  await noteMissingServer(context);
}

/** A job that could never run is better refused now than found out about at night. */
async function assertCallable(
  context: CommandContext,
  { name, arguments: given }: { readonly name: string; readonly arguments: unknown },
): Promise<void> {
  await withRuntime(aboutTools(context, [name]), async (runtime) => {
    const session = await runtime.openSession({ door: "cli" });
    const { error } = await session.explainCall({ name, arguments: given });
    if (error?.code === "not_found" || error?.code === "invalid_arguments") throw new HermesError(error);
    if (error !== undefined) context.out.note(`as things stand it would not run: ${error.message}`);
  });
}

/** Jobs run while a server does. */
async function noteMissingServer({ out, home }: CommandContext): Promise<void> {
  if ((await runningServer(home)) === undefined) {
    out.note(
      "No server runs now, and jobs run only while one does: hermes serve (or hermes cron tick, from a timer)",
    );
  }
}

async function workFrom(
  words: readonly string[],
  { tool, script, prompt }: Readonly<Record<string, unknown>>,
): Promise<JobWork> {
  if (typeof tool === "string") {
    return { toolCall: { name: tool, arguments: objectFrom(await readCallArguments(words)) } };
  }
  if (words.length > 0) {
    throw commandError(
      "bad_request",
      `nothing takes the word ${JSON.stringify(words[0])}`,
      `Quote the schedule ('every 2h'), and say what runs: --tool ${words[0]}, --script 'COMMAND' or --prompt 'TASK'.`,
    );
  }
  return {
    script: typeof script === "string" ? script : undefined,
    prompt: typeof prompt === "string" ? prompt : undefined,
  };
}

function objectFrom(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = typeof given === "string" ? JSON.parse(given) : given;
    if (isRecord(value)) return { ...value };
  } catch {
    // Said below, in the same words as for JSON that is no object.
  }
  throw commandError("bad_request", "the arguments of --tool must be one JSON object or key=value pairs");
}

function wholeNumber(given: string | undefined, option: string): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,7}$/.test(given)) return Number(given);
  throw commandError("bad_request", `${option} must be a whole number, not ${JSON.stringify(given)}`);
}

export async function pause(context: CommandContext): Promise<void> {
  const [id = ""] = context.args;
  await changeJob(context, { change: (jobs) => jobs.pause(id), said: (job) => `${labelOf(job)} is paused` });
}

export async function resume(context: CommandContext): Promise<void> {
  const [id = ""] = context.args;
  await changeJob(context, {
    change: (jobs) => jobs.resume(id),
    said: (job) =>
      `${labelOf(job)} runs next ${job.nextRunAt === undefined ? "never" : new Date(job.nextRunAt).toISOString()}`,
  });
}

export async function remove(context: CommandContext): Promise<void> {
  const [id = ""] = context.args;
  await changeJob(context, {
    change: (jobs) => jobs.remove(id),
    said: (job) => `${labelOf(job)} is removed; what its runs have written is kept`,
  });
}
