import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../base/errno.js";
import type { Job, JobRun } from "./types.js";

/** Outputs kept of one job. */
const KEPT_OUTPUTS = 50;
const MOST_CHARS = 1_000_000;

/** Writes what a run has put out to `<folder>/<job>/<time>.md`, for its owner only; answers with the path. */
export async function archiveOutput(
  folder: string,
  kept: {
    readonly job: Job;
    readonly run: JobRun;
    readonly status: string;
    readonly output: string;
    readonly endedAt: number;
  },
): Promise<string> {
  const { job, run } = kept;
  const place = join(folder, job.id);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const time = new Date(run.startedAt ?? run.dueAt).toISOString().replaceAll(":", "-");
  const path = await writeNew(textOf(kept), [join(place, `${time}.md`), join(place, `${time}-${run.id}.md`)]);
  await forgetOld(place);
  return path;
}

/** Nothing that is there is touched. The path is made known when the text is whole, so it need not be atomic. */
async function writeNew(text: string, [path, otherwise]: readonly [string, string]): Promise<string> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    return path;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    await writeFile(otherwise, text, { mode: 0o600, flag: "wx" });
    return otherwise;
  }
}

function textOf(kept: Parameters<typeof archiveOutput>[1]): string {
  const { job, run, status, output, endedAt } = kept;
  const iso = (at: number) => new Date(at).toISOString();
  const body =
    output.length <= MOST_CHARS
      ? output
      : `${output.slice(0, MOST_CHARS)}\n[${output.length - MOST_CHARS} more characters left out]`;
  return [
    `# ${job.name}`,
    "",
    `- job: ${job.id}, ${job.scheduleDisplay}`,
    `- due: ${iso(run.dueAt)}${run.asked ? " (asked for)" : ""}`,
    `- ran: ${iso(run.startedAt ?? run.dueAt)} to ${iso(endedAt)}`,
    `- outcome: ${status}`,
    "",
    body.replace(/\n+$/, ""),
    "",
  ].join("\n");
}

/** Names begin with the time, so the order of names is the order of runs. */
async function forgetOld(place: string): Promise<void> {
  const names = (await readdir(place)).filter((name) => name.endsWith(".md")).sort();
  for (const name of names.slice(0, -KEPT_OUTPUTS)) await rm(join(place, name), { force: true });
}
