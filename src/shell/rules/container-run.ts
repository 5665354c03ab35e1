import type { ParsedOptions } from "../read/options.js";
import type { Finding, ShellWord } from "../types.js";
import {
  isBlockDevice,
  isCredentialFile,
  isCredentialStore,
  isHomeLike,
  isRootLike,
  isSystemPath,
} from "./places.js";
import { danger, has, valuesOf } from "./verb-table.js";

/** Options of `run`, `create` and `exec` that take the next word; the first word after them is the image. */
export const RUN_TAKING: readonly string[] = (
  "a add-host annotation attach blkio-weight blkio-weight-device c cap-add cap-drop cgroup-parent cgroupns " +
  "cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus " +
  "cpuset-mems detach-keys device device-cgroup-rule device-read-bps device-read-iops device-write-bps " +
  "device-write-iops dns dns-option dns-search domainname e entrypoint env env-file expose gpus group-add h " +
  "health-cmd health-interval health-retries health-start-period health-timeout hostname io-maxbandwidth ip " +
  "ip6 ipc isolation kernel-memory l label label-file link link-local-ip log-driver log-opt m mac-address " +
  "memory memory-reservation memory-swap memory-swappiness mount name net net-alias network network-alias " +
  "oom-score-adj p pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal " +
  "stop-timeout storage-opt sysctl tmpfs u ulimit user userns uts v volume volume-driver volumes-from w " +
  "workdir pod secret tz umask authfile arch variant systemd"
).split(" ");

/** Rights that reach past the container's walls. */
const STRONG_RIGHTS =
  /^(?:cap_)?(?:all|sys_admin|sys_ptrace|sys_module|sys_rawio|sys_boot|dac_read_search|sys_chroot|mac_admin|bpf)$/i;

/** What in `docker run` opens the host to the container. */
export function judgeContainerRun(options: ParsedOptions): Finding | undefined {
  if (has(options, "privileged") && valuesOf(options, "privileged")[0]?.text !== "false")
    return danger("container.privileged", "gives the container full rights on the host");
  for (const name of ["pid", "ipc", "userns", "cgroupns"]) {
    const value = valuesOf(options, name).find(({ text }) => text === "host");
    if (value !== undefined)
      return danger("container.host-namespace", `shares the host's ${name} space`, value);
  }
  const right = valuesOf(options, "cap-add").find(({ text }) =>
    text.split(",").some((one) => STRONG_RIGHTS.test(one)),
  );
  if (right !== undefined) return danger("container.capability", "gives the container strong rights", right);
  const unconfined = valuesOf(options, "security-opt").find(({ text }) =>
    /unconfined|label[=:]disable/i.test(text),
  );
  if (unconfined !== undefined)
    return danger("container.unconfined", "switches off the container's confinement", unconfined);
  const device = valuesOf(options, "device").find((word) => isHostDevice(word));
  if (device !== undefined)
    return danger("container.device", "gives the container a disk of the host", device);
  return judgeMounts(options);
}

function judgeMounts(options: ParsedOptions): Finding | undefined {
  for (const word of [...valuesOf(options, "v", "volume"), ...valuesOf(options, "mount")]) {
    const mount = word.text.includes("=") ? readMount(word.text) : readVolume(word.text);
    if (mount === undefined) continue;
    const reason = riskOfMount({ ...word, text: mount.source }, mount.readOnly);
    if (reason !== undefined) return danger("container.host-mount", reason, word);
  }
  return undefined;
}

function riskOfMount(source: ShellWord, readOnly: boolean): string | undefined {
  if (/\/(?:docker|containerd|podman|crio|cri-dockerd)\.sock$/.test(source.text))
    return "hands the container engine itself to the container";
  if (isRootLike(source)) return "mounts the whole host into the container";
  if (isHomeLike(source)) return "mounts the whole home folder into the container";
  if (isCredentialStore(source) || isCredentialFile(source))
    return "mounts keys or tokens into the container";
  if (
    readOnly ||
    /^\/etc\/(?:localtime|timezone|hosts|resolv\.conf|ssl\/certs.*|ca-certificates.*)$/.test(source.text)
  )
    return undefined;
  if (
    /^\/(?:dev\/(?:shm|dri|snd|video\d*|net\/tun|kvm|fuse|bus\/usb)|lib\/modules|usr\/share\/zoneinfo)(?:\/|$)/.test(
      source.text,
    )
  )
    return undefined;
  return isSystemPath(source) ? "mounts a system folder of the host, writable" : undefined;
}

interface Mount {
  readonly source: string;
  readonly readOnly: boolean;
}

function readVolume(text: string): Mount | undefined {
  const [source = "", target, mode = ""] = text.split(":");
  return target === undefined ? undefined : { source, readOnly: mode.split(",").includes("ro") };
}

function readMount(text: string): Mount | undefined {
  const fields = new Map(text.split(",").map((field) => field.split("=", 2) as [string, string | undefined]));
  const source = fields.get("source") ?? fields.get("src");
  if (source === undefined) return undefined;
  const readOnly = ["readonly", "ro"].some((name) => fields.has(name) && fields.get(name) !== "false");
  return { source, readOnly };
}

function isHostDevice(word: ShellWord): boolean {
  const device = { ...word, text: word.text.split(":")[0] ?? "" };
  return isBlockDevice(device) || /^\/dev\/(?:k?mem|port)$/.test(device.text);
}
