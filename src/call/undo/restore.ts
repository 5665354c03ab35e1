import type { EnvironmentFiles } from "../../env/environment.js";
import { ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import { digestOf, type FileChanges } from "../file-changes.js";
import { type ChangeRow, UNKNOWN } from "./change-rows.js";

export interface Restored {
  readonly path: string;
  /** Number of the change, as `hermes undo` lists it. */
  readonly change: number;
  readonly tool: string;
  readonly call: string;
  /** `restored`: it holds again what it held. `would-restore`: only asked. `left`: see `reason`. */
  readonly outcome: "restored" | "would-restore" | "left";
  readonly did?: "content put back" | "created file removed" | "removed file made again" | "moved back";
  readonly reason?: string;
}

/**
 * Takes changes back, newest first. A file is touched only if it still holds exactly what the call left in it and
 * what it held before was kept; anything else is left alone and said.
 */
export async function restoreAll(request: {
  readonly changes: FileChanges;
  /** Newest first. */
  readonly rows: readonly ChangeRow[];
  readonly files: (environment: string) => Promise<EnvironmentFiles>;
  readonly dryRun: boolean;
}): Promise<readonly Restored[]> {
  const { changes, rows, dryRun } = request;
  const table = await changes.rows();
  const results: Restored[] = [];
  /** What files would hold after the steps of a dry run so far. */
  const imagined = new Map<string, string | undefined>();
  for (const row of rows) {
    const base = { path: row.path, change: row.seq, tool: row.tool, call: row.callId };
    try {
      const files = await request.files(row.environment);
      const did = await restoreOne({ row, files, changes, dryRun, imagined });
      if (!dryRun) table.markUndone(row.seq);
      results.push({ ...base, outcome: dryRun ? "would-restore" : "restored", did });
    } catch (error) {
      results.push({ ...base, outcome: "left", reason: describeThrown(error).message });
    }
  }
  return results;
}

interface Step {
  readonly row: ChangeRow;
  readonly files: EnvironmentFiles;
  readonly changes: FileChanges;
  readonly dryRun: boolean;
  readonly imagined: Map<string, string | undefined>;
}

async function restoreOne(step: Step): Promise<NonNullable<Restored["did"]>> {
  const { row } = step;
  if (row.existed && !row.kept) {
    throw new ToolError("what it held before was not kept: too large, or not readable");
  }
  if (row.after === UNKNOWN) throw new ToolError("how the change ended is not known");
  if (row.kind === "rename") return moveBack(step);
  await requireUnchanged(step, row.path);
  if (!row.existed) return removeCreated(step);
  return putBack(step);
}

async function requireUnchanged({ row, files, imagined, dryRun }: Step, path: string): Promise<void> {
  const now = dryRun && imagined.has(path) ? imagined.get(path) : await digestAt(files, path);
  if (now === row.after) return;
  if (now === undefined) throw new ToolError("it was removed since");
  throw new ToolError(
    row.after === undefined ? "something else is there by now" : "it was changed again since",
  );
}

async function removeCreated({ row, files, dryRun, imagined }: Step) {
  imagined.set(row.path, undefined);
  if (!dryRun) await files.remove(row.path);
  return "created file removed" as const;
}

async function putBack({ row, files, changes, dryRun, imagined }: Step) {
  const bytes = row.before === undefined ? undefined : await changes.bytes.get(row.before);
  if (bytes === undefined || bytes.byteLength !== row.beforeBytes) {
    throw new ToolError("what it held before is no longer kept");
  }
  imagined.set(row.path, await digestOf(bytes));
  if (!dryRun) {
    await files.write(row.path, bytes, {
      expected: { sha256: row.after },
      mode: row.beforeMode,
    });
  }
  return row.kind === "remove" ? ("removed file made again" as const) : ("content put back" as const);
}

async function moveBack(step: Step) {
  const { row, files, dryRun, imagined } = step;
  const { target } = row;
  if (target === undefined) throw new ToolError("where it went was not written down");
  await requireUnchanged(step, target);
  const there = dryRun && imagined.has(row.path) ? imagined.get(row.path) : await digestAt(files, row.path);
  if (there !== undefined) throw new ToolError("another file has its old name by now");
  imagined.set(target, undefined);
  imagined.set(row.path, row.after);
  if (!dryRun) await files.rename(target, row.path);
  return "moved back" as const;
}

async function digestAt(files: EnvironmentFiles, path: string): Promise<string | undefined> {
  const stat = await files.stat(path);
  if (stat === undefined) return undefined;
  if (stat.type !== "file") return "not a file";
  return digestOf(await files.read(path));
}
