import { existsSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../names-in.js";
import { mountArguments, PROC_READ_ONLY } from "./bwrap-arguments.js";
import type { Mount } from "./mounts.js";

/** Devices that people's programs use: graphics, sound, cameras, virtual machines, tunnels. */
const DEVICES = /^(?:dri|kvm|nvidia.*|kfd|snd|fuse|video\d+|media\d+|net|vhost-(?:net|vsock)|accel|dxg)$/;
const PRIVATE_MODE = ["--perms", "0700"];
/** Mounted before anything of the plan. */
const OWN = ["/", "/dev", "/proc", "/sys"];
/** `inside` when all is in place; then it waits until nobody needs it. */
const WAIT = ["/bin/sh", "-c", "echo inside; read -r line"];

export interface GuardArguments {
  readonly program: string;
  /** As `guardPlan` gives them. */
  readonly mounts: readonly Mount[];
  readonly root: boolean;
  /** Where the text of a copy lies for the moment. */
  copyAt(path: string): string;
  /** False for bubblewrap before 0.5. */
  readonly knowsModes: boolean;
}

/**
 * bubblewrap around a program that only waits: the machine as it is, with a private /dev, and what the plan says on
 * top. Root owns the files of /proc and /sys that change the whole machine, so there they are read-only.
 */
export function guardArguments(request: GuardArguments): readonly string[] {
  const { program, mounts, root, copyAt, knowsModes } = request;
  const devices = namesIn("/dev").filter((name) => DEVICES.test(name));
  const shared = ["shm", "mqueue"].filter((name) => existsSync(join("/dev", name)));
  const kernel = root ? ["/sys", ...PROC_READ_ONLY.map((name) => `/proc/${name}`)] : [];
  return [
    program,
    ...(root ? [] : ["--unshare-user"]),
    ...["--bind", "/", "/", "--dev", "/dev"],
    ...devices.flatMap((name) => ["--dev-bind-try", join("/dev", name), join("/dev", name)]),
    ...shared.flatMap((name) => ["--bind", join("/dev", name), join("/dev", name)]),
    ...kernel.flatMap((path) => ["--ro-bind-try", path, path]),
    ...mounts.flatMap((mount) => {
      if (OWN.includes(mount.path)) return [];
      if (mount.kind === "copy") return ["--ro-bind", copyAt(mount.path), mount.path];
      const isPrivate = mount.kind === "empty" && knowsModes;
      return [...(isPrivate ? PRIVATE_MODE : []), ...mountArguments(mount)];
    }),
    ...mounts.flatMap((mount) =>
      mount.kind === "empty" && !mount.writable ? ["--remount-ro", mount.path] : [],
    ),
    ...(mounts.some(({ path }) => path === "/") ? [] : ["--remount-ro", "/"]),
    ...["--info-fd", "3", "--"],
    ...WAIT,
  ];
}
