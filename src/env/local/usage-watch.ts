import { readFileSync } from "node:fs";
import { namesIn } from "../names-in.js";

/** What a tree of processes may use together. */
export interface UsageLimits {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
}

export interface UsageWatch {
  /** The limit for which the tree was ended, if it was. */
  stop(): "memory" | "processes" | undefined;
}

const LOOK_MS = 100;
/** Looking takes longer the larger the tree is; it must stay a small part of the time. */
const SHARE_OF_TIME = 20;
/** A moment above a limit that the kernel holds by itself for each process is nothing to end a program for. */
const TOLERANCE = 1.05;
const PAGE_BYTES = 4_096;

/**
 * Looks again and again how much a tree uses and ends it when that is too much, where the kernel cannot
 * count all of it together. The leader's death ends the tree: it is a sandbox.
 */
export function watchUsage(leader: number, limits: UsageLimits): UsageWatch {
  let reached: "memory" | "processes" | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const started = performance.now();
    reached = excessOf(leader, limits);
    if (reached !== undefined) {
      endGroup(leader);
      return;
    }
    lookAfter(Math.max(LOOK_MS, (performance.now() - started) * SHARE_OF_TIME));
  };
  const lookAfter = (ms: number) => {
    timer = setTimeout(look, ms);
    timer.unref();
  };
  lookAfter(LOOK_MS);
  return {
    stop() {
      clearTimeout(timer);
      return reached;
    },
  };
}

export function excessOf(leader: number, limits: UsageLimits): "memory" | "processes" | undefined {
  const most = limits.processes * TOLERANCE;
  const { processes, threads } = treeBelow(leader, most);
  if (threads > most) return "processes";
  const allowed = limits.memoryBytes * TOLERANCE;
  const resident = sum(processes.map(residentBytes));
  if (resident <= allowed) return undefined;
  // Those who share memory each count all of it above; the exact figure takes longer.
  return sum(processes.map((pid) => shareBytes(pid) ?? residentBytes(pid))) > allowed ? "memory" : undefined;
}

/** The leader and its descendants, until there are too many. */
function treeBelow(
  leader: number,
  most: number,
): { readonly processes: readonly number[]; readonly threads: number } {
  const processes: number[] = [];
  const waiting = [leader];
  let threads = 0;
  for (let pid = waiting.pop(); pid !== undefined && threads <= most; pid = waiting.pop()) {
    processes.push(pid);
    for (const thread of namesIn(`/proc/${pid}/task`)) {
      threads += 1;
      const children = readQuietly(`/proc/${pid}/task/${thread}/children`).trim();
      if (children !== "") waiting.push(...children.split(" ").map(Number));
    }
  }
  return { processes, threads };
}

function residentBytes(pid: number): number {
  return Number(readQuietly(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES;
}

/** What is shared counts in parts here. A process may keep this from being read. */
function shareBytes(pid: number): number | undefined {
  const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readQuietly(`/proc/${pid}/smaps_rollup`)) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, next) => total + next, 0);
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Ended by itself.
  }
}
