import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Environment variable that marks every process one exec started, however it forked or changed session. */
export const EXEC_MARK = "HERMES_EXEC_ID";

export interface TreeRoot {
  /** Leader of the process group. */
  readonly pid: number;
  /** Value of EXEC_MARK in the environment of the tree. */
  readonly mark: string;
  /**
   * The leader and its child only hold the tree (a sandbox) and end with it. A TERM would end them first,
   * and the tree with them before it could clean up.
   */
  readonly held?: boolean;
}

export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly state: string;
  readonly command: string;
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
  const deadline = Date.now() + KILL_GRACE_MS;
  let alive = await signalTree(root, "SIGKILL");
  while (alive.length > 0 && Date.now() < deadline) {
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
  let rows = (await processTable({ above: group }))?.filter(inGroup) ?? [];
  if (rows.length === 0) rows = (await processTable())?.filter(inGroup) ?? [];
  return rows
    .filter((row) => row.state !== "Z" && row.state !== "X")
    .map(({ pid, command }) => ({ pid, command }));
}

/**
 * Waits until nothing of a sandbox is left after its leader has ended: the kernel ends the rest, and the
 * last to go is in the leader's group.
 */
export async function groupGone(pid: number): Promise<readonly Survivor[]> {
  const deadline = Date.now() + KILL_GRACE_MS;
  for (let wait = 1; groupAlive(pid); wait = Math.min(wait * 2, 50)) {
    const left = await livingInGroup(pid);
    if (left.length === 0 || Date.now() >= deadline) return left;
    await delay(wait);
  }
  return [];
}

async function emptied(root: TreeRoot, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  for (let wait = 5; Date.now() < deadline; wait = Math.min(wait * 2, 50)) {
    if ((await members(root)).length === 0) return true;
    await delay(wait);
  }
  return false;
}

async function signalTree(root: TreeRoot, signal: "SIGTERM" | "SIGKILL"): Promise<readonly ProcessRow[]> {
  // At once, because a list of very many processes takes its time.
  if (signal === "SIGKILL") sendSignal(-root.pid, signal);
  const found = await members(root);
  const gently = root.held === true && signal === "SIGTERM";
  const single = found.filter((row) =>
    gently ? row.pid !== root.pid && row.parent !== root.pid : row.group !== root.pid,
  );
  const send = (each: NodeJS.Signals) => {
    if (!gently) sendSignal(-root.pid, each);
    for (const row of single) sendSignal(row.pid, each);
  };
  send(signal);
  // A stopped process takes TERM only once it runs again.
  if (signal === "SIGTERM") send("SIGCONT");
  return found;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, or not ours to signal: the listing that follows tells.
  }
}

/** Living members of the tree; zombies do not count, they only wait to be collected. */
async function members(root: TreeRoot): Promise<readonly ProcessRow[]> {
  const table = await processTable();
  if (table === undefined) return groupAlive(root.pid) ? [onlyGroupKnown(root.pid)] : [];
  const chosen = new Set<number>([root.pid]);
  for (const row of table) if (row.group === root.pid) chosen.add(row.pid);
  for (let grown = true; grown; ) {
    grown = false;
    for (const row of table) {
      if (chosen.has(row.parent) && !chosen.has(row.pid)) {
        chosen.add(row.pid);
        grown = true;
      }
    }
  }
  // Nothing leaves a process namespace: there, descent tells all.
  if (root.held !== true)
    for (const pid of await marked({ table, known: chosen, mark: root.mark })) chosen.add(pid);
  return table.filter((row) => chosen.has(row.pid) && row.state !== "Z" && row.state !== "X");
}

async function marked(search: {
  readonly table: readonly ProcessRow[];
  readonly known: ReadonlySet<number>;
  readonly mark: string;
}): Promise<readonly number[]> {
  const others = search.table.filter((row) => !search.known.has(row.pid));
  const found = await Promise.all(
    others.map(async (row) => ((await carries(row, search.mark)) ? row.pid : 0)),
  );
  return found.filter((pid) => pid !== 0);
}

function onlyGroupKnown(pid: number): ProcessRow {
  return { pid, parent: 0, group: pid, state: "?", command: "process group" };
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function carries(row: ProcessRow, mark: string): Promise<boolean> {
  if (row.pid === process.pid || row.state === "Z") return false;
  try {
    const environment = await readFile(`/proc/${row.pid}/environ`);
    return environment.includes(`${EXEC_MARK}=${mark}`);
  } catch {
    return false;
  }
}

/** `undefined` where there is no /proc (macOS): only the group is known there. */
async function processTable(options: { above?: number } = {}): Promise<readonly ProcessRow[] | undefined> {
  if (process.platform !== "linux") return undefined;
  let names: readonly string[];
  try {
    names = await readdir("/proc");
  } catch {
    return undefined;
  }
  const { above = 0 } = options;
  const rows = await Promise.all(
    names.filter((name) => /^\d+$/.test(name) && Number(name) > above).map(readRow),
  );
  return rows.filter((row) => row !== undefined);
}

async function readRow(name: string): Promise<ProcessRow | undefined> {
  try {
    const line = await readFile(`/proc/${name}/stat`, "latin1");
    // The command is in parentheses and may itself hold spaces and parentheses.
    const close = line.lastIndexOf(")");
    const [state = "?", parent = "0", group = "0"] = line.slice(close + 2).split(" ");
    const command = line.slice(line.indexOf("(") + 1, close);
    return { pid: Number(name), parent: Number(parent), group: Number(group), state, command };
  } catch {
    return undefined;
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
