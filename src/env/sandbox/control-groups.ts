import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAtOrBelow } from "../../base/path.js";
import { isAlive } from "../../store/process-owner.js";
import { namesIn } from "../names-in.js";

/** What the kernel can count over all processes of one program together. */
export interface GroupLimits {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
}

export type ReachedLimit = "memory" | "processes";

/** One program's processes, whatever they fork. */
export interface ControlGroup {
  /** Writing `0` into each moves the writer, and what it starts from then on, into the group. */
  readonly joinFiles: readonly string[];
  /** Limits that the kernel has enforced so far. */
  reached(): readonly ReachedLimit[];
  /** When its last process is gone. */
  remove(): Promise<void>;
}

export interface ControlGroups {
  make(limits: GroupLimits): ControlGroup;
}

/** Folders in which groups can be made: one for both in the second version, one each in the first. */
export interface GroupPlaces {
  readonly version: 1 | 2;
  readonly memory: string;
  readonly processes: string;
}

const GROUP_NAME = /^hermes-(\d+)-\d+$/;
const REMOVE_ATTEMPTS = 40;
let counter = 0;

/** Undefined where this process may not make groups with both limits; then each process is limited by itself. */
export function findControlGroups(proc = "/proc/self"): ControlGroups | undefined {
  const places = placesFrom(readQuietly(join(proc, "cgroup")), readQuietly(join(proc, "mountinfo")));
  return places === undefined ? undefined : controlGroupsIn(places);
}

export function controlGroupsIn(places: GroupPlaces): ControlGroups | undefined {
  const folders = [...new Set([places.memory, places.processes])];
  folders.forEach(removeLeftOver);
  const groups: ControlGroups = {
    make(limits) {
      const name = `hermes-${process.pid}-${++counter}`;
      const [memory, processes] = [join(places.memory, name), join(places.processes, name)];
      const made = [...new Set([memory, processes])];
      try {
        for (const folder of made) mkdirSync(folder);
        if (places.version === 1) limitFirst({ memory, processes, limits });
        else limitSecond(memory, limits);
      } catch (error) {
        made.forEach(removeNow);
        throw error;
      }
      return {
        // Only here does the kernel move a process without first waiting for all others.
        joinFiles: made.map((folder) => join(folder, places.version === 1 ? "tasks" : "cgroup.procs")),
        reached: () => reachedIn(places.version, { memory, processes }),
        remove: async () => void (await Promise.all(made.map(removeSoon))),
      };
    },
  };
  return works(groups) ? groups : undefined;
}

function works(groups: ControlGroups): boolean {
  try {
    const trial = groups.make({ memoryBytes: 64 * 1024 ** 2, processes: 16 });
    void trial.remove();
    return true;
  } catch {
    return false;
  }
}

function limitFirst(group: { memory: string; processes: string; limits: GroupLimits }): void {
  const { memory, processes, limits } = group;
  set(memory, "memory.limit_in_bytes", limits.memoryBytes);
  // Without it, what does not fit is moved to the disk instead. Not every kernel counts that.
  trySet(memory, "memory.memsw.limit_in_bytes", limits.memoryBytes);
  trySet(memory, "memory.swappiness", 0);
  set(processes, "pids.max", limits.processes);
}

function limitSecond(folder: string, limits: GroupLimits): void {
  set(folder, "memory.max", limits.memoryBytes);
  trySet(folder, "memory.swap.max", 0);
  trySet(folder, "memory.oom.group", 1);
  set(folder, "pids.max", limits.processes);
}

function reachedIn(version: 1 | 2, group: { memory: string; processes: string }): readonly ReachedLimit[] {
  const killed = readQuietly(join(group.memory, version === 1 ? "memory.oom_control" : "memory.events"));
  const refused = readQuietly(join(group.processes, "pids.events"));
  return [
    ...(/^oom_kill [1-9]/m.test(killed) ? (["memory"] as const) : []),
    ...(/^max [1-9]/m.test(refused) ? (["processes"] as const) : []),
  ];
}

