import type { Rule } from "../types.js";
import { danger, explainsAnywhere, forPrograms, names, operandsOf, verbRule } from "./words.js";

/** Programs of which every use but the reading ones changes or destroys what a disk holds. */
function unlessReading(spec: {
  readonly reads: string;
  readonly rule: string;
  readonly reason: string;
}): Rule {
  const reads = names(spec.reads);
  return ({ args }) => {
    if (explainsAnywhere(args) || args.length === 0) return undefined;
    if (args.some(({ text }) => reads.has(text))) return undefined;
    return danger(spec.rule, spec.reason, args.at(-1));
  };
}

function withOption(spec: {
  readonly options: RegExp;
  readonly rule: string;
  readonly reason: string;
}): Rule {
  return ({ args }) => {
    if (explainsAnywhere(args)) return undefined;
    const option = args.find(({ text }) => spec.options.test(text));
    return option === undefined ? undefined : danger(spec.rule, spec.reason, option);
  };
}

const ERASES = "erases or replaces what a disk holds";
const VOLUME = "removes or changes a volume with its data";

const destroysDataset = verbRule({ rule: "disk.volume", reason: VOLUME, verbs: "destroy rollback" });

/** Volumes, pools, arrays and the low-level tools of disks. */
export const VOLUMES: Readonly<Record<string, Rule>> = {
  ...forPrograms(
    "lvremove vgremove pvremove lvreduce vgreduce lvresize pvcreate vgcfgrestore",
    unlessReading({ reads: "-t --test", rule: "disk.volume", reason: VOLUME }),
  ),
  lvm: verbRule({
    rule: "disk.volume",
    reason: VOLUME,
    verbs: "lvremove vgremove pvremove lvreduce vgreduce lvresize pvcreate",
  }),
  mdadm: withOption({
    options: /^--(?:zero-superblock|stop|create|remove|fail|set-faulty|grow)$|^-[SCrfG]/,
    rule: "disk.array",
    reason: "stops or changes a disk array",
  }),
  cryptsetup: verbRule({
    rule: "disk.encryption",
    reason: "erases or changes an encrypted volume",
    verbs:
      "luksformat erase lukserase lukskillslot luksremovekey luksaddkey lukschangekey reencrypt convert wipe luksheaderrestore",
    taking: "--key-file -d --cipher -c --key-size -s --hash -h --type",
  }),
  zpool: verbRule({
    rule: "disk.pool",
    reason: "destroys or changes a storage pool",
    verbs: "destroy labelclear remove detach offline create export replace split",
  }),
  zfs: (command) =>
    command.args.some(({ text }) => /^-[a-zA-Z]*n/.test(text)) ? undefined : destroysDataset(command),
  btrfs: ({ args }) => {
    const [group, verb] = operandsOf(args).map(({ text }) => text);
    const deletes = /^(?:su|de|q|r)/.test(group ?? "") && /^(?:del|rem|destroy)/.test(verb ?? "");
    return deletes || args.some(({ text }) => text === "--repair")
      ? danger("disk.volume", VOLUME, args[1])
      : undefined;
  },
  bcachefs: verbRule({ rule: "disk.format", reason: ERASES, verbs: "format" }),
  hdparm: withOption({
    options:
      /^--(?:security-erase|security-erase-enhanced|security-set-pass|trim-sector-ranges|write-sector|make-bad-sector|sanitize-.*|dco-restore|fwdownload)/,
    rule: "disk.erase",
    reason: ERASES,
  }),
  nvme: verbRule({
    rule: "disk.erase",
    reason: ERASES,
    verbs:
      "format sanitize write write-zeroes write-uncor dsm delete-ns create-ns fw-commit fw-download fw-activate reset subsystem-reset security-send",
  }),
  ...forPrograms(
    "sg_format sg_sanitize sg_unmap sg_write_same flash_erase flash_eraseall nandwrite ubiformat zerofree",
    unlessReading({ reads: "-V", rule: "disk.erase", reason: ERASES }),
  ),
  mtd: verbRule({ rule: "disk.erase", reason: ERASES, verbs: "erase write" }),
  flashrom: withOption({ options: /^(?:-w|-E|--write|--erase)/, rule: "disk.erase", reason: ERASES }),
  badblocks: withOption({ options: /^-[a-zA-Z]*[wn]/, rule: "disk.erase", reason: ERASES }),
  debugfs: withOption({
    options: /^-[a-zA-Z]*w/,
    rule: "disk.repair",
    reason: "changes a file system from below",
  }),
  ...forPrograms(
    "fsck fsck.ext4 fsck.ext3 fsck.ext2 fsck.xfs fsck.vfat e2fsck fsck_apfs fsck_hfs dosfsck ntfsfix xfs_repair reiserfsck",
    unlessReading({
      reads: "-n -N -nf -fn -V --version --dry-run --no-action",
      rule: "disk.repair",
      reason: "changes a file system from below",
    }),
  ),
  ...forPrograms(
    "tune2fs resize2fs xfs_admin ntfsresize fatlabel e2image partclone.restore ntfsclone partimage btrfstune",
    unlessReading({
      reads: "-l -P -V --info -i --list",
      rule: "disk.repair",
      reason: "changes a file system from below",
    }),
  ),
  ...forPrograms(
    "gpart geli",
    verbRule({
      rule: "disk.partitions",
      reason: "changes the partitions of a disk",
      verbs: "destroy delete create add resize modify recover init kill",
    }),
  ),
  swapoff: withOption({ options: /^(?:-a|--all)$/, rule: "disk.swap", reason: "takes all swap space away" }),
  hdiutil: verbRule({ rule: "disk.erase", reason: ERASES, verbs: "burn compact" }),
  asr: withOption({ options: /^--erase$|^-erase$/, rule: "disk.erase", reason: ERASES }),
};
