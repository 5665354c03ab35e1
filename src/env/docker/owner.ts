import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { sha256 } from "../../base/hash.js";

/** The process a container belongs to, so that others can tell whether it is still there. */
export interface Owner {
  readonly pid: number;
  /** When it began. Process numbers are used again, and again after each start of the machine. */
  readonly started: string;
  /** Where that number means something: this machine and this process namespace. */
  readonly host: string;
}

let self: Promise<Owner> | undefined;

export function thisOwner(): Promise<Owner> {
  self ??= (async () => ({
    pid: process.pid,
    started: (await startOf(process.pid)) ?? "0",
    host: await thisHost(),
  }))();
  return self;
}

/** "unknown" when this process cannot see whether it lives. */
export async function ownerState(owner: Owner): Promise<"alive" | "dead" | "unknown"> {
  if (owner.host !== (await thisHost())) return "unknown";
  return (await startOf(owner.pid)) === owner.started ? "alive" : "dead";
}

async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform !== "linux") return startByPs(pid);
  try {
    const line = await readFile(`/proc/${pid}/stat`, "latin1");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1");
    // A zombie has ended; only nobody has asked how.
    return /[ZX]/.test(fields[0] ?? "") ? undefined : `${boot.slice(0, 8)}.${fields[19] ?? "0"}`;
  } catch {
    return undefined;
  }
}

async function startByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() === "" ? undefined : short(stdout.trim());
  } catch {
    return undefined;
  }
}

async function thisHost(): Promise<string> {
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  const machine = await readFile("/etc/machine-id", "latin1").catch(() => "");
  return short(`${machine.trim() || hostname()} ${namespace}`);
}

function short(text: string): string {
  return sha256(text).slice(0, 12);
}
