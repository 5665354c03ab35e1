import { randomBytes } from "node:crypto";
import { sha256 } from "../../base/hash.js";
import type { DockerOptions } from "./options.js";
import type { Owner } from "./owner.js";

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
