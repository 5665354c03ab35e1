import type { Rule, ShellWord, SimpleCommand } from "../types.js";
import { danger, forPrograms } from "./verb-table.js";

/** A PowerShell parameter may be cut short as long as it stays clear: `-Rec` is `-Recurse`. */
function parameter(command: SimpleCommand, name: string): ShellWord | undefined {
  return command.args.find(({ text }) => {
    const given = /^-([a-z]+)(?::.*)?$/i.exec(text)?.[1]?.toLowerCase();
    return given !== undefined && name.startsWith(given) && !/:\$?false$/i.test(text);
  });
}

/** `-WhatIf` only tells what would happen. */
const unlessPretending =
  (rule: Rule): Rule =>
  (command) =>
    command.args.some(({ text }) => /^-(?:whatif|wi|what\w*)$/i.test(text)) ? undefined : rule(command);

const always = (reason: string): Rule =>
  unlessPretending((command) => danger(`windows.${command.program}`, reason, command.name));

const hardline = (reason: string): Rule =>
  unlessPretending((command) => ({
    level: "hardline",
    rule: `windows.${command.program}`,
    reason,
    span: command.name.span,
  }));

const removeItem = unlessPretending((command) => {
  const recursive = parameter(command, "recurse");
  if (recursive !== undefined)
    return danger("windows.delete", "deletes a folder with everything in it", recursive);
  const registry = command.args.find(({ text }) => /^(?:hk(?:lm|cu|cr|u)|env|cert|registry):/i.test(text));
  if (registry !== undefined) return danger("windows.registry", "deletes settings of Windows", registry);
  const wild = command.args.find(({ text }) => /[*?]/.test(text));
  if (wild !== undefined) return danger("windows.delete", "deletes every file that matches", wild);
  return command.input.kind === "commands"
    ? danger("windows.delete", "deletes whatever is piped to it", command.name)
    : undefined;
});

const setItem: Rule = (command) => {
  const word = command.args.find(({ text }) =>
    /\\(?:run(?:once)?|winlogon|services|policies|windows defender|image file execution options)(?:\\|$)|^hklm:/i.test(
      text,
    ),
  );
  return word === undefined
    ? undefined
    : danger("windows.registry", "changes how Windows starts or protects itself", word);
};

const expression: Rule = (command) => danger("windows.expression", "runs text as code", command.name);

const startProcess: Rule = (command) => {
  const word = command.args.find(({ text }) => /^runas$/i.test(text));
  return word === undefined ? undefined : danger("windows.elevate", "asks for full rights", word);
};

/** Cmdlets that a person should see first. */
export const POWERSHELL: Readonly<Record<string, Rule>> = {
  ...forPrograms(["remove-item", "remove-itemproperty"], removeItem),
  ...forPrograms(["clear-content", "clear-item", "clear-recyclebin"], always("empties a file or folder")),
  ...forPrograms(
    [
      "format-volume",
      "clear-disk",
      "initialize-disk",
      "remove-partition",
      "reset-physicaldisk",
      "set-disk",
      "remove-volume",
    ],
    always("erases or reformats a disk"),
  ),
  ...forPrograms(["stop-computer", "restart-computer"], hardline("stops the machine")),
  ...forPrograms(
    ["stop-process", "spps"],
    unlessPretending((command) =>
      (parameter(command, "force") ?? parameter(command, "name")) === undefined &&
      command.input.kind !== "commands"
        ? undefined
        : danger("windows.kill", "ends processes by force", command.name),
    ),
  ),
  ...forPrograms(
    [
      "stop-service",
      "restart-service",
      "remove-service",
      "set-service",
      "suspend-service",
      "new-service",
      "spsv",
    ],
    always("stops or changes a service"),
  ),
  ...forPrograms(["set-executionpolicy"], (command) =>
    command.args.some(({ text }) => /^(?:bypass|unrestricted)$/i.test(text)) || command.args.length > 0
      ? danger("windows.policy", "switches off checks on scripts", command.name)
      : undefined,
  ),
  ...forPrograms(["invoke-expression"], expression),
  ...forPrograms(
    [
      "set-mppreference",
      "add-mppreference",
      "disable-windowsoptionalfeature",
      "uninstall-windowsfeature",
      "remove-windowsfeature",
      "set-netfirewallprofile",
      "new-netfirewallrule",
      "remove-netfirewallrule",
      "disable-netfirewallrule",
      "disable-netadapter",
    ],
    always("weakens the protection of the machine"),
  ),
  ...forPrograms(
    [
      "new-localuser",
      "remove-localuser",
      "disable-localuser",
      "set-localuser",
      "add-localgroupmember",
      "remove-localgroupmember",
      "new-aduser",
      "remove-aduser",
      "set-adaccountpassword",
      "add-adgroupmember",
    ],
    always("changes accounts of the machine"),
  ),
  ...forPrograms(
    [
      "register-scheduledtask",
      "unregister-scheduledtask",
      "new-scheduledtask",
      "set-scheduledtask",
      "disable-scheduledtask",
      "register-scheduledjob",
      "register-wmievent",
      "set-wmiinstance",
    ],
    always("changes tasks that run by themselves"),
  ),
  ...forPrograms(["set-itemproperty", "new-itemproperty", "new-item", "set-item"], setItem),
  ...forPrograms(
    ["clear-eventlog", "remove-eventlog", "limit-eventlog", "clear-history"],
    always("clears logs"),
  ),
  ...forPrograms(
    [
      "uninstall-package",
      "uninstall-module",
      "remove-appxpackage",
      "remove-appxprovisionedpackage",
      "uninstall-script",
    ],
    always("removes installed software"),
  ),
  ...forPrograms(
    [
      "set-acl",
      "disable-computerrestore",
      "remove-computer",
      "reset-computermachinepassword",
      "checkpoint-restore",
      "restore-computer",
      "remove-vm",
      "stop-vm",
      "remove-vmsnapshot",
    ],
    always("changes rights or the state of the machine"),
  ),
  ...forPrograms(
    [
      "remove-azresourcegroup",
      "remove-azvm",
      "stop-azvm",
      "remove-azstorageaccount",
      "remove-s3object",
      "remove-ec2instance",
    ],
    always("deletes something in the cloud"),
  ),
  ...forPrograms(["start-process"], startProcess),
  ...forPrograms(["convertfrom-securestring", "get-credential-plain"], always("shows a stored password")),
  ...forPrograms(["invoke-command", "icm", "enter-pssession"], (command) =>
    parameter(command, "computername") === undefined
      ? undefined
      : danger("windows.remote", "runs commands on another machine", command.name),
  ),
};
