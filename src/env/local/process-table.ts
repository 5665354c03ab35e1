import { closeSync, openSync, readSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { EXEC_MARK } from "./marks.js";

const MARK = new RegExp(`(?:^|\\0)${EXEC_MARK}=([^\\0]*)`);

const EXEC_LIMIT_MS = 1_000;
const LOOKS_WITHOUT = 3;
/** The kernel may be interrupted while it counts the variables of a new program; one that waits for something is counted. */
const COUNTED_MS = 50;
/** Where `flags`, `starttime` and what follows are in /proc/PID/stat, counted from the state. */
const FLAGS = 6;
const START_TIME = 19;
const START_CODE = 23;
/** From `start_data` to `env_end`: where the parts of its program lie. */
const PLACES = 42;
const ENVIRONMENT_RANGE = 47;
/** PF_KTHREAD: no program, nobody's child. */
const KERNEL_THREAD = 0x0020_0000;
/** As the kernel writes it for a program whose memory, variables among it, this process may not look at. */
const HIDDEN = "1";
/** Longer lines than the kernel writes. */
const LINE_BYTES = 4_096;
/** Others have their turn after so much of a list. */
const TURN_MS = 0.5;

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly state: string;
  readonly command: string;
  /** Which process, and which of the programs it has been; undefined while it becomes another one. */
  readonly program: string | undefined;
  /** Its variables cannot be read. */
  readonly hidden: boolean;
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
  const rows: ProcessRow[] = [];
  let since = performance.now();
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) <= above) continue;
    const row = readRow(name);
    if (row !== undefined) rows.push(row);
    if (performance.now() - since < TURN_MS) continue;
    await nextTurn();
    since = performance.now();
  }
  return rows;
}

/** Filled and read within one turn. */
const line = Buffer.allocUnsafeSlow(LINE_BYTES);

/**
 * Read at once, since the kernel makes this line from what it has at hand and nothing has to be waited for: through the
 * threads for files a list costs ten times as much of the processor, and all calls that run meanwhile feel it.
 */
function readLine(name: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(`/proc/${name}/stat`, "r");
    return line.toString("latin1", 0, readSync(descriptor, line, 0, LINE_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readRow(name: string): ProcessRow | undefined {
  const text = readLine(name);
  if (text === undefined) return undefined;
  // The command is in parentheses and may itself hold spaces and parentheses.
  const close = text.lastIndexOf(")");
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(" ");
  if ((Number(fields[FLAGS]) & KERNEL_THREAD) !== 0) return undefined;
  const [state = "?", parent = "0", group = "0"] = fields;
  const end = fields[ENVIRONMENT_RANGE + 1] ?? "0";
  const places = fields.slice(PLACES, ENVIRONMENT_RANGE + 2);
  return {
    pid: Number(name),
    parent: Number(parent),
    group: Number(group),
    state,
    command: text.slice(text.indexOf("(") + 1, close),
    // The places change with every program, since the kernel chooses them at random.
    program: end === "0" ? undefined : [name, fields[START_TIME], ...places].join(" "),
    hidden: fields[START_CODE] === HIDDEN,
  };
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

/** Of each program that was there at the last look: its mark, which it keeps as long as it is the same program. */
let marks: ReadonlyMap<string, string | undefined> = new Map();

async function readMarks(table: readonly ProcessRow[]) {
  const before = marks;
  const now = new Map<string, string | undefined>();
  const found = new Map<string, ProcessRow[]>();
  await Promise.all(
    table.map(async (row) => {
      if (!isLiving(row) || row.hidden) return;
      const { program } = row;
      const isKnown = program !== undefined && before.has(program);
      const mark = isKnown ? before.get(program) : await markOf(row);
      if (program !== undefined) now.set(program, mark);
      if (mark === undefined) return;
      const rows = found.get(mark);
      if (rows === undefined) found.set(mark, [row]);
      else rows.push(row);
    }),
  );
  marks = now;
  return found;
}

async function markOf({ pid }: ProcessRow): Promise<string | undefined> {
  if (pid === process.pid) return undefined;
  const begun = performance.now();
  let without = 0;
  let withoutSince = begun;
  try {
    for (;;) {
      // Unlike its line, these lie in its memory, and the kernel may have to wait for that.
      const environment = await readFile(`/proc/${pid}/environ`, "latin1");
      if (environment !== "") return MARK.exec(environment)?.[1];
      const now = performance.now();
      const { state, hasNone } = variablesOf(pid);
      if (isOver(state) || now - begun > EXEC_LIMIT_MS) return undefined;
      // For an instant, the new program looks as if it had none: the kernel has yet to count them.
      without = hasNone ? without + 1 : 0;
      if (without <= 1) withoutSince = now;
      if (without >= LOOKS_WITHOUT && (state !== "R" || now - withoutSince > COUNTED_MS)) return undefined;
      await delay(1);
    }
  } catch {
    return undefined;
  }
}

/** It has some while it becomes another program: they cannot be read then, but come back after it. */
function variablesOf(pid: number): { readonly state: string | undefined; readonly hasNone: boolean } {
  const text = readLine(String(pid)) ?? "";
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [begin, end] = fields.slice(ENVIRONMENT_RANGE, ENVIRONMENT_RANGE + 2);
  return { state: fields[0], hasNone: begin === end && end !== "0" };
}
