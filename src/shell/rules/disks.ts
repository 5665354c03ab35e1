import { parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord } from "../types.js";
import { isBlockDevice, isDisk, isQuietDevice, isSystemPath, isVital } from "./places.js";
import { placeOf } from "./segments.js";
import { VOLUMES } from "./volumes.js";
import { danger, explainsAnywhere, forPrograms, hardline, names, onlyExplains, operandsOf } from "./words.js";
import { assigned, writesOf } from "./writes.js";

const FORMATS = "formats a disk, everything on it is gone";
const OVERWRITES = "writes over a disk, the files on it are gone";

/** A device in the wording of Linux and the BSDs, where `ada0p1` stands alone. */
function isDevice(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return isBlockDevice(word) || (anchor === "root" && segments[0] === "dev");
}

/** The option that makes it a rehearsal; `mkfs.vfat -n` is a label instead. */
function isRehearsal(program: string, args: readonly ShellWord[]): boolean {
  const option = /^(?:mke2fs|mkfs\.ext\d)$/.test(program) ? "-n" : program === "mkfs.xfs" ? "-N" : "";
  return option !== "" && args.some(({ text }) => text === option);
}

/** `mkfs` on a file makes an image; on anything that is not plainly a file it empties a disk. */
const mkfs: Rule = ({ program, args }) =>
  onlyExplains(args, "-V") || isRehearsal(program, args) ? undefined : formatOf(args);

function formatOf(args: readonly ShellWord[]): Finding | undefined {
  const operands = operandsOf(args, "-t -L -b -m -N -i -I -E -O -U -F -n -T -C -G -g -J -M -o -r -s -d -l");
  const device = args.find(isDevice);
  if (device !== undefined) return hardline("disk.format", FORMATS, device);
  const [target] = operands;
  if (target === undefined) return args.length === 0 ? undefined : danger("disk.format", FORMATS);
  return target.known && !target.glob
    ? danger("disk.format-image", "makes a file system in a file, its content is gone", target)
    : hardline("disk.format", FORMATS, target);
}

const onDevice =
  (spec: { readonly rule: string; readonly reason: string }): Rule =>
  ({ args }) => {
    if (onlyExplains(args, "-V")) return undefined;
    const device = args.find(isDevice);
    if (device !== undefined) return hardline(spec.rule, spec.reason, device);
    const [target] = operandsOf(args);
    return target === undefined ? undefined : danger(spec.rule, spec.reason, target);
  };

const wipefs: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, {
    taking: ["o", "t", "O", "offset", "types", "output"],
    long: ["all", "no-act", "backup", "force", "offset", "help", "version", "noheadings", "output"],
  });
  if (flags.has("n") || flags.has("no-act") || flags.has("help") || flags.has("version")) return undefined;
  if (flags.has("a") || flags.has("all"))
    return hardline("disk.wipe", "erases what marks the file systems of a disk", operands[0]);
  return flags.has("o") || flags.has("offset")
    ? danger("disk.wipe", "erases what marks the file systems of a disk", operands[0])
    : undefined;
};

const sgdisk: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: "n d t c u A i b l".split(" ") });
  if (["Z", "z", "o", "zap", "zap-all", "clear"].some((name) => flags.has(name)))
    return hardline("disk.partition-table", "erases the partition table of a disk", operands[0]);
  const reading =
    "p print i info v verify b backup D display-alignment E end-of-largest V version help L list-types P pretend";
  return flags.size === 0 ||
    [...flags].every((flag) => names(reading).has(flag) || /^(?:first|end)/.test(flag))
    ? undefined
    : danger("disk.partitions", "changes the partitions of a disk", operands[0]);
};

const PARTED_READS = names("print p unit u help h quit q version align-check select");
const parted: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["a", "align"] });
  if (flags.has("l") || flags.has("list") || flags.has("v") || explainsAnywhere(args)) return undefined;
  const verb = operands[1];
  if (operands.length === 0 || (verb !== undefined && PARTED_READS.has(verb.text.toLowerCase()))) {
    const later = operands.slice(2).find(({ text }) => PARTED_WRITES.has(text.toLowerCase()));
    return later === undefined
      ? undefined
      : danger("disk.partitions", "changes the partitions of a disk", later);
  }
  return danger("disk.partitions", "changes the partitions of a disk", verb ?? operands[0]);
};
const PARTED_WRITES = names(
  "mklabel mktable mkpart mkpartfs rm resizepart resize move rescue set toggle name disk_set cp",
);

const fdisk: Rule = ({ program, args }) => {
  const { flags, operands } = parseOptions(args, { taking: "u b C H S t o N c".split(" ") });
  const reading =
    "l list d dump J json x s show-size V verify v version h help T list-types F list-free i g show-geometry n no-act";
  const reads = program === "sfdisk" ? reading : "l list x s v V version h help";
  if ([...flags].some((flag) => names(reads).has(flag))) return undefined;
  return operands.length === 0 && flags.size === 0
    ? undefined
    : danger("disk.partitions", "changes the partitions of a disk", operands[0]);
};

