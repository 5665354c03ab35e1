import { open, readdir, readFile, stat } from "node:fs/promises";
import { readModes } from "./modes.js";

interface ProcessRow {
  readonly pid: number;
  readonly state: string;
  readonly group: number;
  /** Number of the controlling terminal; 0 without one. */
  readonly terminal: number;
  /** The process group that the controlling terminal listens to. */
  readonly foreground: number;
}

type SystemCall = "read" | "poll" | "select" | "epoll" | "restarted";

const SYSTEM_CALLS: Readonly<Record<string, Readonly<Record<number, SystemCall>>>> = {
  x64: {
    0: "read",
    19: "read",
    7: "poll",
    271: "poll",
    23: "select",
    270: "select",
    232: "epoll",
    281: "epoll",
    441: "epoll",
    219: "restarted",
  },
  arm64: { 63: "read", 65: "read", 73: "poll", 72: "select", 22: "epoll", 441: "epoll", 128: "restarted" },
};

/** Device number of `/dev/tty`, which stands for the controlling terminal of whoever opens it. */
const OWN_TERMINAL = 0x500;
const MAX_THREADS = 32;
const MAX_PROCESSES = 1_000;
const MAX_POLLED = 1_024;
const POLLED_BYTES = 8;
const POLL_IN = 1;

/**
 * Whether a program in this terminal waits for somebody to type. Asked of the kernel: which of the processes
 * in the foreground is blocked on reading the terminal. `undefined` where it does not say.
 */
export async function waitsOnTerminal(leader: {
  readonly pid: number;
  readonly path: string;
}): Promise<boolean | undefined> {
  if (process.platform !== "linux") return undefined;
  const rows = await treeOf(leader.pid);
  const [first] = rows;
  if (first === undefined) return false;
  const terminal = await deviceNumber(leader.path);
  if (terminal === undefined) return undefined;
  // A sandbox has a session of its own; what is in it has no controlling terminal.
  const candidates = rows.filter((row) =>
    row.terminal === terminal ? row.group === first.foreground : row.terminal === 0,
  );
  let unknown = false;
  for (const row of candidates) {
    const waits = await processWaits(row, terminal);
    if (waits === true) return true;
    if (waits === undefined) unknown = true;
  }
  if (!unknown) return false;
  // A password prompt of another user's program (sudo): nothing can be seen of it but that it turned echo off.
  const modes = await readModes(leader.path);
  return modes?.wholeLines === true && !modes.echo ? true : undefined;
}

async function processWaits(row: ProcessRow, terminal: number): Promise<boolean | undefined> {
  if (row.state !== "S") return false;
  const threads = await names(`/proc/${row.pid}/task`);
  if (threads === undefined) return false;
  let unknown = false;
  for (const thread of threads.slice(0, MAX_THREADS)) {
    const waits = await threadWaits({ row, terminal, thread });
    if (waits === true) return true;
    if (waits === undefined) unknown = true;
  }
  return unknown ? undefined : false;
}

interface Thread {
  readonly row: ProcessRow;
  readonly terminal: number;
  readonly thread: string;
}

async function threadWaits(at: Thread): Promise<boolean | undefined> {
  const place = `/proc/${at.row.pid}/task/${at.thread}`;
  let line: string;
  try {
    line = await readFile(`${place}/syscall`, "latin1");
  } catch {
    return blockedInKernel(at, place);
  }
  const [number = "", ...values] = line.split(" ");
  const kind = SYSTEM_CALLS[process.arch]?.[Number(number)];
  if (SYSTEM_CALLS[process.arch] === undefined || kind === "restarted") return blockedInKernel(at, place);
  if (kind === undefined) return false;
  const given = values.map(Number);
  for (const descriptor of await watched({ kind, given, pid: at.row.pid })) {
    if (await isTerminal(at, descriptor)) return true;
  }
  return false;
}

/** By the name of the kernel function it sleeps in, where the system call is not to be seen. */
async function blockedInKernel(at: Thread, place: string): Promise<boolean | undefined> {
  const where = await readFile(`${place}/wchan`, "latin1").catch(() => "0");
  if (where === "0" || where === "") return undefined;
  if (where === "n_tty_read") return true;
  if (!/^(?:wait_woken|do_poll|do_sys_poll|poll_schedule_timeout|do_select|ep_poll)/.test(where))
    return false;
  return (await isTerminal(at, 0)) ? true : undefined;
}

