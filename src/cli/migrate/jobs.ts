import { constants } from "node:fs";
import { copyFile, mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { isBelow } from "../../base/path.js";
import { isRecord } from "../../base/record.js";
import { hermesPaths } from "../../config/paths.js";
import { checkDraft } from "../../cron/check-draft.js";
import { readSchedule } from "../../cron/schedule.js";
import type { JobDraft, ScheduledJobs } from "../../cron/types.js";
import { isFolder, readSource, reasonOf, withCopyOf } from "./read-source.js";
import type { Tree } from "./settings.js";
import { failed, type Homes, kept, migrated, type Step, skipped } from "./step.js";

/** Fields that say something a job here cannot say. */
const WITHOUT_COUNTERPART = [
  "model",
  "provider",
  "base_url",
  "monitor_script",
  "monitor_url",
  "reasoning_effort",
];
const PLATFORMS = ["telegram", "discord", "slack", "email", "webhook"];

export interface JobsTarget {
  readonly timezone: string;
  jobs(): Promise<ScheduledJobs>;
}

/**
 * `cron/jobs.json`. Every job arrives paused: as long as the other program runs it too, it would run twice, and nobody
 * has yet seen what it may do under the rules here.
 */
export async function planJobs({ from, home }: Homes, target: JobsTarget): Promise<Step[]> {
  let written: readonly Tree[];
  try {
    written = await jobsIn(join(from, "cron", "jobs.json"));
  } catch (error) {
    return [failed({ kind: "job", name: "cron/jobs.json", reason: reasonOf(error) })];
  }
  if (written.length === 0) return [];
  const taken = new Set(await namesHere(home));
  const names = written.map((job, index) => nameOf(job, written.slice(0, index)));
  const nameById = new Map(written.map((job, index) => [String(job.id), names[index] ?? ""]));
  const steps: Step[] = [];
  for (const [index, job] of written.entries()) {
    const name = names[index] ?? "";
    steps.push(await planOne({ job, name, taken, nameById, homes: { from, home }, target }));
  }
  return steps;
}

async function namesHere(home: string): Promise<readonly string[]> {
  const rows = await withCopyOf(hermesPaths(home).stateDb, (db) =>
    db.prepare("SELECT name FROM sqlite_master WHERE name = 'cron_jobs'").get() === undefined
      ? []
      : db.prepare("SELECT name FROM cron_jobs").all(),
  );
  return (rows ?? []).map(({ name }) => String(name));
}

async function planOne(plan: {
  readonly job: Tree;
  readonly name: string;
  readonly taken: ReadonlySet<string>;
  readonly nameById: ReadonlyMap<string, string>;
  readonly homes: Homes;
  readonly target: JobsTarget;
}): Promise<Step> {
  const { job, name, taken, nameById, homes, target } = plan;
  const item = { kind: "job", name } as const;
  if (taken.has(name)) return kept({ ...item, reason: "there is a job of that name here, which stays" });
  const schedule = scheduleOf(job.schedule);
  if (schedule === undefined) return failed({ ...item, reason: "its schedule cannot be read" });
  const repeat = repeatOf(job.repeat);
  if (job.state === "completed" || repeat === "used up")
    return skipped({ ...item, reason: "it is finished" });
  const deliver = deliveryOf(job);
  const draftWith = (script: string | undefined): JobDraft => ({
    schedule,
    name,
    prompt: textOf(job.prompt),
    script,
    noAgent: job.no_agent === true,
    skills: textsOf(job.skills),
    contextFrom: textsOf(job.context_from).flatMap((id) => nameById.get(id) ?? []),
    deliver: deliver.to,
    enabledToolsets:
      job.enabled_toolsets === null || job.enabled_toolsets === undefined
        ? undefined
        : textsOf(job.enabled_toolsets),
    workdir: textOf(job.workdir) ?? process.cwd(),
    ...(repeat !== undefined && { repeat }),
  });
  try {
    const now = Date.now();
    if (Date.parse(schedule) <= now && /^\d{4}-/.test(schedule))
      return skipped({ ...item, reason: "its time has passed" });
    readSchedule(schedule, { now, timezone: target.timezone });
    const script = await scriptFile(textOf(job.script), homes);
    const draft = draftWith(script?.name);
    checkDraft(draft);
    const left = WITHOUT_COUNTERPART.filter((field) => job[field] !== null && job[field] !== undefined);
    const reasons = [
      "paused, so that it does not run twice: hermes cron resume, once the other program no longer runs it",
      ...deliver.notes,
      ...((await isFolder(draft.workdir)) ? [] : [`its folder ${draft.workdir} is not on this machine`]),
      ...(left.length === 0 ? [] : [`no counterpart here: ${left.join(", ")}`]),
    ];
    return migrated({ ...item, reason: reasons.join("; ") }, async () => {
      if (script?.to !== undefined) {
        await mkdir(dirname(script.to), { recursive: true, mode: 0o700 });
        await copyFile(script.from, script.to, constants.COPYFILE_EXCL);
      }
      await (await target.jobs()).create(draft, { paused: true });
    });
  } catch (error) {
    return failed({ ...item, reason: reasonOf(error) });
  }
}

async function jobsIn(path: string): Promise<readonly Tree[]> {
  const text = await readSource(path);
  if (text === undefined || text.trim() === "") return [];
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  const jobs = isRecord(value) ? value.jobs : value;
  if (!Array.isArray(jobs)) throw new Error("it holds no list of jobs");
  return jobs.filter(isRecord);
}

/** Jobs of the original may have one name; here a name means one job. */
function nameOf(job: Tree, earlier: readonly Tree[]): string {
  const clean = (given: unknown) =>
    (textOf(given) ?? "")
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, 80)
      .trimEnd();
  const name = clean(job.name) || clean(job.prompt) || clean(job.script) || String(job.id);
  return earlier.some((other) => clean(other.name) === name) ? `${name} (${String(job.id)})` : name;
}

