import type { Rule } from "../types.js";
import { always, CHANGES, DELETES, deletes, STOPS, tool, withOption } from "./rare-helpers.js";
import { danger, forPrograms } from "./verb-table.js";

/** Rarely met programs that change disks, devices, backups and whole clusters. */
export const MACHINES: Readonly<Record<string, Rule>> = {
  lpadmin: withOption(/^-[xpdu]/, "changes or removes a printer"),
  cancel: withOption(/^-a$/, "cancels every print job"),
  lprm: withOption(/^-a?$|^-$/, "cancels every print job"),
  dmsetup: tool([
    {
      path: "remove|remove_all|wipe_table|suspend|load|clear|create|rename",
      reason: "takes a disk away or changes it",
    },
  ]),
  losetup: withOption(/^(?:-[a-zA-Z]*[dD]|--detach(?:-all)?)$/, "takes disks away"),
  lvconvert: withOption(/^--(?:merge|uncache|splitcache|splitmirrors|repair|type)/, "changes a disk"),
  fstrim: withOption(
    /^(?:-[a-zA-Z]*[aA][a-zA-Z]*|--(?:all|fstab)|\/.*)$/,
    "gives up unused blocks of a disk",
  ),
  quotaoff: always(CHANGES),
  swapoff: (command) => always("takes swap space away")(command),
  fwupdmgr: tool([
    {
      path: "update|upgrade|install|downgrade|reinstall|switch-branch|clear-history|local-install",
      reason: "changes the firmware of the machine",
    },
  ]),
  flashrom: withOption(/^-[a-zA-Z]*[wE]|^--(?:write|erase)/, "changes the firmware of the machine"),
  softwareupdate: withOption(
    /^(?:-[a-zA-Z]*[ir][a-zA-Z]*|--(?:install|reset-ignored|restart).*)$/,
    "replaces system software",
  ),
  tccutil: deletes("reset"),
  defaults: tool([
    {
      path: "delete|delete-all|write|import|rename",
      reason: "changes settings of the system or of programs",
    },
  ]),
  "dpkg-reconfigure": always(CHANGES),
  tmutil: tool([
    {
      path: "delete|disable|deletelocalsnapshots|deleteinprogress|thinlocalsnapshots|restore|removedestination|setdestination",
      reason: "deletes or switches off backups",
    },
  ]),
  adb: tool(
    [
      {
        path: "reboot|root|disable-verity|remount|uninstall|restore|sideload",
        reason: "changes or restarts a device",
      },
    ],
    ["s", "P", "H", "t"],
  ),
  fastboot: deletes("erase|format|flash|flashing|oem|-w|reboot|wipe-super|delete-logical-partition", ["s"]),
  "kill-port": (command) =>
    command.args.length === 0 ? undefined : always("kills whatever uses a port")(command),
  fkill: withOption(/^(?:-f|--force|-s|--silent)$/, "kills processes and leaves them no time to save"),
  ...forPrograms(
    ["restic", "borg", "kopia", "duplicity", "rdiff-backup", "tarsnap", "rustic", "autorestic"],
    deletes(
      "forget|prune|delete|key|unlock|remove-older-than|remove-all-but-n-full|recreate|break-lock|repair|rewrite|compact|nuke",
      ["r", "repo", "p"],
    ),
  ),
  velero: deletes("** delete"),
  ...forPrograms(["gio", "trash-put", "trash", "del"], (command) => {
    const all = command.args.find(({ glob, text }) => glob && /^(?:\.\/)?\*$/.test(text));
    return all === undefined ? undefined : danger("delete.everything", "deletes every file of a folder", all);
  }),
  ...forPrograms(
    [
      "k3s-uninstall.sh",
      "k3s-agent-uninstall.sh",
      "rke2-uninstall.sh",
      "k3s-killall.sh",
      "rke2-killall.sh",
      "microk8s.reset",
    ],
    always("removes a cluster with everything in it"),
  ),
  microk8s: deletes("reset|stop|leave|remove-node"),
  k0s: deletes("reset|stop"),
  pscale: deletes("** delete|reset"),
  planetscale: deletes("** delete|reset"),
  turso: deletes("** destroy|invalidate|delete"),
  neonctl: deletes("** delete|reset|restore"),
  fwconsole: tool([{ path: "stop|restart|reload", reason: STOPS }]),
  bleachbit: withOption(/^(?:-c|--clean|-s|--shred)$/, DELETES),
};
