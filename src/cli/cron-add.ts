import { isRecord } from "../base/record.js";
import type { JobWork } from "../cron/types.js";
import { failure, HermesError } from "../tool/errors.js";
import { readCallArguments } from "./call-arguments.js";
import { changeJob, labelOf } from "./cron-jobs.js";
import type { CommandContext } from "./globals.js";

/** `hermes cron add "every 2h" --tool NAME key=value …`; runs in this folder, with the rights of the profile. */
export async function run(
  context: CommandContext,
  [schedule = "", ...words]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { flags } = context;
  const work = await workFrom(words, options);
  const text = (name: string) => (typeof options[name] === "string" ? options[name] : undefined);
  const toolsets = flags.toolsets === undefined ? undefined : listOf(flags.toolsets);
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
          ...(text("repeat") !== undefined && { repeat: repeatFrom(text("repeat")) }),
          ...(text("skills") !== undefined && { skills: listOf(text("skills") ?? "") }),
          ...(text("contextFrom") !== undefined && { contextFrom: listOf(text("contextFrom") ?? "") }),
          ...(flags.profile !== undefined && { profile: flags.profile }),
          ...(flags.env !== undefined && { environment: flags.env }),
          ...(toolsets !== undefined && { enabledToolsets: toolsets }),
        },
        { paused: options.paused === true },
      ),
    said: (job) => {
      const next =
        job.nextRunAt === undefined ? "it is paused" : `next run ${new Date(job.nextRunAt).toISOString()}`;
      return `${labelOf(job)}: ${job.scheduleDisplay}; ${next}`;
    },
  });
}

async function workFrom(
  words: readonly string[],
  { tool, script, prompt }: Readonly<Record<string, unknown>>,
): Promise<JobWork> {
  if (typeof tool === "string") {
    return { toolCall: { name: tool, arguments: objectFrom(await readCallArguments(words)) } };
  }
  if (words.length > 0) {
    throw new HermesError(
      failure(
        "bad_request",
        `nothing takes the word ${JSON.stringify(words[0])}`,
        "Quote the schedule: 'every 2h'.",
      ),
    );
  }
  return {
    ...(typeof script === "string" && { script }),
    ...(typeof prompt === "string" && { prompt }),
  };
}

function objectFrom(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = typeof given === "string" ? JSON.parse(given) : given;
    if (isRecord(value)) return { ...value };
  } catch {
    // Said below, in the same words as for JSON that is no object.
  }
  throw new HermesError(
    failure("bad_request", "the arguments of --tool must be one JSON object or key=value pairs"),
  );
}

function repeatFrom(given: string | undefined): number {
  if (given !== undefined && /^\d{1,7}$/.test(given)) return Number(given);
  throw new HermesError(
    failure("bad_request", `--repeat must be a whole number, not ${JSON.stringify(given)}`),
  );
}

function listOf(names: string): readonly string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
