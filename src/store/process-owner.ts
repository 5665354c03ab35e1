import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { errnoOf } from "../base/errno.js";

/**
 * Names this process so that another one, later, can tell whether it is still alive: a pid alone is reused,
 * and start times count from boot. The random tail tells two journals of one process apart.
 */
export function newOwnerId(): string {
  const start = processStart(process.pid) ?? "0";
  return [bootId(), process.pid, start, randomBytes(4).toString("hex")].join(".");
}

export function isOwnerAlive(owner: string): boolean {
  const [boot, pidText, start] = owner.split(".");
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (boot !== bootId()) return false;
  // Without /proc the start is "0" on both sides, and the pid alone has to decide.
  return isAlive(pid) && (processStart(pid) ?? "0") === start;
}

/**
 * When the process with this number was started, so that another one that got its number later is not taken
 * for it; undefined when there is none (a zombie counts as none), or where /proc cannot tell.
 */
export function startOfProcess(pid: number): string | undefined {
  const start = processStart(pid);
  return start === undefined || start === "dead" ? undefined : `${bootId()}.${start}`;
}

/** True as well for a process of somebody else, which cannot be signalled. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

/** Start time in clock ticks since boot, "dead" for a zombie; undefined where /proc cannot tell. */
function processStart(pid: number): string | undefined {
  const stat = readIfPresent(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "dead" : fields[19];
}

function bootId(): string {
  return readIfPresent("/proc/sys/kernel/random/boot_id")?.slice(0, 8) ?? "boot";
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
