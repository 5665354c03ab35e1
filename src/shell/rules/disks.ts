import type { ShellWord } from "../types.js";
import { isBlockDevice, isDisk, isQuietDevice, isRootLike, isSystemPath, isVital } from "./places.js";
import { type Call, type Condition, names, type Row, subject } from "./row.js";
import { placeOf } from "./segments.js";
import { assigned, writesOf } from "./writes.js";

const FORMATS = "formats a disk, everything on it is gone";
const OVERWRITES = "writes over a disk, the files on it are gone";
const MARKS = "erases what marks the file systems of a disk";
const PARTITIONS = "changes the partitions of a disk";
const ERASES = "erases or replaces what a disk holds";
const VOLUME = "removes or changes a volume with its data";
const FROM_BELOW = "changes a file system from below";
const TAKES_AWAY = "takes a disk away or changes it";

/** A device in the wording of Linux and the BSDs, where `ada0p1` stands alone. */
function isDevice(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return isBlockDevice(word) || (anchor === "root" && segments[0] === "dev");
}

const onDevice: Condition = ({ args }) => args.find(isDevice);

/** The option that makes it a rehearsal; `mkfs.vfat -n` is a label instead. */
function isRehearsal({ command: { program, args } }: Call): boolean {
  const option = /^(?:mke2fs|mkfs\.ext\d)$/.test(program) ? "-n" : program === "mkfs.xfs" ? "-N" : "";
  return option !== "" && args.some(({ text }) => text === option);
}

const formats =
  (find: (target: ShellWord | undefined, call: Call) => ReturnType<Condition>): Condition =>
  (call) =>
    isRehearsal(call) ? undefined : find(call.operands[0], call);

const isPlainFile = (target: ShellWord): boolean => target.known && !target.glob;

/** `-t cgroup`, `--bind /`, an overlay over `/`. */
const mountsTheHost: Condition = (call) =>
  call.given("t", "types").find(({ text }) => /^cgroup2?$/.test(text)) ??
  (call.has("B", "bind", "rbind", "R") ? call.operands.slice(0, 1).find(isRootLike) : undefined) ??
  (/(?:^|,)lowerdir=\/(?:,|:|$)/.test(mountOptions(call)) ? {} : undefined);

/** `mkfs` on a file makes an image; on anything that is not plainly a file it empties a disk. */
const formatsDisk = formats(
  (target, { args }) =>
    args.find(isDevice) ?? (target !== undefined && !isPlainFile(target) ? target : undefined),
);
// biome-ignore format: a table; what belongs to a row stands together
const FORMAT_ROWS: readonly Row[] = [
  { when: formatsDisk, level: "hardline", rule: "disk.format", reason: FORMATS, match: ['mkfs.ext4 "$DEV"'],
    not_match: ["mkfs --help"] },
  { when: formats((target) => target), rule: "disk.format-image",
    reason: "makes a file system in a file, its content is gone", match: ["mkfs.ext4 disk.img"],
    not_match: ["mkfs.ext4 -V"] },
  { word: /./, when: formats(() => true), rule: "disk.format", reason: FORMATS,
    match: ["mkfs.ext4 -F disk.img"], not_match: ["mkfs.ext4 --help"] },
];
const FORMAT_TAKING = "t L b m N i I E O U F n T C G g J M o r s d l";

const givenFlags =
  (reads: string): Condition =>
  ({ flags, operands }) => {
    const reading = names(reads);
    return flags.size > 0 && ![...flags].every((flag) => reading.has(flag) || /^(?:first|end)/.test(flag))
      ? (operands[0] ?? true)
      : undefined;
  };

const PARTED_READS = /^(?:print|p|unit|u|help|h|quit|q|version|align-check|select)$/i;
const PARTED_WRITES =
  /^(?:mklabel|mktable|mkpart|mkpartfs|rm|resizepart|resize|move|rescue|set|toggle|name|disk_set|cp)$/i;

/** The first verb of `parted` that is no question; a device alone opens its prompt. */
const parts: Condition = ({ operands }) => {
  const [device, verb, ...others] = operands;
  if (device === undefined || (verb !== undefined && PARTED_READS.test(verb.text)))
    return others.find(({ text }) => PARTED_WRITES.test(text));
  return verb ?? device;
};

