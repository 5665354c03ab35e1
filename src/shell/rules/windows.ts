import { Buffer } from "node:buffer";
import type { Finding, Rule, RuleSet, ShellWord, SimpleCommand } from "../types.js";
import { POWERSHELL } from "./powershell.js";
import { danger, forPrograms } from "./verb-table.js";
import { windowsCommands } from "./windows-text.js";

const DELETES = "deletes a folder with everything in it";
const DISK = "erases or reformats a disk";

/** Texts inside texts (`cmd /c powershell -c "…"`) are opened this many times. */
const DEEPEST = 6;

const option = (command: SimpleCommand, pattern: RegExp): ShellWord | undefined =>
  command.args.find(({ text }) => pattern.test(text));

const deletes: Rule = (command) => {
  const recursive =
    option(command, /^(?:\/s|-r(?:e(?:c(?:u(?:r(?:s(?:e)?)?)?)?)?)?)$/i) ??
    option(command, /^\/[a-z/]*\/?s(?:\/|$)/i);
  if (recursive !== undefined) return danger("windows.delete", DELETES, recursive);
  const quiet = option(command, /^\/[qf]$/i);
  const wild = option(command, /[*?]/);
  return quiet !== undefined && wild !== undefined
    ? danger("windows.delete", "deletes files without asking", wild)
    : undefined;
};

const format: Rule = (command) => {
  const drive = option(command, /^[a-z]:\\?$/i) ?? option(command, /^\\\\[.?]\\/);
  return drive === undefined ? undefined : danger("windows.format", DISK, drive);
};

const when =
  (pattern: RegExp, reason: string): Rule =>
  (command) => {
    const word = option(command, pattern);
    return word === undefined ? undefined : danger(`windows.${command.program}`, reason, word);
  };

const always =
  (reason: string): Rule =>
  (command) =>
    option(command, /^(?:\/\?|-\?|--help)$/) === undefined
      ? danger(`windows.${command.program}`, reason)
      : undefined;

/** A shell of Unix takes the backslashes of an unquoted key away. */
const UNQUOTED_STARTUP = /^hk\w+(?:currentversionrun(?:once)?|winlogon|fileexecutionoptions\w*)$/i;

const reg: Rule = (command) => {
  const [verb, key] = command.args;
  if (verb === undefined) return undefined;
  if (/^(?:delete|import|restore|load|unload)$/i.test(verb.text))
    return danger("windows.registry", "changes or deletes settings of Windows", verb);
  const startup =
    /\\(?:run(?:once)?|winlogon|image file execution options|services|policies|shell\\open|environment|windows defender|lsa|appinit_dlls|terminal server)(?:\\|$)/i;
  if (
    /^(?:add|copy)$/i.test(verb.text) &&
    key !== undefined &&
    (startup.test(key.text) ||
      UNQUOTED_STARTUP.test(key.text) ||
      /^hk(?:lm|ey_local_machine)/i.test(key.text))
  )
    return danger("windows.registry", "changes how Windows starts or protects itself", key);
  return /^save$/i.test(verb.text) && key !== undefined && /\\(?:sam|system|security)$/i.test(key.text)
    ? danger("windows.registry", "copies stored passwords", key)
    : undefined;
};

const net: Rule = (command) => {
  const [verb, first, second] = command.args;
  const topic = verb?.text.toLowerCase() ?? "";
  if (/^(?:stop|pause)$/.test(topic) && first !== undefined)
    return danger("windows.service", "stops a service", verb);
  if (
    /^(?:user|localgroup|group|accounts)$/.test(topic) &&
    (second !== undefined || option(command, /^\/(?:add|delete|active)/i) !== undefined)
  )
    return danger("windows.account", "changes accounts of the machine", verb);
  if (topic === "share" && option(command, /=|\/delete/i) !== undefined)
    return danger("windows.share", "changes what the machine shares", verb);
  return undefined;
};

const sc: Rule = (command) => {
  const verb = command.args.find(({ text }) => !text.startsWith("\\\\"));
  return /^(?:delete|stop|config|create|failure|sdset|pause)$/i.test(verb?.text ?? "")
    ? danger("windows.service", "stops, removes or changes a service", verb)
    : undefined;
};

