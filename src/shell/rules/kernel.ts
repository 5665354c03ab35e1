import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { danger, explainsAnywhere, forPrograms, names, onlyExplains, operandsOf, verbRule } from "./words.js";

const KERNEL = "changes the running kernel";
const BOOT = "changes how the machine starts";
const GUARD = "weakens a protection of the system";
const CLOCK = "changes name, clock or language of the machine";

const sysctl: Rule = ({ args }) => {
  if (explainsAnywhere(args)) return undefined;
  const { flags, operands } = parseOptions(args, { taking: ["r", "pattern"] });
  const sets = operands.find(({ text }) => /^[\w.\-/*]+=/.test(text));
  if (["w", "write", "p", "load", "system"].some((name) => flags.has(name)) || sets !== undefined)
    return danger("kernel.setting", KERNEL, sets ?? operands[0]);
  return undefined;
};

const modprobe: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["d", "C", "S"] });
  const reading =
    "n dry-run show c showconfig D show-depends R resolve-alias V version h help dump-modversions";
  if ([...flags].some((flag) => names(reading).has(flag)) || operands.length === 0) return undefined;
  return danger("kernel.module", "loads or removes a part of the kernel", operands[0]);
};

const always =
  (rule: string, reason: string): Rule =>
  ({ args }) =>
    explainsAnywhere(args) || onlyExplains(args, "-V") || onlyExplains(args, "-h")
      ? undefined
      : danger(rule, reason, args[0]);

const whenGiven =
  (rule: string, reason: string): Rule =>
  (command) =>
    operandsOf(command.args).length === 0 ? undefined : always(rule, reason)(command);

const withOption = (spec: {
  readonly options: RegExp;
  readonly rule: string;
  readonly reason: string;
}): Rule => {
  return ({ args }) => {
    const option = args.find(({ text }) => spec.options.test(text));
    return option === undefined || explainsAnywhere(args)
      ? undefined
      : danger(spec.rule, spec.reason, option);
  };
};

const date: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, {
    taking: ["d", "s", "r", "f", "v", "date", "set", "reference", "file"],
    long: ["set", "date", "reference", "file", "utc", "universal", "iso-8601", "rfc-3339", "rfc-email"],
  });
  if (flags.has("s") || flags.has("set")) return danger("system.clock", CLOCK);
  if (flags.has("j") || flags.has("d") || flags.has("date") || flags.has("r")) return undefined;
  const clock = operands.find(({ text }) => /^\d{8,12}(?:\.\d\d)?$/.test(text));
  return clock === undefined ? undefined : danger("system.clock", CLOCK, clock);
};

const setters = verbPattern(/^(?:set-|revert)/);
function verbPattern(pattern: RegExp): Rule {
  return ({ args }) => {
    const verb = operandsOf(args, "-H -M --host --machine")[0];
    return verb !== undefined && pattern.test(verb.text) && !explainsAnywhere(args)
      ? danger("system.clock", CLOCK, verb)
      : undefined;
  };
}

const hostname: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["F", "file"] });
  return operands.length > 0 || flags.has("F") || flags.has("file")
    ? danger("system.clock", CLOCK, operands[0])
    : undefined;
};

const setenforce: Rule = ({ args }) =>
  /^(?:0|permissive)$/i.test(args[0]?.text ?? "") || args[0]?.known === false
    ? danger("system.guard", GUARD, args[0])
    : undefined;

const efibootmgr: Rule = ({ args }) => {
  const { flags } = parseOptions(args, { taking: [] });
  return [...flags].every((flag) => /^(?:v|verbose|V|version|h|help|u|unicode)$/.test(flag))
    ? undefined
    : danger("boot.change", BOOT);
};

const mkconfig: Rule = ({ args }) =>
  args.some(({ text }) => text === "-o" || text.startsWith("--output"))
    ? danger("boot.change", BOOT)
    : undefined;

/** Kernel, boot loader, clock, and the guards of the system. */
export const KERNELS: Readonly<Record<string, Rule>> = {
  sysctl,
  modprobe,
  ...forPrograms(
    "insmod rmmod kextload kextunload",
    whenGiven("kernel.module", "loads or removes a part of the kernel"),
  ),
  kmod: verbRule({
    rule: "kernel.module",
    reason: "loads or removes a part of the kernel",
    verbs: "load unload insert remove",
  }),
  dkms: verbRule({
    rule: "kernel.module",
    reason: "loads or removes a part of the kernel",
    verbs: "remove uninstall install unbuild",
  }),
  kexec: always("kernel.replace", "starts another kernel"),
  ...forPrograms(
    "update-grub update-grub2 grub-install grub2-install grub-set-default grub2-set-default grub-reboot grub2-reboot " +
      "update-initramfs mkinitcpio mkinitrd dracut lilo extlinux kernel-install installkernel update-bootloader",
    (command) =>
      command.args.some(({ text }) => /^(?:--list-modules|-L|--listhooks|list|inspect)$/.test(text))
        ? undefined
        : always("boot.change", BOOT)(command),
  ),
  ...forPrograms("grub-mkconfig grub2-mkconfig", mkconfig),
  ...forPrograms(
    "grub-editenv grub2-editenv",
    verbRule({ rule: "boot.change", reason: BOOT, verbs: "set unset create", at: 1 }),
  ),
  grubby: withOption({
    options: /^--(?:update-kernel|remove-kernel|add-kernel|set-default|set-default-index|args|remove-args)/,
    rule: "boot.change",
    reason: BOOT,
  }),
  efibootmgr,
  bootctl: verbRule({
    rule: "boot.change",
    reason: BOOT,
    verbs: "install remove update set-default set-oneshot unlink cleanup set-timeout random-seed",
  }),
  ...forPrograms(
    "mokutil",
    withOption({
      options: /^--(?:import|delete|disable|reset|enable|set)/,
      rule: "boot.change",
      reason: BOOT,
    }),
  ),
  ...forPrograms("nvram", withOption({ options: /^-[dcf]|=/, rule: "boot.change", reason: BOOT })),
  bless: withOption({ options: /^--?(?:mount|folder|device|setboot)/i, rule: "boot.change", reason: BOOT }),
  date,
  hostname,
  ...forPrograms("hostnamectl", verbRuleSetting()),
  ...forPrograms("timedatectl localectl", setters),
  hwclock: withOption({
    options: /^(?:-w|-s|-a|--systohc|--hctosys|--set|--adjust|--update-drift)$/,
    rule: "system.clock",
    reason: CLOCK,
  }),
  ntpdate: (command) =>
    command.args.some(({ text }) => /^-[a-z]*[qd]/.test(text))
      ? undefined
      : whenGiven("system.clock", CLOCK)(command),
  systemsetup: withOption({ options: /^-set/i, rule: "system.clock", reason: CLOCK }),
  pmset: ({ args }) =>
    args.length === 0 || args[0]?.text === "-g"
      ? undefined
      : danger("system.clock", "changes how the machine sleeps"),
  setenforce,
  setsebool: whenGiven("system.guard", GUARD),
  semanage: (command) =>
    command.args.some(({ text }) => /^(?:-[a-zA-Z]*l|--list|export|--extract|-E)$/.test(text))
      ? undefined
      : whenGiven("system.guard", GUARD)(command),
  semodule: withOption({
    options: /^-[rdBiu]|^--(?:remove|disable|install)/,
    rule: "system.guard",
    reason: GUARD,
  }),
  ...forPrograms("aa-disable aa-complain aa-teardown aa-remove-unknown", always("system.guard", GUARD)),
  apparmor_parser: withOption({ options: /^(?:-R|--remove)/, rule: "system.guard", reason: GUARD }),
  csrutil: verbRule({ rule: "system.guard", reason: GUARD, verbs: "disable clear authenticated-root" }),
  spctl: withOption({
    options: /^--(?:master-disable|global-disable|disable|remove|add)/,
    rule: "system.guard",
    reason: GUARD,
  }),
  ...forPrograms(
    "update-alternatives alternatives",
    withOption({
      options: /^--(?:set|install|remove|remove-all|config|auto|set-selections|all)$/,
      rule: "system.programs",
      reason: "changes which program a common name starts",
    }),
  ),
  "dpkg-divert": withOption({
    options: /^--(?:add|remove|rename)$/,
    rule: "system.programs",
    reason: "changes which program a common name starts",
  }),
  postconf: withOption({
    options: /^-[a-zA-Z]*[eX#]/,
    rule: "system.config",
    reason: "changes a setting of the system",
  }),
  augtool: verbRule({
    rule: "system.config",
    reason: "changes a setting of the system",
    verbs: "set rm mv ins clear setm",
  }),
};

function verbRuleSetting(): Rule {
  const names = verbPattern(/^(?:set-|revert)/);
  return (command) => {
    const operands = operandsOf(command.args, "-H -M --host --machine");
    if (
      /^(?:hostname|icon-name|chassis|deployment|location)$/.test(operands[0]?.text ?? "") &&
      operands.length > 1
    )
      return danger("system.clock", CLOCK, operands[1]);
    return names(command);
  };
}