function scheduleOf(schedule: unknown): string | undefined {
  if (typeof schedule === "string") return schedule;
  if (!isRecord(schedule)) return undefined;
  switch (schedule.kind) {
    case "interval":
      return typeof schedule.minutes === "number" ? `every ${schedule.minutes}m` : undefined;
    case "cron":
      return textOf(schedule.expr);
    case "once":
      return textOf(schedule.run_at);
    default:
      return undefined;
  }
}

/** How often it still runs; undefined: for ever. */
function repeatOf(repeat: unknown): number | "used up" | undefined {
  if (!isRecord(repeat) || typeof repeat.times !== "number") return undefined;
  const left = repeat.times - (typeof repeat.completed === "number" ? repeat.completed : 0);
  return left > 0 ? left : "used up";
}

function deliveryOf(job: Tree): { readonly to: string; readonly notes: readonly string[] } {
  const given = textOf(job.deliver) ?? "local";
  if (given === "local") return { to: "local", notes: [] };
  const origin = isRecord(job.origin) ? `${String(job.origin.platform)}:${String(job.origin.chat_id)}` : "";
  const target = given === "origin" ? origin : given;
  const [platform = "", chat = ""] = target.split(":", 2);
  if (PLATFORMS.includes(platform) && chat !== "") return { to: target, notes: [] };
  return { to: "local", notes: [`its outcome is kept in a file: nothing can be delivered to ${given} here`] };
}

interface ScriptFile {
  /** Below the scripts folder; a job here knows it by that, too. */
  readonly name: string;
  readonly from: string;
  /** Left out where the same file is here already. */
  readonly to?: string;
}

/** A script of the original is a file of its scripts folder; here, any other text would be a command. */
async function scriptFile(
  script: string | undefined,
  { from, home }: Homes,
): Promise<ScriptFile | undefined> {
  if (script === undefined) return undefined;
  const folder = join(from, "scripts");
  const source = resolve(folder, script);
  if (!isBelow(source, folder) || (await stat(source).catch(() => undefined))?.isFile() !== true)
    throw new Error(`its script ${script} is no file of the scripts folder there`);
  const name = relative(folder, source);
  const to = join(home, "scripts", name);
  const here = await readFile(to).catch(() => undefined);
  if (here === undefined) return { name, from: source, to };
  if (here.equals(await readFile(source))) return { name, from: source };
  throw new Error(`another file ${to} is here`);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function textsOf(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => textOf(one) ?? []);
}