const certutil = when(
  /^[-/](?:urlcache|verifyctl|decode|decodehex|addstore|delstore|importpfx)$/i,
  "fetches, decodes or trusts something unusual",
);

/** `cmd /c …`: what follows is a text of its own. */
const cmd = (command: SimpleCommand, depth: number): Finding | undefined => {
  const at = command.args.findIndex(({ text }) => /^\/[ckr]/i.test(text));
  if (at < 0) return undefined;
  const attached = command.args[at]?.text.slice(2) ?? "";
  return judgeText([attached, ...command.args.slice(at + 1).map(({ text }) => text)].join(" "), depth);
};

const powershell = (command: SimpleCommand, depth: number): Finding | undefined => {
  for (const [index, { text }] of command.args.entries()) {
    if (/^[-/]e(?:c|nc?|nco\w*)?$/i.test(text) || /^[-/]encodedcommand$/i.test(text)) {
      const decoded = Buffer.from(command.args[index + 1]?.text ?? "", "base64").toString("utf16le");
      return (
        judgeText(decoded, depth) ??
        danger(
          "windows.encoded",
          "runs a command that is encoded so that nobody can read it",
          command.args[index + 1],
        )
      );
    }
    if (/^[-/](?:c|com\w*)$/i.test(text))
      return judgeText(joined(command.args.slice(index + 1)), depth) ?? executionPolicy(command);
    if (
      /^[-/](?:executionpolicy|ep|ex\w*|file|f|version|windowstyle|w|configurationname|inputformat|outputformat|psconsolefile|workingdirectory|wd)$/i.test(
        text,
      )
    )
      continue;
  }
  const bare = command.args.findIndex(
    ({ text }, index) =>
      !/^[-/]/.test(text) &&
      !/^[-/](?:executionpolicy|ep|ex\w*|file|f|version|windowstyle|w)$/i.test(
        command.args[index - 1]?.text ?? "",
      ),
  );
  const text =
    bare < 0
      ? ""
      : command.args
          .slice(bare)
          .map((word) => word.text)
          .join(" ");
  const stdin = command.input.kind === "text" ? command.input.text.text : "";
  return judgeText(text, depth) ?? judgeText(stdin, depth);
};

/** Running a named script with the checks off is common; only together with a hidden window it is a disguise. */
function executionPolicy(command: SimpleCommand): Finding | undefined {
  const hidden = option(command, /^hidden$/i);
  return hidden !== undefined && option(command, /^bypass$/i) !== undefined
    ? danger("windows.hidden", "runs PowerShell hidden and unchecked", hidden)
    : undefined;
}

const joined = (words: readonly ShellWord[]): string => words.map(({ text }) => text).join(" ");

function judgeText(text: string, depth: number): Finding | undefined {
  if (text.trim() === "") return undefined;
  if (depth > DEEPEST) return danger("windows.too-deep", "is nested too deeply to be judged");
  const commands = windowsCommands(text);
  if (commands === undefined) return danger("windows.too-long", "is too long to be judged");
  let found: Finding | undefined;
  for (const command of commands) {
    const finding = judgeInside(command, depth) ?? inlineDownload(text);
    if (finding?.level === "hardline") return finding;
    found ??= finding;
  }
  return found;
}

function judgeInside(command: SimpleCommand, depth: number): Finding | undefined {
  const { program } = command;
  if (program === "cmd") return cmd(command, depth + 1);
  if (program === "powershell" || program === "pwsh") return powershell(command, depth + 1);
  if (Object.hasOwn(PROGRAMS, program)) return PROGRAMS[program]?.(command);
  return Object.hasOwn(INSIDE_ONLY, program) ? INSIDE_ONLY[program]?.(command) : undefined;
}

