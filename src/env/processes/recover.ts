import { randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isOwnerAlive } from "../../store/process-owner.js";
import type { Survivor } from "../environment.js";
import { makePrivateFolder } from "./log-files.js";
import type { ProcessRow, ProcessRows } from "./process-rows.js";
import { endLeftTree } from "./reap.js";

const MARKER = /^owner-(.+)$/;

/** What became of one process that a dead runtime had left. */
export interface LeftProcess {
  readonly id: string;
  readonly command: string;
  readonly environment: string;
  readonly pid: number | undefined;
  readonly outcome: "ended" | "already gone" | "survived" | "elsewhere";
  readonly survivors: readonly Survivor[];
}

/**
 * A file that says that this runtime has processes. When the next one starts and finds such a file of a dead
 * runtime it looks into the table; otherwise it need not even open it.
 */
export async function leaveMarker(folder: string, owner: string): Promise<void> {
  await makePrivateFolder(folder);
  await writeFile(markerFile(folder, owner), "", { mode: 0o600 });
}

export async function removeMarker(folder: string, owner: string): Promise<void> {
  await rm(markerFile(folder, owner), { force: true });
}

function markerFile(folder: string, owner: string): string {
  return join(folder, `owner-${owner}`);
}

/** Runtimes that died without ending what they had started. */
export async function deadOwners(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const owners = names.flatMap((name) => MARKER.exec(name)?.[1] ?? []);
  return owners.filter((owner) => !isOwnerAlive(owner));
}

/** Ends what dead runtimes have left on this machine and writes down what became of it. */
export async function recoverLeft(options: {
  readonly rows: ProcessRows;
  readonly folder: string;
  readonly now: () => number;
}): Promise<readonly LeftProcess[]> {
  const { rows, folder, now } = options;
  const dead = await deadOwners(folder);
  const left = await Promise.all(rows.abandoned().map((row) => recoverOne(row, { rows, now })));
  for (const owner of dead) await removeMarker(folder, owner);
  return left.flat();
}

async function recoverOne(
  row: ProcessRow,
  { rows, now }: { readonly rows: ProcessRows; readonly now: () => number },
): Promise<readonly LeftProcess[]> {
  const { id, command, environment, pid } = row;
  if (row.kind !== "local") {
    const lost = "the runtime that followed it died; whether it still runs there is not known";
    if (!rows.end(id, { status: "lost", exitCode: undefined, lost, endedAt: now() })) return [];
    return [{ id, command, environment, pid, outcome: "elsewhere", survivors: [] }];
  }
  const { found, survivors } = await endLeftTree(row);
  const outcome = !found ? "already gone" : survivors.length === 0 ? "ended" : "survived";
  const lost = `the runtime that followed it died; ${found ? "it was ended at the next start" : "it is gone"}`;
  // Two runtimes may start at once: the one whose note counts reports it.
  if (!rows.end(id, { status: "lost", exitCode: undefined, lost, endedAt: now() })) return [];
  return [{ id, command, environment, pid, outcome, survivors }];
}

/** What a person is told about it, one line each. */
export function describeLeft(left: LeftProcess): string {
  const what = `${left.id} (${left.command}) was running when its runtime died`;
  switch (left.outcome) {
    case "ended":
      return `${what}; it and everything it had started was ended`;
    case "already gone":
      return `${what}; it is gone`;
    case "survived":
      return `${what}; these could not be ended: ${left.survivors.map(({ pid, command }) => `${pid} (${command})`).join(", ")}`;
    case "elsewhere":
      return `${what}; it was started in ${left.environment}, where it may still run${left.pid === undefined ? "" : ` as process ${left.pid}`}`;
  }
}

export function newProcessId(): string {
  return `proc_${randomBytes(6).toString("hex")}`;
}
