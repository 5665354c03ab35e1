import { setTimeout as delay } from "node:timers/promises";
import { KILLED, type ProcessRow, type ProcessRows } from "../../env/processes/process-rows.js";
import { endLeftTree } from "../../env/processes/reap.js";
import { isOwnerAlive } from "../../store/process-owner.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { findRow, withProcessRows } from "./rows.js";

/** The runtime that follows a process looks for such requests every two seconds. */
const OWNER_MS = 10_000;
/** A runtime that has seen the end of its process writes it down at once. */
const NOTED_MS = 2_000;

interface Ended {
  readonly id: string;
  readonly outcome: "ended" | "had ended before" | "survived";
  readonly survivors: readonly string[];
}

export async function kill(context: CommandContext): Promise<void> {
  const { out, args: ids } = context;
  await withProcessRows(context, async (rows) => {
    const chosen = ids.map((id) => findRow(rows, id));
    if (rows === undefined) return;
    const ended: Ended[] = [];
    for (const row of chosen) ended.push(await end(row, rows));
    if (out.json) out.value(ended);
    for (const one of ended) {
      const survivors = one.survivors.length === 0 ? "" : `: ${one.survivors.join(", ")}`;
      out.line(
        `${out.mark(one.outcome === "survived" ? "error" : "ok")} ${one.id} ${one.outcome}${survivors}`,
      );
    }
    if (ended.some((one) => one.outcome === "survived")) process.exitCode = 1;
  });
}

async function end(row: ProcessRow, rows: ProcessRows): Promise<Ended> {
  const { id } = row;
  if (row.status !== "running") return { id, outcome: "had ended before", survivors: [] };
  const followed = isOwnerAlive(row.owner);
  rows.askToEnd(id, Date.now());
  if (row.kind !== "local" || (row.pidStart === undefined && followed))
    return elsewhere(row, { rows, followed });
  const { found, survivors } = await endLeftTree(row);
  if (survivors.length > 0) {
    return { id, outcome: "survived", survivors: survivors.map(({ pid, command }) => `${pid} (${command})`) };
  }
  if (!followed || !(await hasEnded(rows, id, NOTED_MS))) {
    rows.end(id, { status: "exited", exitCode: KILLED, lost: undefined, endedAt: Date.now() });
  }
  return { id, outcome: found ? "ended" : "had ended before", survivors: [] };
}

/** Only the runtime that started it can reach it. */
async function elsewhere(
  row: ProcessRow,
  { rows, followed }: { readonly rows: ProcessRows; readonly followed: boolean },
): Promise<Ended> {
  if (followed && (await hasEnded(rows, row.id, OWNER_MS)))
    return { id: row.id, outcome: "ended", survivors: [] };
  const place = `${row.environment}${row.pid === undefined ? "" : `, process ${row.pid}`}`;
  throw commandError(
    "unavailable",
    followed
      ? `The runtime that follows ${row.id} did not end it within ${OWNER_MS / 1000} s`
      : `The runtime that followed ${row.id} is gone, and it runs elsewhere (${place})`,
    "End it there by hand.",
  );
}

async function hasEnded(rows: ProcessRows, id: string, withinMs: number): Promise<boolean> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; ) {
    if (rows.matching(id)[0]?.status !== "running") return true;
    await delay(50);
  }
  return false;
}
