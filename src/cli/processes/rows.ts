import { existsSync } from "node:fs";
import { join } from "node:path";
import { hermesPaths } from "../../config/paths.js";
import { type ProcessRow, ProcessRows } from "../../env/processes/process-rows.js";
import { createLogger } from "../../observe/log.js";
import { isOwnerAlive } from "../../store/process-owner.js";
import { openStore } from "../../store/store.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

/** The processes of this home for one command; undefined when it has never had any. */
export async function withProcessRows<Result>(
  { home }: CommandContext,
  work: (rows: ProcessRows | undefined) => Promise<Result>,
): Promise<Result> {
  const { stateDb } = hermesPaths(home);
  if (!existsSync(stateDb)) return work(undefined);
  const store = await openStore({ path: stateDb });
  const log = createLogger({ level: "warn" });
  for (const notice of store.notices) log.warn(notice);
  try {
    return await work(new ProcessRows(store));
  } finally {
    await store.close();
  }
}

export function processFolder({ home }: CommandContext): string {
  return join(hermesPaths(home).cache, "processes");
}

/** By id or a unique beginning of it, with or without `proc_`. */
export function findRow(rows: ProcessRows | undefined, id: string): ProcessRow {
  const direct = rows?.matching(id) ?? [];
  const found = direct.length > 0 ? direct : (rows?.matching(`proc_${id}`) ?? []);
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  throw found.length > 1
    ? commandError(
        "invalid_arguments",
        `${found.length} processes begin with ${id}`,
        `They are: ${found.map((row) => row.id).join(", ")}`,
      )
    : commandError("not_found", `There is no background process ${id}`, "See what there is: hermes ps --all");
}

/** What can be said about a row now: the runtime that would have written its end may be gone. */
export function statusNow(row: ProcessRow): "running" | "exited" | "lost" {
  return row.status === "running" && !isOwnerAlive(row.owner) ? "lost" : row.status;
}
