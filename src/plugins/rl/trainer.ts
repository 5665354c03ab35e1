import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { childEnvironment } from "../../env/local/child-env.js";
import { EXEC_MARK } from "../../env/local/marks.js";
import { marked, processTable } from "../../env/local/process-table.js";
import { endLeftTree, type TreeIdentity } from "../../env/processes/reap.js";
import { startOfProcess } from "../../store/process-owner.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { filesOf, type Run, type RunFiles } from "./runs.js";
import { rlSettings } from "./settings.js";

/** Services that trainers use; what of it is set goes along, other keys do not. */
const KEYS = ["TINKER_API_KEY", "WANDB_API_KEY", "HF_TOKEN", "OPENROUTER_API_KEY", "OPENAI_API_KEY"] as const;
/** A trainer that is told to end may want to save what it has. */
const GENTLE_MS = 10_000;
const LOOK_MS = 100;

export type RunState = "running" | "completed" | "failed" | "stopped" | "lost";

export interface Started {
  readonly tree: TreeIdentity;
  /** Resolves when the command has ended; for whoever waits for it. */
  readonly ended: Promise<void>;
}

/**
 * Starts the operator's command on this machine, in a process group of its own: it goes on when this program ends. A
 * shell around it notes how it ended, since nobody may be there to see it.
 */
export async function startTrainer(
  ctx: CallContext,
  run: { readonly folder: string; readonly files: RunFiles },
): Promise<Started> {
  const { command } = rlSettings(ctx);
  if (command === "") {
    throw new ToolError("No trainer is set up.", {
      code: "unavailable",
      hint: "hermes config set rl.command 'python train.py' (docs/rl.md says what it gets).",
    });
  }
  const { env_passthrough: passthrough } = ctx.settings;
  const mark = randomUUID();
  const keys = Object.fromEntries(KEYS.map((name) => [name, ctx.secrets.get(name)] as const));
  const script = `( ${command} "$1"\n)\necho $? > "$2.tmp" && mv "$2.tmp" "$2"`;
  const log = openSync(run.files.log, "a", 0o600);
  try {
    const child = spawn("/bin/sh", ["-c", script, "sh", run.files.config, run.files.exitCode], {
      cwd: run.folder,
      env: childEnvironment({
        parent: process.env,
        passthrough: Array.isArray(passthrough) ? passthrough.map(String) : [],
        added: { ...keys, [EXEC_MARK]: mark },
      }),
      detached: true,
      stdio: ["ignore", log, log],
    });
    const ended = new Promise<void>((resolve) => void child.on("exit", () => resolve()));
    const failed = new Promise<never>((_resolve, reject) => void child.on("error", reject));
    failed.catch(() => undefined);
    const { pid } = child;
    if (pid === undefined) return await failed;
    child.unref();
    return { tree: { pid, pidStart: startOfProcess(pid), mark }, ended };
  } finally {
    closeSync(log);
  }
}

/**
 * What can be signalled of all that the run has started, whatever became of its first process: processes, or the group
 * where nobody can list them (macOS).
 */
async function members({ pid, mark }: TreeIdentity): Promise<readonly number[]> {
  const table = await processTable();
  if (table !== undefined)
    return mark === "" ? [] : ((await marked(table)).get(mark) ?? []).map((row) => row.pid);
  return pid !== undefined && pid > 1 && send(-pid, 0) ? [-pid] : [];
}

export interface RunEnd {
  readonly state: RunState;
  readonly exit_code?: number | undefined;
  readonly ended_at?: string | undefined;
}

export async function stateOf({ folder, tree }: Run): Promise<RunEnd> {
  const files = filesOf(folder);
  // In this order: what has ended since the first look has left its word before the second.
  const alive = (await members(tree)).length > 0;
  const stopped = await stat(files.stopped).catch(() => undefined);
  const written = await stat(files.exitCode).catch(() => undefined);
  if (written !== undefined && stopped === undefined) {
    const exit_code = Number.parseInt(await readFile(files.exitCode, "utf8"), 10);
    return {
      state: exit_code === 0 ? "completed" : "failed",
      exit_code,
      ended_at: written.mtime.toISOString(),
    };
  }
  if (alive) return { state: "running" };
  return stopped === undefined
    ? { state: "lost" }
    : { state: "stopped", ended_at: stopped.mtime.toISOString() };
}

/** Ends everything that the run has started: gently first, by force when its time is over or the call is. */
export async function endTrainer(
  tree: TreeIdentity,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly forced: boolean; readonly survivors: readonly number[] }> {
  for (const member of await members(tree)) send(member, "SIGTERM");
  const until = performance.now() + GENTLE_MS;
  for (;;) {
    const left = await members(tree);
    if (left.length === 0) return { forced: false, survivors: [] };
    if (performance.now() >= until || signal?.aborted === true) break;
    await delay(LOOK_MS);
  }
  for (const member of await members(tree)) send(member, "SIGKILL");
  const { survivors } = await endLeftTree(tree);
  return { forced: true, survivors: survivors.map(({ pid }) => pid) };
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // Gone already, or not ours.
    return false;
  }
}
