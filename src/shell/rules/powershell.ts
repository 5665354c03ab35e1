import { type Condition, subject } from "./row.js";

/** `-WhatIf` only tells what would happen. */
const PRETENDS = /^-(?:whatif|wi|what\w*)$/i;

/** A parameter may be cut short as long as it stays clear: `-Rec` is `-Recurse`. */
const parameter =
  (name: string): Condition =>
  ({ args }) =>
    args.find(({ text }) => {
      const given = /^-([a-z]+)(?::.*)?$/i.exec(text)?.[1]?.toLowerCase();
      return given !== undefined && name.startsWith(given) && !/:\$?false$/i.test(text);
    });

const isPiped: Condition = ({ command }) => command.input.kind === "commands";
/** The cmdlet itself is what decides when one of these holds; without any it always does. */
const cmdlet =
  (...conditions: readonly Condition[]): Condition =>
  (call) =>
    conditions.length === 0 || conditions.some((condition) => condition(call))
      ? call.command.name
      : undefined;

/** Cmdlets of PowerShell that a person should see first. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("windows", [
  { program: "remove-item|remove-itemproperty", dry: "", unless: PRETENDS, rows: [
    { when: parameter("recurse"), rule: "windows.delete", reason: "deletes a folder with everything in it",
      match: ["Remove-Item -Path C:/x -Recurse"], not_match: ["Remove-Item file.txt"] },
    { word: /^(?:hk(?:lm|cu|cr|u)|env|cert|registry):/i, rule: "windows.registry",
      reason: "deletes settings of Windows", match: ["remove-item hklm:"],
      not_match: ["Remove-Item -Recurse build -WhatIf"] },
    { word: /[*?]/, rule: "windows.delete", reason: "deletes every file that matches",
      match: ["remove-item '*'"], not_match: ["Remove-Item file.txt"] },
    { when: cmdlet(isPiped), rule: "windows.delete", reason: "deletes whatever is piped to it",
      match: ["ls | remove-item"], not_match: ["Remove-Item -Recurse build -WhatIf"] },
  ] },
  { program: "stop-process|spps", dry: "", unless: PRETENDS,
    when: cmdlet(parameter("force"), parameter("name"), isPiped), rule: "windows.kill",
    reason: "ends processes by force", match: ["Stop-Process -Name node -Force"] },
  { program: "clear-content|clear-item|clear-recyclebin", dry: "", unless: PRETENDS,
    reason: "empties a file or folder", match: ["Clear-Content log.txt"] },
  { program: "format-volume|clear-disk|initialize-disk|remove-partition|reset-physicaldisk|set-disk|remove-volume",
    dry: "", unless: PRETENDS, reason: "erases or reformats a disk", match: ["Clear-Disk -Number 1"] },
  { program: "stop-computer|restart-computer", dry: "", unless: PRETENDS, level: "hardline",
    reason: "stops the machine", match: ["Stop-Computer"] },
  { program: "stop-service|restart-service|remove-service|set-service|suspend-service|new-service|spsv",
    dry: "", unless: PRETENDS, reason: "stops or changes a service", match: ["Stop-Service -Name spooler"] },
  { program: "set-mppreference|add-mppreference|disable-windowsoptionalfeature|uninstall-windowsfeature|remove-windowsfeature|set-netfirewallprofile|new-netfirewallrule|remove-netfirewallrule|disable-netfirewallrule|disable-netadapter",
    dry: "", unless: PRETENDS, reason: "weakens the protection of the machine",
    match: ["Set-MpPreference -DisableRealtimeMonitoring x"] },
  { program: "new-localuser|remove-localuser|disable-localuser|set-localuser|add-localgroupmember|remove-localgroupmember|new-aduser|remove-aduser|set-adaccountpassword|add-adgroupmember",
    dry: "", unless: PRETENDS, reason: "changes accounts of the machine", match: ["new-localuser"] },
  { program: "register-scheduledtask|unregister-scheduledtask|new-scheduledtask|set-scheduledtask|disable-scheduledtask|register-scheduledjob|register-wmievent|set-wmiinstance",
    dry: "", unless: PRETENDS, reason: "changes tasks that run by themselves",
    match: ["register-scheduledtask"] },
  { program: "clear-eventlog|remove-eventlog|limit-eventlog|clear-history", dry: "", unless: PRETENDS,
    reason: "clears logs", match: ["Clear-EventLog -LogName Security"] },
  { program: "uninstall-package|uninstall-module|remove-appxpackage|remove-appxprovisionedpackage|uninstall-script",
    dry: "", unless: PRETENDS, reason: "removes installed software", match: ["uninstall-package"] },
  { program: "set-acl|disable-computerrestore|remove-computer|reset-computermachinepassword|checkpoint-restore|restore-computer|remove-vm|stop-vm|remove-vmsnapshot",
    dry: "", unless: PRETENDS, reason: "changes rights or the state of the machine", match: ["set-acl"] },
  { program: "remove-azresourcegroup|remove-azvm|stop-azvm|remove-azstorageaccount|remove-s3object|remove-ec2instance",
    dry: "", unless: PRETENDS, reason: "deletes something in the cloud", match: ["remove-azresourcegroup"] },
  { program: "convertfrom-securestring|get-credential-plain", dry: "", unless: PRETENDS,
    reason: "shows a stored password", match: ["convertfrom-securestring"] },
  { program: "set-itemproperty|new-itemproperty|new-item|set-item", dry: "",
    word: /\\(?:run(?:once)?|winlogon|services|policies|windows defender|image file execution options)(?:\\|$)|^hklm:/i,
    rule: "windows.registry", reason: "changes how Windows starts or protects itself",
    match: ["set-itemproperty '\\run\\'"] },
  { program: "set-executionpolicy", dry: "", word: /./, rule: "windows.policy",
    reason: "switches off checks on scripts", match: ["Set-ExecutionPolicy Unrestricted"] },
  { program: "invoke-expression", dry: "", rule: "windows.expression", reason: "runs text as code",
    match: ["Invoke-Expression x"] },
  { program: "start-process", dry: "", word: /^runas$/i, rule: "windows.elevate",
    reason: "asks for full rights", match: ["start-process runas"] },
  { program: "invoke-command|icm|enter-pssession", dry: "", when: cmdlet(parameter("computername")),
    rule: "windows.remote", reason: "runs commands on another machine",
    match: ["invoke-command -ComputerName web1 ls"] },
]);
