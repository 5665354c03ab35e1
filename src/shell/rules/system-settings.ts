import { subject } from "./row.js";

const KERNEL = "changes the running kernel";
const MODULE = "loads or removes a part of the kernel";
const BOOT = "changes how the machine starts";
const GUARD = "weakens a protection of the system";
const CLOCK = "changes name, clock or language of the machine";
const NAMES = "changes which program a common name starts";
const SETTING = "changes a setting of the system";
const FIRMWARE = "changes the firmware of the machine";

/** Kernel, boot loader, firmware, clock, and the guards of the system. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("system", [
  { program: "sysctl", taking: "r pattern", rule: "kernel.setting", reason: KERNEL,
    not_match: ["sysctl vm.swappiness", "sysctl -n kernel.hostname"], rows: [
    { options: "w write p load system", match: ["sysctl -p"], not_match: ["sysctl -a"] },
    { when: ({ operands }) => operands.find(({ text }) => /^[\w.\-/*]+=/.test(text)),
      match: ["sysctl kernel.panic=1"], not_match: ["sysctl --all"] },
  ] },
  { rule: "kernel.module", reason: MODULE, tools: [
    { program: "modprobe", taking: "d C S",
      dry: "n show c showconfig D show-depends R resolve-alias V h dump-modversions dry-run", path: "*",
      match: ["modprobe nbd"], not_match: ["modprobe -n nbd"] },
    { program: "insmod|rmmod|kextload|kextunload", dry: "V h", path: "*", match: ["rmmod kvm"] },
    { program: "kmod", unknownVerb: true, path: "load|unload|insert|remove", match: ["kmod load"] },
    { program: "dkms", unknownVerb: true, path: "remove|uninstall|install|unbuild", match: ["dkms remove"] },
  ] },
  { program: "kexec", dry: "V h", rule: "kernel.replace", reason: "starts another kernel",
    match: ["kexec -e"] },
  { program: "update-grub|update-grub2|grub-install|grub2-install|grub-set-default|grub2-set-default|grub-reboot|grub2-reboot|update-initramfs|mkinitcpio|mkinitrd|dracut|lilo|extlinux|kernel-install|installkernel|update-bootloader",
    dry: "V h", unless: /^(?:--list-modules|-L|--listhooks|list|inspect)$/, rule: "boot.change",
    reason: BOOT, match: ["update-grub"], not_match: ["grub-install --version"] },
  { program: "grub-mkconfig|grub2-mkconfig", word: /^(?:-o$|--output)/, rule: "boot.change", reason: BOOT,
    match: ["grub-mkconfig -o /boot/grub/grub.cfg"] },
  { program: "grub-editenv|grub2-editenv", unknownVerb: true, path: "* set|unset|create",
    rule: "boot.change", reason: BOOT, match: ["grub-editenv web set"] },
  { program: "grubby",
    word: /^--(?:update-kernel|remove-kernel|add-kernel|set-default|set-default-index|args|remove-args)/,
    rule: "boot.change", reason: BOOT, match: ["sudo grubby --remove-kernel=x"] },
  { program: "efibootmgr",
    when: ({ flags }) => ![...flags].every((flag) => /^(?:v|verbose|V|h|u|unicode)$/.test(flag)),
    rule: "boot.change", reason: BOOT, match: ["efibootmgr -b 0001 -B"], not_match: ["efibootmgr"] },
  { program: "bootctl", unknownVerb: true,
    path: "install|remove|update|set-default|set-oneshot|unlink|cleanup|set-timeout|random-seed",
    rule: "boot.change", reason: BOOT, match: ["bootctl install"], not_match: ["bootctl status"] },
  { program: "mokutil", word: /^--(?:import|delete|disable|reset|enable|set)/, rule: "boot.change",
    reason: BOOT, match: ["mokutil --import"], not_match: ["mokutil --sb-state"] },
  { program: "nvram", word: /^-[dcf]|=/, rule: "boot.change", reason: BOOT, match: ["sudo nvram -c"],
    not_match: ["nvram -p"] },
  { program: "bless", word: /^--?(?:mount|folder|device|setboot)/i, rule: "boot.change", reason: BOOT,
    match: ["bless -mount"] },
  { program: "fwupdmgr", family: "rare",
    path: "update|upgrade|install|downgrade|reinstall|switch-branch|clear-history|local-install",
    reason: FIRMWARE, match: ["fwupdmgr update"] },
  { program: "date", taking: "d s r f v date set reference file",
    long: "set date reference file utc universal iso-8601 rfc-3339 rfc-email", dry: "", rule: "system.clock",
    reason: CLOCK, not_match: ["date -u +%s", "date -r file"], rows: [
    { options: "s set", match: ["date -s '2020-01-01'"], not_match: ["date -R"] },
    { when: (call) =>
        call.has("j", "d", "date", "r")
          ? undefined
          : call.operands.find(({ text }) => /^\d{8,12}(?:\.\d\d)?$/.test(text)),
      match: ["date 010100002020"], not_match: ["date +%F"] },
  ] },
  { program: "hostname", taking: "F file", rule: "system.clock", reason: CLOCK,
    not_match: ["hostname -I", "hostname -f"], rows: [
    { path: "*", match: ["hostname newname"] },
    { options: "F file", match: ["hostname --file"], not_match: ["hostname"] },
  ] },
  { program: "hostnamectl|timedatectl|localectl", taking: "H M host machine", rule: "system.clock",
    reason: CLOCK, not_match: ["timedatectl show", "hostnamectl status"], rows: [
    { when: ({ operands: [verb] }) => (/^(?:set-|revert)/.test(verb?.text ?? "") ? verb : undefined),
      match: ["timedatectl set-ntp false"], not_match: ["hostnamectl"] },
    { path: "hostname|icon-name|chassis|deployment|location *",
      when: ({ command }) => command.program === "hostnamectl", match: ["hostnamectl hostname web"],
      not_match: ["timedatectl"] },
  ] },
  { program: "hwclock", word: /^(?:-w|-s|-a|--systohc|--hctosys|--set|--adjust|--update-drift)$/,
    rule: "system.clock", reason: CLOCK, match: ["hwclock -w"], not_match: ["hwclock -r"] },
  { program: "ntpdate", dry: "V h q d", path: "*", rule: "system.clock", reason: CLOCK,
    match: ["sudo ntpdate pool.ntp.org"] },
  { program: "systemsetup", word: /^-set/i, rule: "system.clock", reason: CLOCK, match: ["systemsetup -set"] },
  { program: "pmset", when: ({ args: [first] }) => first !== undefined && first.text !== "-g",
    rule: "system.clock", reason: "changes how the machine sleeps", match: ["pmset web"],
    not_match: ["pmset -g"] },
  { rule: "system.guard", reason: GUARD, tools: [
    { program: "setenforce", dry: "", when: ({ args: [mode] }) =>
        /^(?:0|permissive)$/i.test(mode?.text ?? "") || mode?.known === false ? mode : undefined,
      match: ["setenforce 0"] },
    { program: "setsebool", dry: "V h", path: "*", match: ["sudo setsebool -P x on"] },
    { program: "semanage", dry: "V h", unless: /^(?:-[a-zA-Z]*l|--list|export|--extract|-E)$/, path: "*",
      match: ["sudo semanage permissive -a httpd_t"] },
    { program: "semodule", word: /^-[rdBiu]|^--(?:remove|disable|install)/, match: ["semodule -r"] },
    { program: "aa-disable|aa-complain|aa-teardown|aa-remove-unknown", dry: "V h",
      match: ["sudo aa-disable /etc/apparmor.d/x"] },
    { program: "apparmor_parser", word: /^(?:-R|--remove)/, match: ["apparmor_parser -R"] },
  ] },
  { program: "tccutil", family: "rare", path: "reset", reason: "deletes data or a thing others rely on",
    match: ["tccutil reset"] },
  { program: "update-alternatives|alternatives",
    word: /^--(?:set|install|remove|remove-all|config|auto|set-selections|all)$/, rule: "system.programs",
    reason: NAMES, match: ["update-alternatives --set editor /usr/bin/vim"],
    not_match: ["update-alternatives --list editor"] },
  { program: "dpkg-divert", word: /^--(?:add|remove|rename)$/, rule: "system.programs", reason: NAMES,
    match: ["sudo dpkg-divert --rename --add /bin/sh"] },
  { program: "ldconfig", when: ({ args }) =>
      args.find(
        ({ text }, index) => !text.startsWith("-") && !/^-[CfrB]$/.test(args[index - 1]?.text ?? ""),
      ) ?? args.find(({ text }) => /^-[fC]$/.test(text)),
    rule: "system.programs", reason: "changes which libraries programs load", match: ["ldconfig /tmp/lib"],
    not_match: ["ldconfig -p"] },
  { program: "postconf", word: /^-[a-zA-Z]*[eX#]/, rule: "system.config", reason: SETTING,
    match: ["sudo postconf -e x=y"] },
  { program: "augtool", unknownVerb: true, path: "set|rm|mv|ins|clear|setm", rule: "system.config",
    reason: SETTING, match: ["augtool set"] },
  { program: "defaults", family: "rare", path: "delete|delete-all|write|import|rename",
    reason: "changes settings of the system or of programs", match: ["defaults delete"] },
  { program: "adb", family: "rare", taking: "s P H t",
    path: "reboot|root|disable-verity|remount|uninstall|restore|sideload",
    reason: "changes or restarts a device", match: ["adb reboot"] },
]);
