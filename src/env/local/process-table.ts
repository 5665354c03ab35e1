import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { EXEC_MARK } from "./marks.js";

const MARK = new RegExp(`(?:^|\\0)${EXEC_MARK}=([^\\0]*)`);

const EXEC_LIMIT_MS = 1_000;
const LOOKS_WITHOUT = 3;
/** Where `flags`, `env_start` and `env_end` are in /proc/PID/stat, counted from the state. */
const FLAGS = 6;
const ENVIRONMENT_RANGE = 47;
/** PF_KTHREAD: no program, nobody's child. */
const KERNEL_THREAD = 0x0020_0000;

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly state: string;
  readonly command: string;
}

/** A list takes milliseconds, and hundreds of trees may be ended at once. */
let reading: Promise<readonly ProcessRow[] | undefined> | undefined;
let next: Promise<readonly ProcessRow[] | undefined> | undefined;

/**
 * All processes as they are at some moment after the call. Those who ask at the same time share one list.
 * `undefined` where there is no /proc (macOS).
 */
export function processTable(): Promise<readonly ProcessRow[] | undefined> {
  if (reading === undefined) {
    reading = readTable().finally(() => {
      reading = undefined;
    });
    return reading;
  }
  // The one being read may have passed over what has just been started.
  next ??= reading.then(() => {
    next = undefined;
    return processTable();
  });
  return next;
}

/** Only those with a higher number. */
export function tableAbove(pid: number): Promise<readonly ProcessRow[] | undefined> {
  return readTable(pid);
}

async function readTable(above = 0): Promise<readonly ProcessRow[] | undefined> {
  if (process.platform !== "linux") return undefined;
  let names: readonly string[];
  try {
    names = await readdir("/proc");
  } catch {
    return undefined;
  }
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
    const fields = line.slice(close + 2).split(" ");
    if ((Number(fields[FLAGS]) & KERNEL_THREAD) !== 0) return undefined;
    const [state = "?", parent = "0", group = "0"] = fields;
    const command = line.slice(line.indexOf("(") + 1, close);
    return { pid: Number(name), parent: Number(parent), group: Number(group), state, command };
  } catch {
    return undefined;
  }
}

export function isLiving(row: ProcessRow): boolean {
  return !isOver(row.state);
}

function isOver(state: string | undefined): boolean {
  return state === "Z" || state === "X";
}

const markedIn = new WeakMap<readonly ProcessRow[], Promise<ReadonlyMap<string, readonly ProcessRow[]>>>();

/** Processes of a list by their mark, read once for everybody who shares the list. */
export function marked(table: readonly ProcessRow[]): Promise<ReadonlyMap<string, readonly ProcessRow[]>> {
  const known = markedIn.get(table) ?? readMarks(table);
  markedIn.set(table, known);
  return known;
}

async function readMarks(table: readonly ProcessRow[]) {
  const found = new Map<string, ProcessRow[]>();
  await Promise.all(
    table.map(async (row) => {
      const mark = isLiving(row) ? await markOf(row) : undefined;
      if (mark === undefined) return;
      const rows = found.get(mark);
      if (rows === undefined) found.set(mark, [row]);
      else rows.push(row);
    }),
  );
  return found;
}

async function markOf({ pid }: ProcessRow): Promise<string | undefined> {
  if (pid === process.pid) return undefined;
  const deadline = performance.now() + EXEC_LIMIT_MS;
  let without = 0;
  try {
    for (;;) {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1");
      if (environment !== "") return MARK.exec(environment)?.[1];
      // For an instant, the new program looks as if it had none: the kernel has yet to count them.
      without = (await hasNoVariables(pid)) ? without + 1 : 0;
      if (without === LOOKS_WITHOUT || performance.now() > deadline) return undefined;
      await delay(1);
    }
  } catch {
    return undefined;
  }
}

/** Not so while a process becomes another program: its variables cannot be read then, but come back after it. */
async function hasNoVariables(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [begin, end] = fields.slice(ENVIRONMENT_RANGE, ENVIRONMENT_RANGE + 2);
  return isOver(fields[0]) || (begin === end && end !== "0");
}
