import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import { isRecord } from "../../base/record.js";
import type { TreeIdentity } from "../../env/processes/reap.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { dataFolder } from "./settings.js";

/** What a call may name: the newest one goes without its id. */
export const RUN_ID = "^(?:latest|rl_[a-z0-9_]{1,60})$";

/** One training, as it is written down when it begins. */
export interface Run {
  readonly run_id: string;
  readonly environment: string;
  readonly started_at: string;
  /** What it has started, told from everything else on this machine. */
  readonly tree: TreeIdentity;
  readonly folder: string;
}

export interface RunFiles {
  readonly record: string;
  readonly config: string;
  readonly metrics: string;
  readonly log: string;
  /** Written by the shell around the trainer when that ends. */
  readonly exitCode: string;
  /** Written when somebody stops it. */
  readonly stopped: string;
  /** When its status was last looked at. */
  readonly looked: string;
  readonly output: string;
}

export function filesOf(folder: string): RunFiles {
  return {
    record: join(folder, "run.json"),
    config: join(folder, "config.json"),
    metrics: join(folder, "metrics.jsonl"),
    log: join(folder, "trainer.log"),
    exitCode: join(folder, "exit_code"),
    stopped: join(folder, "stopped.json"),
    looked: join(folder, "looked.json"),
    output: join(folder, "output"),
  };
}

/** A folder for a new run, with what the trainer needs in it. */
export async function prepareRun(
  ctx: CallContext,
  wanted: {
    readonly environment: string;
    readonly mode: "train" | "test";
    readonly config: Readonly<Record<string, unknown>>;
    readonly extra?: Readonly<Record<string, unknown>>;
  },
): Promise<{ readonly runId: string; readonly folder: string; readonly files: RunFiles }> {
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const runId = `rl_${stamp}_${randomBytes(3).toString("hex")}`;
  const folder = join(await dataFolder(ctx), wanted.mode === "train" ? "runs" : "tests", runId);
  const files = filesOf(folder);
  await mkdir(files.output, { recursive: true, mode: 0o700 });
  await replaceFile({
    path: files.config,
    mode: 0o600,
    data: `${JSON.stringify(
      {
        run_id: runId,
        mode: wanted.mode,
        environment: wanted.environment,
        config: wanted.config,
        metrics_file: files.metrics,
        output_folder: files.output,
        ...wanted.extra,
      },
      null,
      2,
    )}\n`,
  });
  return { runId, folder, files };
}

export async function saveRun(run: Run): Promise<void> {
  await replaceFile({
    path: filesOf(run.folder).record,
    data: `${JSON.stringify(run, null, 2)}\n`,
    mode: 0o600,
  });
}

export async function findRun(runId: string, ctx: CallContext): Promise<Run> {
  const run =
    runId === "latest" ? (await allRuns(ctx))[0] : await readRun(join(await dataFolder(ctx), "runs", runId));
  if (run !== undefined) return run;
  throw new ToolError(runId === "latest" ? "There are no runs yet." : `There is no run ${runId}.`, {
    code: "not_found",
    hint: "rl_list_runs tells which there are.",
  });
}

/** Newest first. */
export async function allRuns(ctx: CallContext): Promise<readonly Run[]> {
  const folder = join(await dataFolder(ctx), "runs");
  const names = await readdir(folder).catch((): string[] => []);
  const runs = await Promise.all(names.map((name) => readRun(join(folder, name))));
  return runs
    .filter((run) => run !== undefined)
    .sort((left, right) => (left.started_at < right.started_at ? 1 : -1));
}

async function readRun(folder: string): Promise<Run | undefined> {
  const written = await readJson(filesOf(folder).record);
  if (!isRecord(written) || typeof written.run_id !== "string") return undefined;
  return {
    run_id: written.run_id,
    environment: String(written.environment ?? ""),
    started_at: String(written.started_at ?? ""),
    tree: treeIn(written.tree),
    folder,
  };
}

function treeIn(value: unknown): TreeIdentity {
  const tree = isRecord(value) ? value : {};
  return {
    pid: typeof tree.pid === "number" && Number.isInteger(tree.pid) && tree.pid > 1 ? tree.pid : undefined,
    pidStart: typeof tree.pidStart === "string" ? tree.pidStart : undefined,
    mark: typeof tree.mark === "string" ? tree.mark : "",
  };
}

export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