/** What `dd` is told to write to, unless it is told to read only. */
const rawCopy =
  (find: (to: ShellWord, from: ShellWord | undefined) => boolean): Condition =>
  ({ args }) => {
    const to = assigned(args, "of") ?? assigned(args, "wipe");
    return to !== undefined && find(to, assigned(args, "if")) ? to : undefined;
  };

const mountOptions = (call: Call): string =>
  call
    .given("o", "options")
    .map(({ text }) => text)
    .join(",");

/** Any program that writes to a disk as if it were a file: redirections, `tee`, `cp`, `curl -o`. */
const writesTo =
  (isTarget: (word: ShellWord) => boolean): Condition =>
  ({ command }) =>
    writesOf(command).find(({ word, how }) => how !== "touch" && isTarget(word))?.word;

/** Disks, partitions, volumes and file systems. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("disk", [
  { program: "mkfs|mke2fs|mkntfs|mkdosfs|mkexfatfs|mkreiserfs|mkudffs|newfs|bcachefs-format|mkfs.ext2|mkfs.ext3|mkfs.ext4|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.fat|mkfs.msdos|mkfs.ntfs|mkfs.exfat|mkfs.f2fs|mkfs.jfs|mkfs.reiserfs|mkfs.minix|mkfs.cramfs|mkfs.bfs|mkfs.udf|mkfs.erofs",
    taking: FORMAT_TAKING, dry: "", unless: /^-V$/, not_match: ["mkfs.ext4 -n /dev/sda1"], rows: FORMAT_ROWS },
  { program: "*", taking: FORMAT_TAKING,
    when: (call) => (/^(?:mkfs\.|newfs_)/.test(call.command.program) ? formatsDisk(call) : undefined),
    level: "hardline", rule: "disk.format", reason: FORMATS, match: ['mkfs.ext4 "$DEV"'] },
  { program: "mkswap|gmkswap|newfs_hfs|newfs_apfs|newfs_msdos|newfs_exfat", dry: "", unless: /^-V$/,
    rule: "disk.format", reason: FORMATS, not_match: ["mkswap --help"], rows: [
    { when: onDevice, level: "hardline", match: ["mkswap /dev/sdb1"], not_match: ["mkswap --help"] },
    { path: "*", match: ["mkswap /swapfile"] },
  ] },
  { program: "dd|gdd|dcfldd|dc3dd", dry: "",
    not_match: ["time dd if=/dev/zero of=/dev/null bs=1M count=100", "dd if=/dev/urandom of=/dev/null bs=1M count=50"],
    rows: [
    { when: rawCopy(isDisk), level: "hardline", rule: "disk.overwrite", reason: OVERWRITES,
      match: ["dd if=x of=/dev/sda"], not_match: ["dd --version"] },
    { when: rawCopy((to) => !isQuietDevice(to) && (!to.known || isBlockDevice(to))), rule: "disk.raw-copy",
      reason: "copies raw data to a place nobody can foresee", match: ['dd if=x of="$DEV"'],
      not_match: ["dd if=disk.img of=/dev/null"] },
    { when: rawCopy((to, from) => !isQuietDevice(to) && from !== undefined), rule: "disk.raw-copy",
      reason: "copies raw data over a file", match: ["dd if=a of=/etc/passwd"],
      not_match: ["dd if=/dev/urandom bs=16 count=1"] },
    { when: ({ args }) => {
          const from = assigned(args, "if");
          return (assigned(args, "of") ?? assigned(args, "wipe")) === undefined &&
            from !== undefined &&
            isDisk(from)
            ? from
            : undefined;
        },
      rule: "disk.raw-read", reason: "reads a disk past all permissions",
      match: ["dd if=/dev/sda bs=512 count=1"], not_match: ["dd if=bench.img of=/dev/null bs=1M"] },
  ] },
  { program: "*", when: writesTo((word) => isBlockDevice(word) && isDisk(word)), level: "hardline",
    rule: "disk.overwrite", reason: OVERWRITES, match: ["tee /dev/sda"] },
  { program: "*", when: writesTo(isBlockDevice), rule: "disk.overwrite", reason: OVERWRITES,
    match: ["tee /dev/loop0"] },
  { program: "blkdiscard", dry: "", unless: /^-V$/, word: /./, level: "hardline", rule: "disk.discard",
    reason: "throws away every block of a disk", match: ["blkdiscard /dev/sda"],
    not_match: ["blkdiscard --help"] },
  { program: "wipefs", taking: "o t O offset types output",
    long: "all no-act backup force offset help version noheadings output", dry: "n no-act",
    rule: "disk.wipe", reason: MARKS, not_match: ["wipefs /dev/sda", "wipefs -n -a /dev/sda"], rows: [
    { options: "a all", when: ({ operands: [word] }) => ({ word }), level: "hardline",
      match: ["wipefs -a /dev/sda"], not_match: ["wipefs /dev/sda"] },
    { options: "o offset", when: ({ operands: [word] }) => ({ word }), match: ["wipefs -o 0x1fe /dev/sda"],
      not_match: ["wipefs -n -a /dev/sda"] },
  ] },
  { program: "sgdisk", taking: "n d t c u A i b l", dry: "P pretend",
    not_match: ["sgdisk -p /dev/sda", "sgdisk -i 1 /dev/sda"], rows: [
    { options: "Z z o zap zap-all clear", level: "hardline", rule: "disk.partition-table",
      reason: "erases the partition table of a disk", match: ["sgdisk -Z /dev/sda"],
      not_match: ["sgdisk -p /dev/sda"] },
    { when: givenFlags("p print i info v verify b backup D display-alignment E end-of-largest V help L list-types"),
      rule: "disk.partitions", reason: PARTITIONS, match: ["sgdisk -d 1 /dev/sda"],
      not_match: ["sgdisk -i 1 /dev/sda"] },
  ] },
  { program: "parted", taking: "a align", dry: "l list v", when: parts, rule: "disk.partitions",
    reason: PARTITIONS, match: ["parted -s /dev/sda rm 1"], not_match: ["parted -l"] },
  { program: "sfdisk", taking: "u b C H S t o N c",
    dry: "l list d dump J json x s show-size V verify v h T list-types F list-free i g show-geometry n no-act",
    word: /./, rule: "disk.partitions", reason: PARTITIONS, match: ["sfdisk --delete /dev/sda"],
    not_match: ["sfdisk -l"] },
  { program: "fdisk|gdisk|cfdisk|cgdisk", taking: "u b C H S t o N c", dry: "l list x s v V h", word: /./,
    rule: "disk.partitions", reason: PARTITIONS, match: ["fdisk /dev/sda"], not_match: ["fdisk -l"] },
  { program: "gpart|geli", unknownVerb: true,
    path: "destroy|delete|create|add|resize|modify|recover|init|kill", rule: "disk.partitions",
    reason: PARTITIONS, match: ["gpart destroy"] },
  { program: "diskutil", not_match: ["diskutil list", "diskutil info disk0"], rows: [
    { when: ({ operands: [verb] }) =>
        /^(?:erase|zerodisk|randomdisk|secureerase|reformat)/i.test(verb?.text ?? "") ? verb : undefined,
      level: "hardline", rule: "disk.format", reason: FORMATS, match: ["diskutil zeroDisk disk2"],
      not_match: ["diskutil list"] },
    { path: "apfs|corestorage|cs|ar|appleraid",
      when: ({ rest: [verb] }) => /^(?:delete|erase)/i.test(verb?.text ?? ""), rule: "disk.partitions",
      reason: PARTITIONS, match: ["diskutil apfs deleteContainer disk2"] },
    { when: ({ operands: [verb] }) =>
        /^(?:partitiondisk|splitpartition|mergepartitions|resizevolume|unmountdisk|resetfusion|deletecontainer)/i.test(
          verb?.text ?? "",
        )
          ? verb
          : undefined,
      rule: "disk.partitions", reason: PARTITIONS,
      match: ["diskutil partitionDisk disk2 1 GPT JHFS+ X 100%"], not_match: ["diskutil info disk0"] },
  ] },
  { program: "umount", taking: "t O types", dry: "fake", rule: "disk.unmount",
    not_match: ["umount --help", "umount /mnt/usb"], rows: [
    { options: "a all", reason: "takes every file system away", match: ["umount -a"],
      not_match: ["umount --help"] },
    { when: ({ operands }) => operands.find(isVital), reason: "takes away a file system the machine needs",
      match: ["umount -l /home"], not_match: ["umount /mnt/usb"] },
  ] },
  { program: "mount", taking: "t o L U O types options", dry: "fake",
    not_match: ["mount -t tmpfs", "mount /dev/sdb1 /mnt/usb"], rows: [
    { path: "*", when: (call) => (/(?:^|,)remount(?:,|$)/.test(mountOptions(call)) ? {} : undefined),
      rule: "disk.remount", reason: "changes how a file system is mounted", match: ["mount -o remount,rw /"],
      not_match: ["mount"] },
    { when: mountsTheHost, rule: "account.root", reason: "opens the whole machine, or what holds its groups of processes, at another place",
      match: ["mount -t cgroup -o rdma cgroup /tmp/c", "mount --bind / /tmp/r"], not_match: ["mount -t tmpfs tmpfs /mnt/x"] },
    { when: ({ operands }) => operands.slice(1).find((word) => isVital(word) || isSystemPath(word)),
      rule: "disk.cover", reason: "covers a part of the system with another one",
      match: ["mount --bind /tmp/x /etc"], not_match: ["mount -l"] },
  ] },
  { program: "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvresize|pvcreate|vgcfgrestore",
    unless: /^(?:-t|--test)$/, word: /./, rule: "disk.volume", reason: VOLUME, match: ["vgremove vg0"] },
  { program: "lvm", unknownVerb: true,
    path: "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvresize|pvcreate", rule: "disk.volume",
    reason: VOLUME, match: ["lvm lvremove"] },
  { program: "lvconvert", word: /^--(?:merge|uncache|splitcache|splitmirrors|repair|type)/,
    rule: "rare.option", reason: "changes a disk", match: ["lvconvert --merge"] },
  { program: "mdadm", word: /^--(?:zero-superblock|stop|create|remove|fail|set-faulty|grow)$|^-[SCrfG]/,
    rule: "disk.array", reason: "stops or changes a disk array", match: ["mdadm --stop /dev/md0"],
    not_match: ["mdadm --detail /dev/md0"] },
  { program: "cryptsetup", taking: "key-file d cipher c key-size s hash h type", unknownVerb: true,
    path: "luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|luksAddKey|luksChangeKey|reencrypt|convert|wipe|luksHeaderRestore",
    rule: "disk.encryption", reason: "erases or changes an encrypted volume",
    match: ["cryptsetup luksFormat /dev/sdb"], not_match: ["cryptsetup --help"] },
  { program: "zpool", unknownVerb: true,
    path: "destroy|labelclear|remove|detach|offline|create|export|replace|split", rule: "disk.pool",
    reason: "destroys or changes a storage pool", match: ["zpool destroy tank"], not_match: ["zpool list"] },
  { program: "zfs", dry: "n", unknownVerb: true, path: "destroy|rollback", rule: "disk.volume",
    reason: VOLUME, match: ["zfs destroy pool/x@snap"], not_match: ["zfs list"] },
  { program: "btrfs", rule: "disk.volume", reason: VOLUME,
    not_match: ["btrfs subvolume list /", "btrfs filesystem usage /"], rows: [
    { path: "* *",
      when: (call) => /^(?:su|de|q|r)/.test(call.operand(0)) && /^(?:del|rem|destroy)/.test(call.operand(1)),
      match: ["btrfs subvolume delete /mnt/x"], not_match: ["btrfs subvolume list /"] },
    { word: /^--repair$/, match: ["btrfs --repair"], not_match: ["btrfs filesystem usage /"] },
  ] },
  { program: "bcachefs", unknownVerb: true, path: "format", rule: "disk.format", reason: ERASES,
    match: ["bcachefs format"] },
  { rule: "disk.erase", reason: ERASES, tools: [
    { program: "hdparm", dry: "",
      word: /^--(?:security-erase|security-erase-enhanced|security-set-pass|trim-sector-ranges|write-sector|make-bad-sector|sanitize-.*|dco-restore|fwdownload)/,
      match: ["hdparm --security-erase p /dev/sda"], not_match: ["hdparm -I /dev/sda"] },
    { program: "nvme", unknownVerb: true,
      path: "format|sanitize|write|write-zeroes|write-uncor|dsm|delete-ns|create-ns|fw-commit|fw-download|fw-activate|reset|subsystem-reset|security-send",
      match: ["nvme format /dev/nvme0n1"], not_match: ["nvme list"] },
    { program: "sg_format|sg_sanitize|sg_unmap|sg_write_same|flash_erase|flash_eraseall|nandwrite|ubiformat|zerofree",
      unless: /^-V$/, word: /./, match: ["sg_format x"] },
    { program: "mtd", unknownVerb: true, path: "erase|write", match: ["mtd erase"] },
    { program: "flashrom", word: /^(?:-[a-zA-Z]*[wE]|--write|--erase)/, match: ["flashrom -w"] },
    { program: "badblocks", word: /^-[a-zA-Z]*[wn]/, match: ["badblocks -w /dev/sdb"] },
    { program: "hdiutil", unknownVerb: true, path: "burn|compact", match: ["hdiutil burn"] },
    { program: "asr", word: /^--?erase$/, match: ["asr -erase"] },
  ] },
  { program: "debugfs", word: /^-[a-zA-Z]*w/, rule: "disk.repair", reason: FROM_BELOW,
    match: ["sudo debugfs -w -R 'rm x' /dev/sda1"] },
  { program: "fsck|fsck.ext4|fsck.ext3|fsck.ext2|fsck.xfs|fsck.vfat|e2fsck|fsck_apfs|fsck_hfs|dosfsck|ntfsfix|xfs_repair|reiserfsck",
    unless: /^(?:-n|-N|-nf|-fn|-V|--no-action|--dry-run)$/, word: /./, rule: "disk.repair",
    reason: FROM_BELOW, match: ["fsck -y /dev/sda1"], not_match: ["fsck -n /dev/sda1"] },
  { program: "tune2fs|resize2fs|xfs_admin|ntfsresize|fatlabel|e2image|partclone.restore|ntfsclone|partimage|btrfstune",
    unless: /^(?:-l|-P|-V|--info|-i|--list)$/, word: /./, rule: "disk.repair", reason: FROM_BELOW,
    match: ["tune2fs -L x /dev/sda1"], not_match: ["tune2fs -l /dev/sda1"] },
  { program: "swapoff", rows: [
    { word: /^(?:-a|--all)$/, rule: "disk.swap", reason: "takes all swap space away", match: ["swapoff -a"] },
    { unless: /^-[hV]$/, rule: "rare.use", reason: "takes swap space away", match: ["swapoff"] },
  ] },
  { program: "dmsetup", family: "rare",
    path: "remove|remove_all|wipe_table|suspend|load|clear|create|rename", reason: TAKES_AWAY,
    match: ["dmsetup remove_all"], not_match: ["dmsetup ls"] },
  { program: "losetup", word: /^(?:-[a-zA-Z]*[dD]|--detach(?:-all)?)$/, rule: "rare.option",
    reason: "takes disks away", match: ["losetup -D"], not_match: ["losetup -f"] },
  { program: "fstrim", word: /^(?:-[a-zA-Z]*[aA][a-zA-Z]*|--(?:all|fstab)|\/.*)$/, rule: "rare.option",
    reason: "gives up unused blocks of a disk", match: ["fstrim -a"] },
  { program: "quotaoff|setquota|edquota|repquota-set", rule: "rare.use", reason: "changes how much others may store", match: ["quotaoff", "setquota -u ann 1 1 1 1 /"] },
  { program: "xfs_quota|btrfs-quota", dry: "", word: /^(?:limit|timer|disable|off|remove|enable)\b/, rule: "rare.use", reason: "changes how much others may store",
    match: ["xfs_quota -x -c 'limit bhard=1m ann' /home"], not_match: ["xfs_quota -x -c report /home"] },
]);
