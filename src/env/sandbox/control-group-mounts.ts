import { join, relative } from "node:path";
import { isAtOrBelow } from "../../base/path.js";

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