/** The descriptors that a blocked system call waits on for something to read. */
async function watched(call: {
  readonly kind: SystemCall;
  readonly given: readonly number[];
  readonly pid: number;
}): Promise<readonly number[]> {
  const [first = 0, second = 0] = call.given;
  switch (call.kind) {
    case "read":
      return [first];
    case "poll":
      return polled(
        await memory({ pid: call.pid, at: first, bytes: Math.min(second, MAX_POLLED) * POLLED_BYTES }),
      );
    case "select":
      return selected(
        await memory({ pid: call.pid, at: second, bytes: Math.ceil(Math.min(first, MAX_POLLED) / 8) }),
      );
    case "epoll":
      return registered(call.pid, first);
    case "restarted":
      return [];
  }
}

function polled(structures: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = 0; at + POLLED_BYTES <= structures.length; at += POLLED_BYTES) {
    const descriptor = structures.readInt32LE(at);
    if (descriptor >= 0 && (structures.readInt16LE(at + 4) & POLL_IN) !== 0) found.push(descriptor);
  }
  return found;
}

function selected(bits: Buffer): readonly number[] {
  const found: number[] = [];
  for (let descriptor = 0; descriptor < bits.length * 8; descriptor += 1) {
    if (((bits[descriptor >> 3] ?? 0) >> (descriptor & 7)) & 1) found.push(descriptor);
  }
  return found;
}

async function registered(pid: number, descriptor: number): Promise<readonly number[]> {
  const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, "latin1").catch(() => "");
  return [...info.matchAll(/^tfd:\s*(\d+) events:\s*([0-9a-f]+)/gm)]
    .filter(([, , events]) => (Number.parseInt(events ?? "0", 16) & POLL_IN) !== 0)
    .map(([, target]) => Number(target));
}

async function memory(piece: {
  readonly pid: number;
  readonly at: number;
  readonly bytes: number;
}): Promise<Buffer> {
  const nothing = Buffer.alloc(0);
  if (piece.at === 0 || piece.bytes === 0) return nothing;
  const handle = await open(`/proc/${piece.pid}/mem`).catch(() => undefined);
  if (handle === undefined) return nothing;
  try {
    const buffer = Buffer.alloc(piece.bytes);
    const { bytesRead } = await handle.read(buffer, 0, piece.bytes, piece.at);
    return buffer.subarray(0, bytesRead);
  } catch {
    return nothing;
  } finally {
    await handle.close();
  }
}

async function isTerminal({ row, terminal }: Thread, descriptor: number): Promise<boolean> {
  const device = await deviceNumber(`/proc/${row.pid}/fd/${descriptor}`);
  return device === terminal || (device === OWN_TERMINAL && row.terminal === terminal);
}

async function deviceNumber(path: string): Promise<number | undefined> {
  try {
    return Number((await stat(path)).rdev);
  } catch {
    return undefined;
  }
}

function names(folder: string): Promise<readonly string[] | undefined> {
  return readdir(folder).catch(() => undefined);
}

/** The leader and what descends from it. Walked down, because a list of all processes takes its time. */
async function treeOf(leader: number): Promise<readonly ProcessRow[]> {
  const rows: ProcessRow[] = [];
  for (let next = [leader]; next.length > 0 && rows.length < MAX_PROCESSES; ) {
    const level = await Promise.all(next.map(processRow));
    rows.push(...level.filter((row) => row !== undefined));
    next = (await Promise.all(next.map(childrenOf))).flat();
  }
  return rows;
}

/** Each thread has children of its own. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = (await names(`/proc/${pid}/task`)) ?? [];
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "latin1").catch(() => "")),
  );
  return lists.flatMap((list) => list.trim().split(" ").filter(Boolean).map(Number));
}

async function processRow(pid: number): Promise<ProcessRow | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  if (line === undefined) return undefined;
  // The command is in parentheses and may itself hold spaces and parentheses.
  const [state = "?", , group, , terminal, foreground] = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state,
    group: Number(group),
    terminal: Number(terminal),
    foreground: Number(foreground),
  };
}
