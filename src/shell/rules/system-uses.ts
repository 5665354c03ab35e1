import type { ShellWord } from "../types.js";
import { type Condition, subject } from "./row.js";
import { STARTED_FOLDER } from "./windows-uses.js";
import { writesOf } from "./writes.js";

const CHANGES = "may change how this machine starts, protects itself or lets others in";
const LISTENS = "lets everybody on the network in without a password";

/** The first word is not among those that only look; without words most of these print how they are used. */
const beyond =
  (looks: RegExp): Condition =>
  ({ args: [first] }) =>
    first === undefined || (first.known && looks.test(first.text)) ? undefined : first;

/** The same where options without a meaning of their own stand in front. */
const verbBeyond =
  (looks: RegExp): Condition =>
  ({ operands: [verb] }) =>
    verb === undefined || (verb.known && looks.test(verb.text)) ? undefined : verb;

/** AppleScript that shows something to the person or asks a program for something. */
const SHOWS_SCRIPT =
  /^(?:(?:display (?:notification|dialog|alert)|say|beep|delay|return|log|get|count|choose|(?:POSIX )?path (?:of|to)|system info|name of|version of|id of|set volume|output volume|input volume|current date|the clipboard)\b|(?:set|copy) \w+ to\b(?!.*\b(?:make|do|run|open)\b)|(?:try|end|else|if|repeat|on error|considering|ignoring|using terms|activate|exists|\d|--|"[^"]*"$)|(?:tell (?:app(?:lication)?|process|window|front|first|current|every)\b(?:(?!\bto\b).)*$)|tell app(?:lication)? "[^"]*" to (?:get|count|activate|display|return|name|version|id|exists|path|if|the|set volume)\b)/i;
const scripts: Condition = ({ args }) => {
  if (args.some(({ text }, index) => /^-l/.test(args[index - 1]?.text ?? "") && /javascript|jxa/i.test(text)))
    return args.find((_, index) => /^-e$/.test(args[index - 1]?.text ?? ""));
  return args.find(
    (word, index) =>
      args[index - 1]?.text === "-e" &&
      word.text.split("\n").some((line) => line.trim() !== "" && !SHOWS_SCRIPT.test(line.trim())),
  );
};

const startsWithWindows: Condition = ({ command }) => {
  const { args, redirects, program } = command;
  if (![...args, ...redirects.map(({ target }) => target)].some(({ text }) => STARTED_FOLDER.test(text)))
    return undefined;
  return (
    writesOf(command).find(({ word }) => STARTED_FOLDER.test(word.text))?.word ??
    (/^(?:cp|mv|install|ln|rsync|copy|xcopy|robocopy|tee|curl|wget)$/.test(program)
      ? args.find(({ text }) => STARTED_FOLDER.test(text))
      : undefined)
  );
};

const TCC = /com\.apple\.TCC\/TCC\.db|\/Library\/Application Support\/com\.apple\.TCC|kTCCService/;

const UNGUARDED =
  /^--?(?:[\w-]*no-?_?auth\w*|without-(?:authentication|connection-token)|disable-(?:auth\w*|security|password|login)|no-(?:password|security|login|token)|allow-anonymous|anonymous|guest-ok|insecure-no-auth|auth(?:entication)?=(?:none|off|false|no|disabled)|auth-mode=none|\w*\.?(?:token|password)=(?:''|""|)|security\.enabled=false|protected-mode=no|unsafe-no-auth)$|^(?:-E|-e|--set|-D)?\s*(?:xpack\.security\.enabled=false|auth\.enabled=false|security\.disable=true)$/i;
const UNGUARDED_PAIR =
  /^--?(?:auth|authentication|auth-mode|auth-type|security|protected-mode|require-auth|password-auth) (?:none|off|false|no|disabled|anonymous|trust)$/i;
const EVERYWHERE = /^(?:--?[\w.-]*(?:=|$))?(?:0\.0\.0\.0|\[?::\]?|\*)(?::\d+)?$/;

/** `--auth none --bind 0.0.0.0`: neither alone says much, together everybody may come in. */
const letsEverybodyIn: Condition = ({ args }) =>
  args.some(opensEverywhere)
    ? args.find(
        ({ text }, index) =>
          UNGUARDED.test(text) || UNGUARDED_PAIR.test(`${args[index - 1]?.text ?? ""} ${text}`),
      )
    : undefined;
const opensEverywhere = ({ text }: ShellWord, index: number, args: readonly ShellWord[]): boolean =>
  EVERYWHERE.test(text) &&
  (/=/.test(text) ||
    /^--?(?:[\w-]*(?:bind|host|listen|address|addr|ip|interface)[\w-]*|H|b|l|i|a)$/.test(
      args[index - 1]?.text ?? "",
    ));

/** Settings of macOS, Windows and Linux: what only looks is listed, the rest is asked about. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("unlisted", [
  { reason: CHANGES, dry: "", tools: [
    { program: "fdesetup", when: beyond(/^(?:status|list|isactive|supports\w*|has\w*|using\w*|version|showdeferralinfo|help)$/), match: ["fdesetup disable", "sudo fdesetup enable"], not_match: ["fdesetup status"] },
    { program: "csrutil", rule: "system.guard", when: ({ operands }) => operands.some(({ text }) => /^(?:status|report)$/.test(text)) ? undefined : operands[0], match: ["csrutil disable", "csrutil enable --without fs"], not_match: ["csrutil status", "csrutil authenticated-root status"] },
    { program: "spctl", rule: "system.guard", when: beyond(/^(?:--(?:status|assess|verbose|test-devid-status|list)|-a\w*|-v+)$/), match: ["spctl --master-disable", "spctl kext-consent2 x"], not_match: ["spctl --status", "spctl -a -v x.app"] },
    { program: "kickstart|dsenableroot|automator", unless: /^-?-h(?:elp)?$/, match: ["dsenableroot -u me", "/System/Library/CoreServices/RemoteManagement/ARDAgent.app/Contents/Resources/kickstart -activate -configure -access -on"] },
    { program: "profiles", when: beyond(/^(?:list|show|status|validate|help|version|-[PLHCv]+|sync)$/), match: ["profiles install -path x.mobileconfig", "profiles remove -all"], not_match: ["profiles status -type enrollment"] },
    { program: "systemsetup", when: beyond(/^-(?:get|list|print|version|help)/i), match: ["systemsetup -f -setremotelogin on"], not_match: ["systemsetup -getremotelogin"] },
    { program: "networksetup", when: beyond(/^-(?:get|list|show|is|version|print|help)/i), match: ["networksetup -ordernetworkservices a b"], not_match: ["networksetup -listallnetworkservices"] },
    { program: "scutil", when: ({ args: [first, second] }) => first === undefined || /^(?:--(?:get|dns|proxy|nwi|help)|-[rwvpd]\w*|show|list)$/.test(first.text) || (first.text === "--nc" && /^(?:list|status|show|stats)$/.test(second?.text ?? "")) ? undefined : first, match: ["scutil --nc start x", "scutil --renew en0"], not_match: ["scutil --dns", "scutil --nc list"] },
    { program: "launchctl", when: verbBeyond(/^(?:list|print(?:-\w+)?|blame|dumpstate|getenv|manager\w+|procinfo|hostinfo|resolveport|version|help|error|variant|asuser|start|kickstart|dumpjpcategory|examine)$/), match: ["launchctl config user path /tmp/x", "launchctl attach x"], not_match: ["launchctl print gui/501", "launchctl kickstart gui/501/x"] },
    { program: "dscl", when: ({ args }) => args.some(({ text }) => /^-?(?:read|readall|list|search|diff|help|authonly|pwd|ls|cd|cat)$/i.test(text)) || args.length < 2 ? undefined : args.find(({ text }) => /^-\w{4,}/.test(text)), match: ["dscl . -createpl /Users/x a 0 b", "dscl . -mcxset /Users/x a b"], not_match: ["dscl . -read /Users/me UserShell", "dscl . list /Users"] },
    { program: "sysadminctl", when: beyond(/^-(?:secureTokenStatus|adminInfo|help)/i), match: ["sysadminctl -screenLock off -password x", "sysadminctl -automaticTime off"], not_match: ["sysadminctl -secureTokenStatus me"] },
    { program: "pwpolicy", when: ({ args }) => args.find(({ text }) => /^-?(?:set|clear|enable|disable|delete)/i.test(text)), match: ["pwpolicy -clearaccountpolicies"], not_match: ["pwpolicy -getaccountpolicies"] },
    { program: "dsconfigad|dsconfigldap", when: beyond(/^-(?:show|help|h)$/), match: ["dsconfigad -add x.example -u a -p b"], not_match: ["dsconfigad -show"] },
    { program: "softwareupdate", when: ({ args }) => args.find(({ text }) => /^(?:-[a-z]*[iru][a-z]*|--(?:install|ignore|schedule|reset-ignored|install-rosetta|set-catalog|clear-catalog|background\S*))$/.test(text)), match: ["softwareupdate --ignore x", "softwareupdate --schedule off"], not_match: ["softwareupdate --list", "softwareupdate -l"] },
    { program: "systemextensionsctl|kmutil|bputil|mdmclient|firmwarepasswd|eslogger|AssetCacheManagerUtil|assetcachemanagerutil", when: beyond(/^(?:list|gc|inspect|showloaded|log|find|libraries|check|-[dg]|--display-\w+|-check|-mode|query\w*|help|status|issettable)$/i), match: ["systemextensionsctl uninstall - x", "firmwarepasswd -delete", "kmutil load -p x"], not_match: ["systemextensionsctl list", "kmutil showloaded"] },
    { program: "socketfilterfw", when: beyond(/^--?(?:get|list|help|h$)/i), match: ["/usr/libexec/ApplicationFirewall/socketfilterfw --setglobalstate off"], not_match: ["/usr/libexec/ApplicationFirewall/socketfilterfw --getglobalstate"] },
    { program: "mdutil", when: ({ args }) => args.find(({ text }) => /^-[a-zA-Z]*[iEXdP]/.test(text)), match: ["mdutil -a -i off"], not_match: ["mdutil -s /"] },
    { program: "xattr", word: /^com\.apple\.quarantine$/, when: (call) => call.find(/^-[a-z]*[dcw]/), rule: "system.guard", reason: "takes the mark off that makes macOS check a program from elsewhere", match: ["xattr -dr com.apple.quarantine X.app"], not_match: ["xattr -p com.apple.quarantine X.app"] },
    { program: "shortcuts", when: beyond(/^(?:list|view|help)$/), match: ["shortcuts run x"], not_match: ["shortcuts list"] },
    { program: "osascript", when: scripts, rule: "desktop.script", reason: "lets a script act on the programs or settings of this person",
      match: ["osascript -e 'tell application \"System Events\" to make login item at end with properties {path:\"/x\", hidden:true}'", "osascript -e 'tell application \"Terminal\" to do script \"x\"'", "osascript -l JavaScript -e 'Application(\"Mail\").send()'"],
      not_match: ["osascript -e 'display notification \"done\" with title \"build\"'", "osascript -e 'tell application \"Finder\" to get name'", "osascript -e 'set volume output volume 30'", "osascript -e 'tell application \"iTerm\" to activate'", "osascript -e 'version of app \"Safari\"'"] },
    { program: "update-crypto-policies|fips-mode-setup|fips-finish-install", when: beyond(/^--?(?:show|check|is-applied|is-enabled|help|h)$/), match: ["update-crypto-policies --set LEGACY", "fips-mode-setup --disable"], not_match: ["update-crypto-policies --show", "fips-mode-setup --check"] },
    { program: "systemd-cryptenroll|systemd-creds|homectl|userdbctl|portablectl|systemd-sysext|bootupd|ostree-admin|snapperd", when: verbBeyond(/^(?:list|show|inspect|status|cat|get|user|group|users-in-group|groups-of-user|services|has-tpm2|\/dev\/\S+)$/), match: ["homectl create x", "systemd-sysext merge"], not_match: ["homectl list", "userdbctl user me"] },
    { program: "systemd-cryptenroll", word: /^--(?:wipe-slot|tpm2|fido2|pkcs11|password|recovery)/, match: ["systemd-cryptenroll --wipe-slot=all /dev/sda2"], not_match: ["systemd-cryptenroll /dev/sda2"] },
    { program: "grdctl|gnome-remote-desktop|krfb-virtualmonitor|waypipe-server|gnome-extensions-install|mokutil-sb", when: verbBeyond(/^(?:status|help|--headless|--system)$/), match: ["grdctl rdp enable", "grdctl vnc set-auth-method password"], not_match: ["grdctl status"] },
    { program: "upnpc|natpmpc|miniupnpc|upnp-portmapper|portmapper", when: (call) => call.find(/^-[a-zA-Z]*[arRnNdD]$|^(?:add|map|open|forward)$/), rule: "remote-access.tunnel", reason: "opens a port of the router to this machine", match: ["upnpc -a 192.168.1.5 22 2222 TCP", "upnpc -e x -r 80 tcp", "natpmpc -a 80 80 tcp 3600"], not_match: ["upnpc -l", "upnpc -s"] },
    { program: "wsl", when: beyond(/^(?:-l|--list|--status|-v|--version|--help|-e|--exec|--|-d|--distribution|-u|--user|--cd|[^-].*|~)$/), match: ["wsl --unregister Ubuntu", "wsl.exe --shutdown"], not_match: ["wsl -l -v"] },
    { program: "setx|powercfg|manage-bde|gpupdate|auditpol|secedit|sdbinst|pnputil|driverquery-set|w32tm|bcdboot|reagentc|odbcconf|installutil|regasm|regsvcs|msbuild-inline|cmstp|control|assoc|ftype|mklink-system|sfc|chkdsk|defrag|mountvol|label|convert|subst|winrm|winrs|psexec|psexec64|wusa|slmgr|usoclient|dsquery-mod|djoin|ksetup|nltest|certreq|at|tsdiscon|logoff|rwinsta|mstsc|quser-set",
      when: ({ args, command }) => command.name.text.toLowerCase().endsWith(".exe") ? args.find((_, index) => index === 0 && !/^(?:\/|-)?(?:\?|help|h|status|list|l|get|query|q|a|export|batteryreport|analyze|scannow|verifyonly|getactivescheme|devicequery|energy|enum\w*|stripchart|monitor|resultantset|id|identify|info)$/i.test(args[0]?.text ?? "")) : undefined,
      match: ["setx.exe PATH 'C:\\x'", "manage-bde.exe -off C:", "powercfg.exe /setactive x"], not_match: ["powercfg.exe /list", "manage-bde.exe -status"] },
    { program: "reg", when: verbBeyond(/^(?:query|compare|export|flags|\/\?)$/i), rule: "windows.registry", match: ["reg.exe add 'HKCU\\Software\\X' /v a /d b /f"], not_match: ["reg.exe query HKCU"] },
    { program: "schtasks", when: beyond(/^\/(?:query|showsid|\?)/i), match: ["schtasks.exe /run /tn x"], not_match: ["schtasks.exe /query /fo LIST"] },
    { program: "wmic", when: (call) => call.args.length === 0 || call.find(/^(?:get|list|\/\?|\/output:.*)$/i) !== undefined && call.find(/^(?:call|create|set|delete)$/i) === undefined ? undefined : call.args[0], match: ["wmic.exe process create x"], not_match: ["wmic.exe os get caption", "wmic.exe cpu list brief"] },
  ] },
  { program: "*", when: startsWithWindows, rule: "persistence.autostart", reason: "makes a program start by itself whenever somebody logs in",
    match: ["cp x.bat \"/mnt/c/Users/$U/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/u.bat\""], not_match: ["ls '/mnt/c/Users/me/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup'"] },
  { program: "*", when: ({ args, command: { program } }) => /^(?:ls|stat|grep|rg|find|echo|file|cat|sed|awk|git)$/.test(program) ? undefined : args.find(({ text }) => text.includes("TCC") && TCC.test(text)), rule: "system.guard", reason: "reaches into what macOS remembers about the rights of programs",
    match: ["sudo sqlite3 '/Library/Application Support/com.apple.TCC/TCC.db' 'select 1'"], not_match: ["ls '/Library/Application Support/com.apple.TCC'"] },
  { program: "*", when: letsEverybodyIn, rule: "remote-access.open", reason: LISTENS,
    match: ["code-server --bind-addr 0.0.0.0:8443 --auth none", "anything serve --host=0.0.0.0 --no-auth", "filebrowser -a 0.0.0.0 --noauth"],
    not_match: ["code-server --bind-addr 127.0.0.1:8443 --auth none", "vite --host 0.0.0.0", "grep -rn -- --no-auth docs"] },
]);
