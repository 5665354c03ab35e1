import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const LOOK_EVERY_MS = 25;

/** Megabytes that this process held more at most while `work` ran, and the most that one of its children held. */
export async function memoryOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly grown: number; readonly child: number }> {
  // What earlier work left behind counts for neither.
  await delay(200);
  const before = process.memoryUsage.rss();
  let most = before;
  let child = 0;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
    child = Math.max(child, ...childrenOf(process.pid).map(peakOf));
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    const result = await work();
    look();
    const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
    return { result, grown: megabytes(most - before), child: megabytes(child) };
  } finally {
    clearInterval(timer);
  }
}

function childrenOf(pid: number): readonly number[] {
  const threads = list(`/proc/${pid}/task`);
  return threads.flatMap((thread) => {
    const children = text(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number);
    return [...children, ...children.flatMap(childrenOf)];
  });
}

/** The most it ever held, so that looking now and then is enough. */
function peakOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(text(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