/** Where this process stands, and from there up: the first folder in which groups can be made. */
export function placesFrom(own: string, mountTable: string): GroupPlaces | undefined {
  const mounts = mountedGroups(mountTable);
  const memory = groupPlace({ own, mounts, controller: "memory" });
  const processes = groupPlace({ own, mounts, controller: "pids" });
  if (memory !== undefined && processes !== undefined) {
    return isWritable(memory) && isWritable(processes) ? { version: 1, memory, processes } : undefined;
  }
  const unified = groupPlace({ own, mounts, controller: undefined });
  const [top] = mounts.filter((mount) => mount.controllers === undefined);
  if (unified === undefined || top === undefined) return undefined;
  // Limits can be shared out below a group without processes only, so this process's own is seldom the one.
  for (let folder = unified; folder.startsWith(top.folder); folder = dirname(folder)) {
    const shared = readQuietly(join(folder, "cgroup.subtree_control")).split(/\s+/);
    const usable = ["memory", "pids"].every((controller) => shared.includes(controller));
    if (usable && isWritable(folder) && isWritable(join(folder, "cgroup.procs"))) {
      return { version: 2, memory: folder, processes: folder };
    }
    if (folder === top.folder) break;
  }
  return undefined;
}

/** Of a runtime that was killed. A group with somebody in it is not removed. */
function removeLeftOver(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, pid] = GROUP_NAME.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) removeNow(join(folder, name));
  }
}

/** The kernel takes a moment to let go of the last process. */
async function removeSoon(folder: string): Promise<void> {
  for (let attempt = 1; attempt <= REMOVE_ATTEMPTS; attempt += 1) {
    const code = await rmdir(folder).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (code !== "EBUSY") return;
    await delay(attempt);
  }
}

function removeNow(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Not there, or somebody is in it.
  }
}

function set(folder: string, file: string, value: number): void {
  writeFileSync(join(folder, file), String(value));
}

function trySet(folder: string, file: string, value: number): void {
  try {
    set(folder, file, value);
  } catch {
    // This kernel does not have it.
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A place where the kernel shows its groups of processes. */
export interface GroupMount {
  readonly folder: string;
  /** The group shown at the top of it; a container often sees only its own. */
  readonly root: string;
  /** Of the first version; the second has one mount for all. */
  readonly controllers: readonly string[] | undefined;
}

/** From the lines of /proc/self/mountinfo. */
export function mountedGroups(table: string): readonly GroupMount[] {
  return table.split("\n").flatMap((line): GroupMount[] => {
    const [place = "", kind = ""] = line.split(" - ");
    const [, , , root = "", folder = "", options = ""] = place.split(" ");
    const [type, , superOptions = ""] = kind.split(" ");
    if (options.split(",").includes("ro")) return [];
    const at = { folder: unescaped(folder), root: unescaped(root) };
    if (type === "cgroup2") return [{ ...at, controllers: undefined }];
    return type === "cgroup" ? [{ ...at, controllers: superOptions.split(",") }] : [];
  });
}

/** The folder of the group this process is in, as /proc/self/cgroup names it. No controller: second version. */
export function groupPlace(search: {
  readonly own: string;
  readonly mounts: readonly GroupMount[];
  readonly controller: string | undefined;
}): string | undefined {
  const { own, mounts, controller } = search;
  const mount = mounts.find(({ controllers }) =>
    controller === undefined ? controllers === undefined : controllers?.includes(controller),
  );
  for (const line of mount === undefined ? [] : own.split("\n")) {
    const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined || mount === undefined) continue;
    const isIt = controller === undefined ? names === "" : names.split(",").includes(controller);
    if (!isIt) continue;
    return isAtOrBelow(path, mount.root) ? join(mount.folder, relative(mount.root, path)) : undefined;
  }
  return undefined;
}

/** Spaces and the like are written as octal numbers there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
