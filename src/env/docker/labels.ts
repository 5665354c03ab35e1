import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { sha256 } from "../../base/hash.js";
import type { DockerOptions } from "./docker.js";
import { type EngineApi, EngineError } from "./engine-api.js";

export const OURS = "hermes-agent";

const LABEL = {
  task: "hermes-task-id",
  profile: "hermes-profile",
  home: "hermes-home",
  config: "hermes-config",
  pid: "hermes-pid",
  started: "hermes-owner-started",
  host: "hermes-owner-host",
  lifetime: "hermes-lifetime-seconds",
} as const;

/** One row of the engine's list of containers. */
export interface ContainerRow {
  readonly Id: string;
  readonly Names?: readonly string[];
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State?: string;
  /** Seconds since 1970. */
  readonly Created?: number;
}

export interface ContainerIdentity {
  readonly task: string;
  readonly home: string;
  readonly config: string;
}

export function identityOf(options: DockerOptions, configHash: string): ContainerIdentity {
  return { task: options.task, home: hashedHome(options.home), config: configHash };
}

export function containerLabels(request: {
  readonly identity: ContainerIdentity;
  readonly profile: string;
  readonly owner: Owner;
  readonly lifetimeSeconds: number;
}): Readonly<Record<string, string>> {
  const { identity, owner } = request;
  return {
    [OURS]: "1",
    [LABEL.task]: identity.task,
    [LABEL.profile]: request.profile,
    [LABEL.home]: identity.home,
    [LABEL.config]: identity.config,
    [LABEL.pid]: String(owner.pid),
    [LABEL.started]: owner.started,
    [LABEL.host]: owner.host,
    [LABEL.lifetime]: String(request.lifetimeSeconds),
  };
}

/** Containers of the identity, or all of ours without one, in the form the engine's list takes. */
export function labelFilter(identity?: ContainerIdentity): string {
  const own = identity === undefined ? [] : (["task", "home", "config"] as const);
  return JSON.stringify({
    label: [`${OURS}=1`, ...own.map((key) => `${LABEL[key]}=${identity?.[key] ?? ""}`)],
  });
}

/**
 * Labels are fixed for ever, but a container can find a new owner, so its present one stands in its name.
 */
export function containerName(task: string, owner: Owner): string {
  const plain = task.replace(/[^a-zA-Z0-9_-]+/g, "-").slice(0, 40) || "task";
  return `hermes-${plain}-${randomBytes(4).toString("hex")}.${owner.pid}.${owner.started}`;
}

export function ownerOf(row: ContainerRow): Owner | undefined {
  const labels = row.Labels ?? {};
  const host = labels[LABEL.host];
  if (labels[OURS] !== "1" || host === undefined) return undefined;
  const name = (row.Names?.[0] ?? "").replace(/^\//, "");
  const [, pid = labels[LABEL.pid], started = labels[LABEL.started]] =
    /^hermes-[^.]+\.(\d+)\.(.+)$/.exec(name) ?? [];
  if (pid === undefined || started === undefined || !/^\d+$/.test(pid)) return undefined;
  return { pid: Number(pid), started, host };
}

export function taskOf(row: ContainerRow): string {
  return row.Labels?.[LABEL.task] ?? "";
}

export function lifetimeOf(row: ContainerRow): number {
  const seconds = Number(row.Labels?.[LABEL.lifetime]);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_LIFETIME_SECONDS;
}

export const DEFAULT_LIFETIME_SECONDS = 300;

function hashedHome(home: string): string {
  return sha256(home).slice(0, 16);
}

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

/** Two processes may want the same container: after this long its name shows who came last. */
const CLAIM_MS = 100;

/**
 * Id of a container that a dead process has left, with the same task and configuration, and that is now this
 * process's own. One whose owner lives is never shared: whoever closes first would take it from the other.
 */
export async function claimLeftOver(
  api: EngineApi,
  identity: ContainerIdentity,
): Promise<string | undefined> {
  const rows = await api.json<readonly ContainerRow[]>({
    path: "/containers/json",
    query: { all: true, filters: labelFilter(identity) },
  });
  for (const row of rows) {
    const owner = ownerOf(row);
    if (owner === undefined || (await ownerState(owner)) !== "dead") continue;
    if (await claim(api, { id: row.Id, task: identity.task })) return row.Id;
  }
  return undefined;
}

async function claim(
  api: EngineApi,
  wanted: { readonly id: string; readonly task: string },
): Promise<boolean> {
  const name = containerName(wanted.task, await thisOwner());
  try {
    await api.send({ method: "POST", path: `/containers/${wanted.id}/rename`, query: { name } });
    await delay(CLAIM_MS);
    const found = await api.json<{ readonly Name: string }>({ path: `/containers/${wanted.id}/json` });
    return found.Name.replace(/^\//, "") === name;
  } catch (error) {
    // Removed or renamed by somebody else meanwhile: not ours.
    if (error instanceof EngineError && error.status !== undefined) return false;
    throw error;
  }
}
