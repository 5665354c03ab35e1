import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Mounts at or below a folder, deepest first. */
export function mountsBelow(folder: string): readonly string[] {
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => (line.split(" ")[1] ?? "").replace(/\\040/g, " "))
    .filter((target) => target === folder || target.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length);
}

/** Living processes whose command line names the folder: daemons, shims and monitors are started with it. */
export function processesNaming(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        if (!readFileSync(`/proc/${name}/cmdline`, "latin1").includes(folder)) return false;
        return !/\) [ZX] /.test(readFileSync(`/proc/${name}/stat`, "latin1"));
      } catch {
        return false;
      }
    })
    .map(Number);
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** Throws when an engine that has been stopped left a process or a mount; ends and unmounts those first. */
export async function leaveNothing(folder: string, withinMs = 5_000): Promise<void> {
  await until(() => processesNaming(folder).length === 0, withinMs);
  const left = processesNaming(folder).map((pid) => `${pid} ${commandOf(pid)}`);
  for (const pid of processesNaming(folder)) process.kill(pid, "SIGKILL");
  // Engines keep a private mount for their own folder; containers' mounts must be gone by now.
  for (const target of mountsBelow(folder)) execFileSync("umount", ["-l", "--", target]);
  if (left.length > 0) throw new Error(`the engine left processes: ${left.join("; ")}`);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").slice(0, 120);
  } catch {
    return "";
  }
}