/** `IEX (New-Object Net.WebClient).DownloadString('…')` and its spellings. */
function inlineDownload(text: string): Finding | undefined {
  if (
    /\.download(?:string|data)\s*\(/i.test(text) &&
    /\b(?:iex|invoke-expression|scriptblock)\b|\.invoke\(/i.test(text)
  )
    return danger("windows.remote-code", "runs code that is fetched from the network");
  return /\.downloadfile\s*\(/i.test(text) && /start-process|\biex\b|&\s/i.test(text)
    ? danger("windows.remote-code", "fetches a program and runs it")
    : undefined;
}

const shutdown: Rule = (command) => {
  if (option(command, /^[-/]a$/i) !== undefined) return undefined;
  const word = option(command, /^[-/][srhpg]$/i);
  return word === undefined
    ? undefined
    : { level: "hardline", rule: "windows.shutdown", reason: "stops the machine", span: word.span };
};

const PROGRAMS: Readonly<Record<string, Rule>> = {
  ...forPrograms(["del", "erase", "rd"], deletes),
  rmdir: when(/^\/s$/i, DELETES),
  deltree: always(DELETES),
  "format.com": format,
  format,
  diskpart: always(DISK),
  cipher: when(/^\/w/i, "wipes free space of a disk"),
  fsutil: when(/^(?:setzerodata|deletejournal|dirty)$/i, "changes the file system itself"),
  reg,
  regedit: when(/^\/s$/i, "changes settings of Windows without asking"),
  sc,
  net,
  net1: net,
  taskkill: when(/^\/(?:f|im|fi)$/i, "ends processes by force"),
  tskill: always("ends processes by force"),
  bcdedit: when(
    /^\/(?:set|delete|deletevalue|import|create|default|bootsequence)/i,
    "changes how the machine starts",
  ),
  bootrec: always("changes how the machine starts"),
  vssadmin: when(/^(?:delete|resize)$/i, "deletes backups of the machine"),
  wbadmin: when(/^(?:delete|disable)$/i, "deletes backups of the machine"),
  wevtutil: when(/^(?:cl|clear-log|sl|set-log)$/i, "clears event logs"),
  wmic: when(/^(?:delete|call|terminate|shadowcopy|uninstall)$/i, "changes or ends things on the machine"),
  schtasks: when(/^\/(?:create|delete|change|end)$/i, "changes tasks that run by themselves"),
  icacls: when(
    /^(?:\/grant.*|\/reset|\/setowner|\/inheritance.*|(?:everyone|users|\*s-1-1-0):.*)$/i,
    "changes who may use files",
  ),
  cacls: when(/^\/[gep]$/i, "changes who may use files"),
  takeown: always("takes files over"),
  attrib: when(/^[-+][rsh]$/i, "hides or unprotects files"),
  netsh: when(/^(?:delete|add|set|reset|off)$/i, "changes the network or firewall"),
  certutil,
  bitsadmin: when(/^\/(?:transfer|addfile|create|setnotifycmdline)$/i, "fetches files in the background"),
  mshta: always("runs a script from elsewhere"),
  rundll32: always("runs code out of a library"),
  regsvr32: always("registers a library to run"),
  ...forPrograms(["cscript", "wscript"], when(/^(?:https?:|\\\\)/i, "runs a script from elsewhere")),
  msiexec: when(/^[-/](?:x.*|uninstall|i)$/i, "installs or removes software"),
  dism: when(/^\/(?:remove-.*|disable-feature.*|apply-image)/i, "changes the Windows installation"),
  robocopy: when(/^\/(?:mir|purge|move|mov)$/i, "deletes what the source does not have"),
  ...POWERSHELL,
};

/** Names that mean something else outside Windows shells. */
const INSIDE_ONLY: Readonly<Record<string, Rule>> = {
  shutdown,
  rm: deletes,
  ri: deletes,
  kill: when(/^-(?:f|force|name|n)/i, "ends processes by force"),
  sp: when(/currentversion\\run/i, "changes what starts with Windows"),
  iex: always("runs text as code"),
  saps: when(/runas/i, "asks for full rights"),
};

export const RULES: RuleSet = {
  family: "windows",
  programs: {
    ...PROGRAMS,
    cmd: (command) => cmd(command, 0),
    ...forPrograms(["powershell", "pwsh"], (command) => powershell(command, 0)),
    shutdown: (command) => (option(command, /^\/[srhpga]$/i) === undefined ? undefined : shutdown(command)),
    iex: (command) =>
      command.args.some(({ text }) => /^(?:-|--)/.test(text)) ? undefined : pipedExpression(command),
  },
};

function pipedExpression(command: SimpleCommand): Finding | undefined {
  return command.input.kind === "commands" || command.args.length > 0
    ? danger("windows.expression", "runs text as code")
    : undefined;
}