const shred: Rule = ({ args }) => {
  const device = operandsOf(args, "-n -s --iterations --size --random-source").find(isDisk);
  return device === undefined ? undefined : hardline("disk.overwrite", OVERWRITES, device);
};

/** `dd` copies blindly: onto a disk never, onto a file only when a person agrees. */
const dd: Rule = ({ args }) => {
  const from = assigned(args, "if");
  const to = assigned(args, "of") ?? assigned(args, "wipe");
  if (to !== undefined) {
    if (isDisk(to)) return hardline("disk.overwrite", OVERWRITES, to);
    if (isQuietDevice(to)) return undefined;
    if (!to.known || isBlockDevice(to))
      return danger("disk.raw-copy", "copies raw data to a place nobody can foresee", to);
    return from === undefined ? undefined : danger("disk.raw-copy", "copies raw data over a file", to);
  }
  return from !== undefined && isDisk(from)
    ? danger("disk.raw-read", "reads a disk past all permissions", from)
    : undefined;
};

/** Any program that writes to a disk as if it were a file: redirections, `tee`, `cp`, `curl -o`. */
const writesDevice: Rule = (command) => {
  for (const { word, how } of writesOf(command)) {
    if (how === "touch" || !isBlockDevice(word)) continue;
    return isDisk(word)
      ? hardline("disk.overwrite", OVERWRITES, word)
      : danger("disk.overwrite", OVERWRITES, word);
  }
  return undefined;
};

const unmounts: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["t", "O", "types"] });
  if (explainsAnywhere(args) || flags.has("fake")) return undefined;
  if (flags.has("a") || flags.has("all")) return danger("disk.unmount", "takes every file system away");
  const vital = operands.find((word) => isVital(word));
  return vital === undefined
    ? undefined
    : danger("disk.unmount", "takes away a file system the machine needs", vital);
};

const mounts: Rule = ({ args }) => {
  const { flags, values, operands } = parseOptions(args, {
    taking: ["t", "o", "L", "U", "O", "types", "options"],
  });
  if (explainsAnywhere(args) || operands.length === 0 || flags.has("fake")) return undefined;
  const options = [...(values.get("o") ?? []), ...(values.get("options") ?? [])]
    .map(({ text }) => text)
    .join(",");
  if (/(?:^|,)remount(?:,|$)/.test(options))
    return danger("disk.remount", "changes how a file system is mounted");
  const over = operands.slice(1).find((word) => isVital(word) || isSystemPath(word));
  return over === undefined
    ? undefined
    : danger("disk.cover", "covers a part of the system with another one", over);
};

const diskutil: Rule = ({ args }) => {
  const verb = operandsOf(args)[0]?.text.toLowerCase() ?? "";
  if (/^(?:erase|zerodisk|randomdisk|secureerase|reformat)/.test(verb))
    return hardline("disk.format", FORMATS, args[0]);
  const apfs =
    /^(?:apfs|corestorage|cs|ar|appleraid)$/.test(verb) &&
    /^(?:delete|erase)/i.test(operandsOf(args)[1]?.text ?? "");
  return apfs ||
    /^(?:partitiondisk|splitpartition|mergepartitions|resizevolume|unmountdisk|resetfusion|deletecontainer)/.test(
      verb,
    )
    ? danger("disk.partitions", "changes the partitions of a disk", args[0])
    : undefined;
};

const MKFS = "mkfs mke2fs mkntfs mkdosfs mkexfatfs mkreiserfs mkudffs newfs bcachefs-format";
const MKFS_KINDS =
  "ext2 ext3 ext4 xfs btrfs vfat fat msdos ntfs exfat f2fs jfs reiserfs minix cramfs bfs udf erofs";

export const RULES: RuleSet = {
  family: "disks",
  programs: {
    ...forPrograms(MKFS, mkfs),
    ...forPrograms(MKFS_KINDS.replace(/\S+/g, "mkfs.$&"), mkfs),
    ...forPrograms("mkswap gmkswap", onDevice({ rule: "disk.format", reason: FORMATS })),
    ...forPrograms(
      "newfs_hfs newfs_apfs newfs_msdos newfs_exfat",
      onDevice({ rule: "disk.format", reason: FORMATS }),
    ),
    ...forPrograms("shred gshred scrub nwipe wipe srm", shred),
    ...forPrograms("dd gdd dcfldd dc3dd", dd),
    ...forPrograms("fdisk sfdisk gdisk cfdisk cgdisk", fdisk),
    blkdiscard: ({ args }) =>
      onlyExplains(args, "-V") || args.length === 0
        ? undefined
        : hardline("disk.discard", "throws away every block of a disk", args.at(-1)),
    wipefs,
    sgdisk,
    parted,
    umount: unmounts,
    mount: mounts,
    diskutil,
    ...VOLUMES,
  },
  any: [(command) => (/^mkfs\.|^newfs_/.test(command.program) ? mkfs(command) : undefined), writesDevice],
};
