import type { Mount } from "./mounts.js";

export interface BwrapRequest {
  /** As `arrange` gives them. */
  readonly mounts: readonly Mount[];
  readonly network: boolean;
  readonly cwd: string;
  /** Descriptor from which bubblewrap reads the filter of system calls; none where no filter is known. */
  readonly filterDescriptor?: number | undefined;
  /** Variables that bubblewrap itself must not be started with. */
  readonly setEnv?: Readonly<Record<string, string>>;
  readonly temporaryBytes?: number | undefined;
}

/**
 * Root without capabilities still owns the files of /proc, and writing one changes the whole machine.
 * Bubblewrap covers them only when it thinks it has to.
 */
export const PROC_READ_ONLY = [
  "sys",
  "sysrq-trigger",
  "irq",
  "bus",
  "fs",
  "scsi",
  "acpi",
  "mtrr",
  "driver",
  "dynamic_debug",
];

/** Arguments for bubblewrap up to and without the command. */
export function bwrapArguments(request: BwrapRequest): readonly string[] {
  const { mounts, temporaryBytes, filterDescriptor } = request;
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
    ...(request.network ? [] : ["--unshare-net"]),
    ...["--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...PROC_READ_ONLY.flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`]),
    ...mountArguments({ kind: "empty", path: "/dev/shm", writable: true }, temporaryBytes),
    ...mounts.flatMap((mount) => mountArguments(mount, temporaryBytes)),
    // Otherwise it would be one more folder in memory, and one without a limit.
    ...["--remount-ro", "/dev"],
    // Last, because mounts inside these folders need a place made for them first.
    ...mounts.flatMap((mount) =>
      mount.kind === "empty" && !mount.writable ? ["--remount-ro", mount.path] : [],
    ),
    ...Object.entries(request.setEnv ?? {}).flatMap(([name, value]) => ["--setenv", name, value]),
    ...(filterDescriptor === undefined ? [] : ["--seccomp", String(filterDescriptor)]),
    ...["--chdir", request.cwd, "--"],
  ];
}

export function mountArguments(mount: Mount, temporaryBytes?: number): readonly string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind", mount.path, mount.path];
    case "write":
      return ["--bind", mount.path, mount.path];
    case "private":
      return ["--bind", mount.from, mount.path];
    case "blank":
      return ["--ro-bind", "/dev/null", mount.path];
    case "copy":
      throw new Error("a copy needs a file to be shown from");
    case "empty":
      return [
        ...(mount.writable && temporaryBytes !== undefined ? ["--size", String(temporaryBytes)] : []),
        ...["--tmpfs", mount.path],
      ];
  }
}
