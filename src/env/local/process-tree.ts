import { setTimeout as delay } from "node:timers/promises";
import { errnoOf } from "../../base/errno.js";
import type { Survivor } from "../environment.js";
import { isLiving, marked, type ProcessRow, processTable, tableAbove } from "./process-table.js";

export interface TreeRoot {
  /** Leader of the process group. Undefined when it has ended: its number may be somebody else's by now. */
  readonly pid: number | undefined;
  /** Value of EXEC_MARK in the environment of the tree. */
  readonly mark: string;
  /**
   * The leader and its child only hold the tree (a sandbox) and end with it. A TERM would end them first,
   * and the tree with them before it could clean up.
   */
  readonly held?: boolean;
}

const TERM_GRACE_MS = 1_000;
const KILL_GRACE_MS = 3_000;
const LEAVING_MS = 50;

/**
 * Ends a whole tree: TERM, a grace period, then KILL, until nothing is left. Members are found by group, by
 * parentage and by their mark, so `setsid` and double forks do not escape. Resolves with what could not be
 * ended (another user's process, one stuck in the kernel), normally nothing.
 */
export async function endTree(root: TreeRoot): Promise<readonly Survivor[]> {
  await signalTree(root, "SIGTERM");
  if (await emptied(root, TERM_GRACE_MS)) return [];
  const deadline = performance.now() + KILL_GRACE_MS;
  let alive = await signalTree(root, "SIGKILL");
  while (alive.length > 0 && performance.now() < deadline) {
    await delay(15);
    // Signalled again each round: a fork may have slipped in between the listing and the signal.
    alive = await signalTree(root, "SIGKILL");
  }
  return alive.map(({ pid, command }) => ({ pid, command }));
}

/**
 * What is left of a group whose leader has ended by itself. A last program may just be on its way out, so
 * those found are looked at again a moment later.
 */
export async function leftInGroup(pid: number): Promise<readonly Survivor[]> {
  if (!groupAlive(pid)) return [];
  await delay(LEAVING_MS);
  return livingInGroup(pid);
}

async function livingInGroup(group: number): Promise<readonly Survivor[]> {
  const inGroup = (row: ProcessRow) => row.group === group;
  // Numbers are given out in order, so members have higher ones than their leader unless the count began anew.
  let rows = (await tableAbove(group))?.filter(inGroup) ?? [];
  if (rows.length === 0) rows = (await processTable())?.filter(inGroup) ?? [];
  return rows.filter(isLiving).map(({ pid, command }) => ({ pid, command }));
}

/**
 * Waits until nothing of a sandbox is left after its leader has ended: the kernel ends the rest, and the
 * last to go is in the leader's group.
 */
export async function groupGone(pid: number): Promise<readonly Survivor[]> {
  const deadline = performance.now() + KILL_GRACE_MS;
  for (let wait = 1; groupAlive(pid); wait = Math.min(wait * 2, 50)) {
    const left = await livingInGroup(pid);
    if (left.length === 0 || performance.now() >= deadline) return left;
    await delay(wait);
  }
  return [];
}

async function emptied(root: TreeRoot, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let wait = 5; performance.now() < deadline; wait = Math.min(wait * 2, 50)) {
    if ((await members(root)).length === 0) return true;
    await delay(wait);
  }
  return false;
}

async function signalTree(root: TreeRoot, signal: "SIGTERM" | "SIGKILL"): Promise<readonly ProcessRow[]> {
  const group = root.pid;
  const signalGroup = (each: NodeJS.Signals) => {
    if (group !== undefined) sendSignal(-group, each);
  };
  // At once, because a list of very many processes takes its time.
  if (signal === "SIGKILL") signalGroup(signal);
  const found = await members(root);
  const gently = root.held === true && signal === "SIGTERM";
  const single = found.filter((row) =>
    gently ? row.pid !== group && row.parent !== group : row.group !== group,
  );
  const send = (each: NodeJS.Signals) => {
    if (!gently) signalGroup(each);
    for (const row of single) sendSignal(row.pid, each);
  };
  send(signal);
  // A stopped process takes TERM only once it runs again.
  if (signal === "SIGTERM") send("SIGCONT");
  return found;
}

/** To a process, or with a negative number to a group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or not ours to signal: the listing that follows tells.
  }
}

/** Living members of the tree; zombies do not count, they only wait to be collected. */
async function members(root: TreeRoot): Promise<readonly ProcessRow[]> {
  const table = await processTable();
  const { pid } = root;
  if (table === undefined) return pid !== undefined && groupAlive(pid) ? [onlyGroupKnown(pid)] : [];
  const chosen = new Set<number>();
  if (pid !== undefined) {
    for (const row of table) if (row.group === pid || row.pid === pid) chosen.add(row.pid);
  }
  // Nothing leaves a process namespace: there, descent tells all.
  if (root.held !== true) {
    for (const row of (await marked(table)).get(root.mark) ?? []) chosen.add(row.pid);
  }
  addDescendants(chosen, table);
  return table.filter((row) => chosen.has(row.pid) && isLiving(row));
}

function addDescendants(chosen: Set<number>, table: readonly ProcessRow[]): void {
  for (let grown = true; grown; ) {
    grown = false;
    for (const row of table) {
      if (chosen.has(row.parent) && !chosen.has(row.pid)) {
        chosen.add(row.pid);
        grown = true;
      }
    }
  }
}

/** What of a tree lives now, with those that left its group as long as somebody of it is their ancestor. */
export async function livingTree(leader: number): Promise<readonly number[]> {
  const table = (await processTable()) ?? [];
  const chosen = new Set(table.filter((row) => row.group === leader).map((row) => row.pid));
  addDescendants(chosen, table);
  return table.filter((row) => chosen.has(row.pid) && isLiving(row)).map((row) => row.pid);
}

function onlyGroupKnown(pid: number): ProcessRow {
  return {
    pid,
    parent: 0,
    group: pid,
    state: "?",
    command: "process group",
    program: undefined,
    hidden: true,
  };
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

const groupsToEndAtExit = new Set<number>();
let exitHookInstalled = false;

/** Groups are detached, so they would outlive this process; the returned function ends the watch. */
export function endWithThisProcess(pid: number): () => void {
  if (!exitHookInstalled) {
    exitHookInstalled = true;
    process.on("exit", () => {
      for (const group of groupsToEndAtExit) sendSignal(-group, "SIGKILL");
    });
  }
  groupsToEndAtExit.add(pid);
  return () => groupsToEndAtExit.delete(pid);
}
